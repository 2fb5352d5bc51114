import type { EntityManager } from 'typeorm';
import type { AttemptStatus, ChainClient } from '../../chains/chain-client';
import { createFindOrigins } from '../../chains/origins';
import { findReservations } from '../../chains/reservations';
import { depthOfEnd, isDone } from '../../following/depth';
import { storeInclusion } from '../../following/inclusions';
import type { ChainObservation } from '../../messages/transfer';
import { inTransaction } from '../../platform/database';
import { GatewayError } from '../../platform/errors';
import type { TransactionEntity } from '../../transactions/entity';
import { findTransaction } from '../../transactions/state';
import type { Attempt, Attempts } from '../attempts';
import { loadAttempts } from '../load-attempts';
import { type ChainDependencies, getClient, type ObserveDependencies } from '../dependencies';
import { destinationBlacklisted } from '../destination';
import { findUnexecutedBefore } from '../line';
import { agreeOnEnd, type IncludedAttempt } from './agree-on-end';
import { toKnownAttempt } from './known-attempt';
import { markSubmitted } from '../sign/record-signed';
import { sendAttempt } from '../broadcast/send-attempt';
import { markBroadcast, storeProof } from '../sign/store-attempt';

const absent: ChainObservation = { state: 'absent', hash: null, blockNumber: null, confirmations: 0 };

type Included = Extract<AttemptStatus, { state: 'included' }>;

/**
 * Asks the chain for the status of a transfer's attempts and stores it: an inclusion, also under an id not seen before, and proofs
 * of impossibility. Transactions that no node knows any more are sent again, as far as nodes take them. `isAnew`: proofs that are stored already do not count, and nothing
 * is sent.
 * @throws GatewayError chain_unavailable, not_found.
 */
export async function observeTransfer(
  deps: ObserveDependencies,
  { txId, isAnew }: { txId: string; isAnew?: true },
): Promise<ChainObservation> {
  const { manager } = deps.database;
  const transfer = await findTransaction(manager, txId);
  const type = deps.getSignedType(transfer.transactionType);
  const intent = await type.loadIntent(manager, transfer);
  const attempts = await loadAttempts(manager, txId);
  const client = getClient(deps, transfer.chain);
  const states = await client.status(
    attempts.all.map((attempt) => toKnownAttempt(intent, attempt)),
    await findReservations(manager, txId),
    createFindOrigins(manager, transfer.chain),
  );
  const included = states.filter((status): status is Included => status.state === 'included');
  if (included.length > 0) {
    const seen: ChainObservation[] = [];
    // a proof was false: its transfer ends once nothing else of it may be executed, for which the follower asks again (observations.ts)
    if (included.some(({ attempt }) => isAgainstProof(attempts.get(attempt)))) await storeProofs(manager, txId, states);
    // more than one, where a proof was false: what each has done is stored, and whether the endpoints agree
    for (const status of included)
      seen.push(await recordInclusion(deps, { transfer, intent, attempt: attempts.get(status.attempt) }, status));
    return ['confirmed', 'included'].flatMap((state) => seen.find((one) => one.state === state) ?? [])[0] ?? absent;
  }

  await storeProofs(manager, txId, states);
  const unagreed = states.filter((status) => status.state === 'absent' && status.isUnagreed);
  for (const { attempt } of unagreed) alarmUnagreed(deps, transfer, attempt);
  const isBehind = (await findUnexecutedBefore(manager, txId)) !== undefined;
  const waiting = { ...absent, ...(isBehind && { isBehind }) };
  const pending = states.find((status) => status.state === 'pending');
  if (pending) return { ...waiting, state: 'pending', hash: pending.id };
  // stored proofs are used: a node with older states has provided them, even if this node cannot; not against another endpoint, nor without
  // one that may have been configured since
  const proven = await loadAttempts(manager, txId, { needsAgreement: client.compareBlock !== undefined });
  const isProven = unagreed.length === 0 && (!isAnew || states.every(({ state }) => state === 'impossible'));
  for (const { attempt, isProofDoubted } of proven.all) {
    const isShown = states.some((status) => status.attempt === attempt && status.state === 'impossible');
    if (isProofDoubted && !isShown) alarmUnagreed(deps, transfer, attempt);
  }
  if (proven.allImpossible && isProven)
    return { ...absent, state: 'impossible', hash: proven.usedBy, ...(proven.endsByProof && { ends: true }) };
  if (!isAnew && !type.isHandedOut) await sendAgain(deps, client, transfer, attempts);
  // what may be executed without that is not waited for
  const isUnfunded = states.every((status) => status.state === 'impossible' || (status.state === 'absent' && status.isUnfunded));
  return { ...waiting, ...(isUnfunded && states.length > 0 && { isUnfunded }) };
}

