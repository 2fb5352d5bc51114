import type { DataSource, EntityManager } from 'typeorm';
import type { OwnAddresses } from '../../accounts/own-addresses';
import { type AuditAction, auditUser } from '../../audit/log';
import { assertOrdersCompared, toReconcileRequired } from '../../orders/reconcile-required';
import { enqueue } from '../../outbox/outbox';
import { allInOrder, firstCause } from '../../platform/all-in-order';
import { inTransaction, requestTransaction } from '../../platform/database';
import { insertionOf } from '../../platform/entity-columns';
import { GatewayError } from '../../platform/errors';
import { formatAmount } from '../../platform/money';
import { TransactionEntity, type TransactionStatus } from '../../transactions/entity';
import type { TransactionType } from '../../transactions/types';
import { type AcceptedKind, toTransfer } from './accepted-kind';
import { awaitApproval } from '../screen/await-approval';
import { checkClientRules, isAudited, recordRefusal } from './client-rules';
import { findEarlier } from './earlier';
import { placeTransferHold, toHoldRefusal } from '../hold';
import { toNewRow } from './new-row';
import { parseTransfer, type ParsedTransfer, type TransferParser, type TransferRequest } from './request';
import { findSource, type TransferSource } from './source';
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
 * @throws GatewayError naming why it is refused; unavailable, reconcile_required or chain_unavailable when nothing was written;
 * outcome_unknown with tx_id.
 */
export async function acceptTransfer(
  deps: AcceptDependencies,
  request: TransferRequest,
  storeAnswer: StoreAnswer = () => Promise.resolve(),
): Promise<Acceptance> {
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
    const work = (manager: EntityManager) => accept(deps, manager, { parsed, kind, storeAnswer });
    return await inTransaction(deps.database, work, { ...requestTransaction, isStored });
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
const isFinal = ({ status, code }: GatewayError): boolean =>
  status < 500 && code !== 'idempotency_in_progress' && code !== 'idempotency_key_reused';

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
  await inTransaction(database, store, requestTransaction).catch((error: unknown) => {
    if (!(error instanceof GatewayError) || error.code !== 'outcome_unknown') throw error;
    throw new GatewayError('unavailable', 'The database is unreachable', { cause: error, retryAfterSeconds: 2 });
  });
}

async function accept(
  deps: AcceptDependencies,
  manager: EntityManager,
  { parsed, kind, storeAnswer }: { parsed: ParsedTransfer; kind: AcceptedKind; storeAnswer: StoreAnswer },
): Promise<Acceptance> {
  const { request, chain, from, amount } = parsed;
  const { txId, clientId } = request;
  const replay = async (earlier: TransactionEntity) => {
    const acceptance = { txId: earlier.txId, status: earlier.status, replayed: true };
    await storeAnswer(manager, acceptance);
    return acceptance;
  };
  const earlier = request.idempotencyKey === null ? null : await findEarlier(deps, manager, parsed, kind);
  if (earlier) return replay(earlier);
  await deps.starts.assertBacklogHasRoom(manager, clientId);

  const source = await findSource(manager, clientId, chain, from.key, request.tokenSymbol);
  const { account, wallet } = source;
  deps.addresses.assertOwn(account, await deps.addresses.keyOf(manager, account, wallet));
  const feeLocked = await kind.boundFee(manager, parsed, source);
  const outcomes = await Promise.allSettled([
    insert(manager, toRow(kind.transactionType, parsed, source, feeLocked)),
    checkClientRules(manager, parsed, source),
  ]);
  const [isNew, rules] = outcomes;
  if (isNew.status === 'rejected') throw firstCause(outcomes);
  if (!isNew.value) {
    // whatever the rules say: what the same request has taken already must not refuse it now
    const concurrent = await findEarlier(deps, manager, parsed, kind);
    if (!concurrent) throw new Error(`transfer ${txId} was neither stored nor found`);
    return replay(concurrent);
  }
  if (rules.status === 'rejected') throw rules.reason;
  if (rules.value === 'needs_approval') await awaitApproval(manager, { txId, version: 0 }, deps.approvalWaitSeconds);
  const acceptance: Acceptance = { txId, status: 'PENDING', replayed: false };
  await allInOrder([
    kind.store(manager, txId),
    recordAccepted(manager, parsed, kind.action),
    enqueue(manager, { kind: 'start_transfer', subjectId: txId, clientId, chain: chain.name }),
    storeAnswer(manager, acceptance),
    placeTransferHold(manager, { txId, source, amount, feeLocked }),
  ]);
  return acceptance;
}

const toRow = (
  transactionType: TransactionType,
  { request, chain, to, amount }: ParsedTransfer,
  { account, token, asset }: TransferSource,
  feeLocked: bigint,
): Partial<TransactionEntity> => ({
  ...toNewRow({
    ...{ txId: request.txId, transactionType, chain, account, token },
    ...{ assetId: asset.ledgerAccountId, to, amount, feeLocked },
  }),
  memo: request.memo,
  memoOnChain: request.memoOnChain,
  allowsProgram: request.allowsProgram,
  idempotencyKey: request.idempotencyKey,
  requestedBy: request.userId,
  requestId: request.requestId,
});

/** False when a transfer of this id or key exists; one that is being written at the moment is waited for. */
async function insert(manager: EntityManager, transfer: Partial<TransactionEntity>): Promise<boolean> {
  const { text, values } = insertionOf(TransactionEntity, transfer);
  const rows = await manager.query<unknown[]>(`${text} on conflict do nothing returning tx_id`, values);
  return rows.length === 1;
}

function recordAccepted(
  manager: EntityManager,
  { request, chain, token, to, amount }: ParsedTransfer,
  action: AuditAction,
): Promise<void> {
  const { txId, clientId, userId, requestId, tokenSymbol } = request;
  return auditUser(
    manager,
    { clientId, userId },
    {
      action,
      subject: { type: 'transaction', id: txId },
      detail: {
        chain: chain.name,
        symbol: tokenSymbol,
        amount: formatAmount(amount, token?.decimals ?? 0),
        to_address: to.address,
      },
      requestId,
    },
  );
}

const withTxId = (error: GatewayError, txId: string): GatewayError =>
  new GatewayError(
    'outcome_unknown',
    'The transfer may have been accepted: ask for it by tx_id, or repeat the request with the same Idempotency-Key',
    { cause: error, retryAfterSeconds: 2, extra: { tx_id: txId } },
  );
