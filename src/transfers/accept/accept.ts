import type { DataSource, EntityManager } from 'typeorm';
import type { OwnAddresses } from '../../accounts/own-addresses';
import { assertOrdersCompared, toReconcileRequired } from '../../orders/reconcile-required';
import { enqueue } from '../../outbox/outbox';
import { firstCause } from '../../platform/all-in-order';
import { inTransaction, requestTransaction } from '../../platform/database';
import { GatewayError, rethrowAsUnavailable } from '../../platform/errors';
import { TransactionEntity, type TransactionStatus } from '../../transactions/entity';
import { type AcceptedKind, toTransfer } from './accepted-kind';
import { awaitApproval } from '../screen/await-approval';
import { checkClientRules, isAudited, recordRefusal } from './client-rules';
import { assertNameIsFree } from './external-name';
import { findEarlier } from './earlier';
import { type Facts, need, readFacts } from './facts';
import { placeTransferHold, toHoldRefusal } from '../hold';
import { insertAccepted, recordAccepted, toAcceptedRow } from './store-accepted';
import { parseTransfer, type ParsedTransfer, type TransferParser, type TransferRequest } from './request';
import { assertRedoKey } from './redone';
import { toSource } from './source';
import type { StartLimits } from '../start/start-limits';

export interface AcceptDependencies extends TransferParser {
  database: DataSource;
  starts: StartLimits;
  addresses: OwnAddresses;
  /** How long a transfer waits for somebody to approve it. */
  approvalWaitSeconds: number;
}

/** What POST /transfer answers. */
export interface Acceptance {
  txId: string;
  status: TransactionStatus;
  /** The transfer was made by an earlier request: by its id, or by its Idempotency-Key, which belongs to it for ever. */
  replayed: boolean;
}

/** Stores the answer of the request, in the database transaction that accepts it or in the one that records its refusal. */
export type StoreAnswer = (manager: EntityManager, answer: Acceptance | GatewayError) => Promise<void>;

/**
 * Accepts a transfer in one database transaction: its row, its hold, the audit row, the order to start its workflow and the stored answer
 * of its Idempotency-Key. No chain and no workflow service is asked. A final refusal is stored too, by a transaction of its own.
 * @throws GatewayError naming why it is refused (invalid_parameter for a key of a redo in capital letters); unavailable, reconcile_required or chain_unavailable when nothing was written;
 * outcome_unknown with tx_id.
 */
export async function acceptTransfer(
  deps: AcceptDependencies,
  request: TransferRequest,
  storeAnswer: StoreAnswer = () => Promise.resolve(),
): Promise<Acceptance> {
  assertRedoKey(request.idempotencyKey);
  return acceptParsed(deps, parseTransfer(deps, request), toTransfer(deps), storeAnswer);
}

/** The same for a request that is parsed, of any kind. @throws GatewayError as acceptTransfer. */
export async function acceptParsed(
  deps: AcceptDependencies,
  parsed: ParsedTransfer,
  kind: AcceptedKind,
  storeAnswer: StoreAnswer = () => Promise.resolve(),
): Promise<Acceptance> {
  const { request } = parsed;
  const isStored = (manager: EntityManager, { txId }: Acceptance) => manager.existsBy(TransactionEntity, { txId });
  try {
    const read = (manager: EntityManager) => readFacts(deps, manager, parsed, kind);
    const work = (manager: EntityManager, facts: Facts) => accept(deps, manager, { parsed, kind, storeAnswer, facts });
    return await inTransaction(deps.database, work, { ...requestTransaction, isStored, read }).catch((error: unknown) => {
      if (!(error instanceof WrittenMeanwhile)) throw error;
      return inTransaction(
        deps.database,
        (manager) => replayWritten(deps, manager, { parsed, kind, storeAnswer }),
        requestTransaction,
      );
    });
  } catch (cause) {
    const error = toHoldRefusal(cause, { ...parsed, tokenSymbol: request.tokenSymbol }) ?? toReconcileRequired(cause) ?? cause;
    if (!(error instanceof GatewayError)) throw error;
    if (error.code === 'outcome_unknown') throw withTxId(error, request.txId);
    if (isFinal(error) && (request.idempotencyKey !== null || isAudited(error)))
      await storeRefusal(deps, parsed, error, storeAnswer);
    throw error;
  }
}

