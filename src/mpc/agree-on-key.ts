import type { KeyProtocol } from '../chains/types';
import type { GroupKey } from '../messages/key-generation';
import type { NodeIndex } from '../messages/nodes';
import { GatewayError } from '../platform/errors';
import { toHex } from '../platform/hex';
import type { KeygenResult } from './protocol/engine';
import type { RoundMessages } from './protocols';
import type { Session } from './session';
import type { ShareStore } from './store';

/** A key of which this node has a share, and for whom it was generated. */
interface GeneratedKey {
  keyId: string;
  clientId: string | null;
  protocol: KeyProtocol;
  /** Wiped at the end. */
  result: KeygenResult;
}

/**
 * After the protocol all three nodes compare the public result, store their share and inform the initiator that it is durable;
 * only then does the initiator return the key.
 */
export async function agreeOnKey(
  store: Pick<ShareStore, 'put'>,
  self: NodeIndex,
  session: Session,
  { keyId, clientId, protocol, result }: GeneratedKey,
): Promise<GroupKey> {
  try {
    const summary = Buffer.concat([result.publicKey, result.chainCode]);
    assertSameKey(summary, await session.exchange(toEach(session.others, summary)));
    await store.put({
      keyId,
      clientId,
      protocol,
      publicKey: Buffer.from(result.publicKey),
      chainCode: Buffer.from(result.chainCode),
      share: asBuffer(result.share),
    });
    const { initiator } = session.params;
    if (self === initiator) assertSameKey(summary, await session.exchange(new Map()));
    else await session.exchange(toEach([initiator], summary), []);
    return toGroupKey(keyId, result);
  } finally {
    result.share.fill(0);
  }
}

export function toGroupKey(keyId: string, { publicKey, chainCode }: Pick<KeygenResult, 'publicKey' | 'chainCode'>): GroupKey {
  return { keyId, publicKey: toHex(publicKey), chainCode: toHex(chainCode) };
}

/** Shares the memory, so that wiping one wipes the other. */
const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const toEach = (recipients: readonly NodeIndex[], body: Uint8Array): RoundMessages =>
  new Map(recipients.map((party) => [party, body]));

function assertSameKey(summary: Buffer, received: RoundMessages): void {
  for (const [party, theirs] of received) {
    if (!summary.equals(theirs))
      throw new GatewayError('signers_unavailable', `node ${party} ended the key generation with another key`);
  }
}
