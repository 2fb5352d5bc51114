import { migrations } from '../../migrations/mpc-node';
import type { KeyProtocol } from '../../src/chains/types';
import type { NodeIndex } from '../../src/messages/nodes';
import { parseKeks } from '../../src/mpc/share-cipher';
import { ShareStore, type UnlockedKey } from '../../src/mpc/store';
import { readConfig } from '../../src/platform/config';
import { decodeFrostShare } from '../frost-share';
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

/** Longer than the public values in a share of ECDSA, which are shown elsewhere too. */
const partBytes = 96;
/** Parts of it that are looked for, at even distances over the share. */
const partCount = 64;

/** What nobody else may see of a share. */
const partsOf: Record<KeyProtocol, (share: Buffer) => Uint8Array[]> = {
  'ecdsa-secp256k1': (share) => {
    const step = Math.floor((share.length - partBytes) / (partCount - 1));
    return Array.from({ length: partCount }, (_, at) => share.subarray(at * step, at * step + partBytes));
  },
  // everything else in it is public
  'frost-ed25519': (share) => [decodeFrostShare(share).secret],
};

/** Whether a text shows a part of the share, as it is, in hex or in base64. */
export const showsPartOf = ({ protocol, share }: UnlockedKey, text: string): boolean =>
  partsOf[protocol](share).some((part) => writtenForms(Buffer.from(part)).some((form) => text.includes(form)));

/** In base64 a part looks otherwise at each of three offsets; the characters at its edges also depend on its neighbours. */
function writtenForms(part: Buffer): string[] {
  const inside = 4 * Math.floor((part.length - 2) / 3);
  const inBase64 = [0, 1, 2].map((offset) => part.subarray(offset).toString('base64').slice(0, inside));
  return [part.toString('latin1'), part.toString('hex'), ...inBase64, ...inBase64.map(toUrlSafe)];
}

const toUrlSafe = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_');
