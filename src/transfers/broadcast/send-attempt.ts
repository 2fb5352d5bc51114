import type { EntityManager } from 'typeorm';
import type { BroadcastOutcome, ChainClient } from '../../chains/chain-client';
import { findAncestors } from '../../chains/unconfirmed';
import type { SignedAttempt } from '../attempts';

/** Sends signed bytes, behind those that they depend on. Safe to repeat. @throws GatewayError chain_unavailable when no node responded. */
export async function sendAttempt(
  manager: EntityManager,
  client: ChainClient,
  txId: string,
  { attempt, signed }: Pick<SignedAttempt, 'attempt' | 'signed'>,
): Promise<BroadcastOutcome> {
  return client.broadcast(signed.bytes, await findAncestors(manager, txId, attempt));
}