const isAgainstProof = ({ impossibleProof, isProofDoubted }: Attempt): boolean => impossibleProof !== null || isProofDoubted;

async function storeProofs(manager: EntityManager, txId: string, states: AttemptStatus[]): Promise<void> {
  for (const status of states) {
    if (status.state === 'impossible') await storeProof(manager, txId, status.attempt, status.proof);
  }
}

/** An endpoint that is out for good is otherwise not noticed: the transfer waits for it, and no call fails. */
const alarmUnagreed = ({ alarms }: ObserveDependencies, { txId, chain }: TransactionEntity, attempt: number): void =>
  alarms.raise(
    `${txId} ${attempt}`,
    { alert: 'endpoints_not_agreed', chain, tx_id: txId },
    'an attempt cannot be proven impossible until every endpoint of the chain shows the same blocks',
  );

/** Confirmed is what ends the transfer as FAILED only once every endpoint shows it. */
async function recordInclusion(
  deps: ObserveDependencies,
  subject: IncludedAttempt,
  { id, depth, effect }: Included,
): Promise<ChainObservation> {
  const { transfer, attempt } = subject;
  const { txId } = transfer;
  const { kind } = attempt;
  const client = getClient(deps, transfer.chain);
  const stored = await inTransaction(deps.database, (manager) =>
    storeInclusion(manager, { txId, attempt: attempt.attempt, id }, effect),
  );
  if (!stored) return absent;
  const isDeep = depth >= depthOfEnd(transfer, { kind, ...stored }, client.chain.finalityDepth);
  const isAgreed = async () => isDone(transfer, { kind, ...stored }) || (await agreeOnEnd(deps, client, subject, { id, effect }));
  const state = isDeep && (await isAgreed()) ? 'confirmed' : 'included';
  return { state, hash: id, blockNumber: effect.blockNumber, confirmations: depth };
}

/** An abandoned transfer, one that was refunded, or one that must not be paid, is not sent again: it waits for its cancellation or expiry. */
async function sendAgain(
  deps: ChainDependencies,
  client: ChainClient,
  transfer: TransactionEntity,
  attempts: Attempts,
): Promise<void> {
  const { txId, chain, status } = transfer;
  const { database, logger } = deps;
  const newest = attempts.signed.at(-1);
  if (!newest || newest.impossibleProof) return;
  if (newest.kind !== 'cancellation') {
    if (status === 'FAILED' || attempts.isAbandoned || (await destinationBlacklisted(database.manager, txId))) return;
  }
  const sent = { tx_id: txId, chain, attempt: newest.attempt };
  const result = await sendAttempt(database.manager, client, txId, newest).catch((error: unknown) => {
    if (!(error instanceof GatewayError && error.code === 'chain_unavailable')) throw error;
    // what is done about one that nodes do not have for long depends on its being observed
    logger.warn({ ...sent, err: error }, 'no node knew the transaction, and none has answered to its being sent again');
    return null;
  });
  if (!result) return;
  logger.warn({ ...sent, ...result }, 'no node knew the transaction: it was sent again');
  if (result.outcome !== 'accepted') return;
  // what no node had taken before is submitted now
  if (status === 'SIGNING') await markSubmitted(deps, transfer, { attempt: newest.attempt, id: newest.signed.id });
  else await markBroadcast(database.manager, txId, newest.attempt);
}