/** What is refused for now may be accepted later. A key that belongs to another transfer must still give that transfer. */
const isFinal = ({ status, code, retryAfterSeconds }: GatewayError): boolean =>
  status < 500 && retryAfterSeconds === undefined && code !== 'idempotency_in_progress' && code !== 'idempotency_key_reused';

/** @throws GatewayError unavailable when it is not certain that it is stored: the same request is good once more. */
async function storeRefusal(
  { database }: AcceptDependencies,
  parsed: ParsedTransfer,
  refusal: GatewayError,
  storeAnswer: StoreAnswer,
): Promise<void> {
  const store = async (manager: EntityManager) => {
    // a restored database may lack what the request is refused for
    await assertOrdersCompared(manager);
    await recordRefusal(manager, parsed, refusal);
    await storeAnswer(manager, refusal);
  };
  await inTransaction(database, store, requestTransaction).catch(rethrowAsUnavailable);
}

/** The same transfer is stored since this request began, or another one has its external id: nothing of this one is kept. */
class WrittenMeanwhile extends Error {}

interface Accepting {
  parsed: ParsedTransfer;
  kind: AcceptedKind;
  storeAnswer: StoreAnswer;
}

/**
 * Two waits for the database after the one for what was read: everything is written at once, and kept only if the rules, which are read
 * meanwhile, allow it.
 */
async function accept(
  deps: AcceptDependencies,
  manager: EntityManager,
  { parsed: asked, kind, storeAnswer, facts }: Accepting & { facts: Facts },
): Promise<Acceptance> {
  const parsed = { ...asked, request: { ...asked.request, retryOf: need(facts.retryOf) } };
  const { request, chain, amount } = parsed;
  const { txId, clientId } = request;
  const earlier = need(facts.earlier);
  if (earlier) return replay(manager, earlier, storeAnswer);
  await deps.starts.assertBacklogHasRoom(manager, clientId);

  const source = await toSource(manager, parsed, need(facts.source));
  const { account, wallet } = source;
  deps.addresses.assertOwn(account, await deps.addresses.keyOf(manager, account, wallet));
  const feeLocked = await kind.boundFee(manager, parsed, source, need(facts.levels));
  const acceptance: Acceptance = { txId, status: 'PENDING', replayed: false };
  const outcomes = await Promise.allSettled([
    insertAccepted(manager, toAcceptedRow(kind.transactionType, parsed, source, feeLocked)),
    checkClientRules(manager, parsed, source),
    kind.store(manager, txId),
    recordAccepted(manager, parsed, kind.action),
    enqueue(manager, { kind: 'start_transfer', subjectId: txId, clientId, chain: chain.name }),
    storeAnswer(manager, acceptance),
    placeTransferHold(manager, { txId, source, amount, feeLocked }),
  ]);
  const [isNew, rules] = outcomes;
  // whatever the rules say: what the same request has taken already must not refuse it now
  if (isNew.status === 'fulfilled' && !isNew.value) throw new WrittenMeanwhile();
  if (outcomes.some(({ status }) => status === 'rejected')) throw firstCause(outcomes);
  if (need(rules) === 'needs_approval') await awaitApproval(manager, { txId, version: 0 }, deps.approvalWaitSeconds);
  return acceptance;
}

async function replay(
  manager: EntityManager,
  { txId, status }: TransactionEntity,
  storeAnswer: StoreAnswer,
): Promise<Acceptance> {
  const acceptance = { txId, status, replayed: true };
  await storeAnswer(manager, acceptance);
  return acceptance;
}

async function replayWritten(
  deps: AcceptDependencies,
  manager: EntityManager,
  { parsed, kind, storeAnswer }: Accepting,
): Promise<Acceptance> {
  const written = await findEarlier(deps, manager, parsed, kind);
  if (written) return replay(manager, written, storeAnswer);
  const { txId, clientId, externalId } = parsed.request;
  await assertNameIsFree(manager, { clientId, externalId });
  throw new Error(`transfer ${txId} was neither stored nor found`);
}

const withTxId = (error: GatewayError, txId: string): GatewayError =>
  new GatewayError(
    'outcome_unknown',
    'The transfer may have been accepted: ask for it by tx_id, or repeat the request with the same Idempotency-Key',
    { cause: error, retryAfterSeconds: 2, extra: { tx_id: txId } },
  );
