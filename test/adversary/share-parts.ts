import { migrations } from '../../migrations/mpc-node';
import type { NodeIndex } from '../../src/messages/nodes';
import { parseKeks } from '../../src/mpc/share-cipher';
import { ShareStore, type UnlockedKey } from '../../src/mpc/store';
import { readConfig } from '../../src/platform/config';
import { nodeEnvironment } from './nodes';

/** A node's share, opened with its own credentials. */
export async function shareOf(node: NodeIndex, keyId: string): Promise<UnlockedKey> {
  const { MPC_NODE_KEK, MPC_NODE_DATABASE_URL: url } = readConfig(
    ['MPC_NODE_KEK', 'MPC_NODE_DATABASE_URL'],
    nodeEnvironment(node),
  );
  const store = await ShareStore.open({ url, node, keks: parseKeks(MPC_NODE_KEK), migrations });
  try {
    const key = await store.unlock(keyId);
    if (!key) throw new Error(`node ${node} has no share of ${keyId}`);
    return key;
  } finally {
    await store.close();
  }
}

/** Longer than the public values in a share, which are shown elsewhere too. */
const partBytes = 96;
/** Parts that are looked for, at even distances over the share. */
const partCount = 64;

/** Whether a text shows a part of the share, as it is, in hex or in base64. */
export function showsPartOf({ share }: UnlockedKey, text: string): boolean {
  const step = Math.floor((share.length - partBytes) / (partCount - 1));
  return Array.from({ length: partCount }, (_, at) => share.subarray(at * step, at * step + partBytes)).some((part) =>
    writtenForms(part).some((form) => text.includes(form)),
  );
}

/** In base64 a part looks otherwise at each of three offsets; the characters at its edges also depend on its neighbours. */
function writtenForms(part: Buffer): string[] {
  const inBase64 = [0, 1, 2].map((offset) => part.subarray(offset).toString('base64').slice(0, 120));
  return [part.toString('latin1'), part.toString('hex'), ...inBase64, ...inBase64.map(toUrlSafe)];
}

const toUrlSafe = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_');
