import { unavailable } from '../../endpoints';
import type { AttemptState, KnownAttempt } from '../../chain-client';
import type { ChainDefinition } from '../../types';
import { inCanonical, stateOfIncluded } from '../included';
import type { RpcCall } from '../rpc';
import { quantity, type RpcBlock } from '../rpc-types';
import { type Authorisation, lastSecond, readAuthorisation } from './bytes';
import { type Carrier, findCarrier } from './carrier';
import { toDigests } from './digests';
import { isUsed } from './nonce';

/**
 * What became of a payment that somebody else carries out. Contracts execute it once and until its last second: with its nonce unused it
 * is impossible once a later block is final. So it is once the block is final in which its nonce was used up for nothing.
 */
export async function authorisationState(
  call: RpcCall,
  chain: ChainDefinition,
  head: number,
  attempt: KnownAttempt,
): Promise<AttemptState> {
  const authorisation = readAuthorisation(attempt.unsigned);
  const digests: string[] = toDigests(authorisation);
  const known = await stateOfIncluded(
    call,
    head,
    attempt,
    attempt.ids.filter((id) => !digests.includes(id)),
  );
  if (known) return known;
  if (!(await isUsed(call, authorisation, head))) return stateOfUnused(call, chain, head, authorisation);
  const carrier = await findCarrier(call, authorisation, attempt.intent, head);
  const state = carrier && (await inCanonical(call, head, carrier.id, carrier.effect));
  // a node shows the state of a block before its logs; where it goes on, an operator has to see it
  if (!state) throw unavailable(chain, 'the nonce of a payment is used up, and no transaction shows by what');
  return carrier.isForNothing ? stateOfTakenForNothing(chain, head, carrier) : state;
}

function stateOfTakenForNothing({ finalityDepth }: ChainDefinition, head: number, { id, effect }: Carrier): AttemptState {
  const { blockNumber, blockHash } = effect;
  if (head - blockNumber + 1 < finalityDepth) return { state: 'absent' };
  return { state: 'impossible', proof: { used_up_by: id, taken: '0', block_number: blockNumber, block_hash: blockHash } };
}

async function stateOfUnused(
  call: RpcCall,
  { finalityDepth }: ChainDefinition,
  head: number,
  authorisation: Authorisation,
): Promise<AttemptState> {
  const number = head - finalityDepth + 1;
  const block = number < 0 ? null : await call<RpcBlock | null>('eth_getBlockByNumber', [quantity(number), false]);
  const expiresAt = lastSecond(authorisation);
  if (!block || BigInt(block.timestamp) <= expiresAt) return { state: 'absent' };
  const proof = {
    expired_at: Number(expiresAt),
    block_number: number,
    block_hash: block.hash,
    block_time: Number(block.timestamp),
  };
  return { state: 'impossible', proof };
}
