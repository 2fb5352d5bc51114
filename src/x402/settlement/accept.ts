import { type DataSource, type EntityManager, QueryFailedError } from 'typeorm';
import type { GetFamily } from '../../chains/family';
import type { Payment, PaymentRequest } from '../../chains/payments';
import { toReconcileRequired } from '../../orders/reconcile-required';
import type { WorkflowOutbox } from '../../outbox/outbox';
import { inTransaction, requestTransaction } from '../../platform/database';
import { GatewayError } from '../../platform/errors';
import { newId } from '../../platform/ids';
import type { Settler } from '../../settlers/attested';
import type { StartLimits } from '../../transfers/start-limits';
import { TransactionEntity } from '../../transactions/entity';
import type { Reason } from '../reasons';
import type { GoodPayment } from '../verify';
import { claimPayment, type NewSettlement } from './claim';
import { type PaymentKey } from './claimed';
import { judgeGasBudget } from './gas-budget';

export interface AcceptDependencies {
  database: DataSource;
  getFamily: GetFamily;
  starts: StartLimits;
  outbox: WorkflowOutbox;
}

export interface AskedBy {
  clientId: string;
  userId: string;
  requestId: string;
}

/** `taken`: the payment was claimed by another request meanwhile. */
export type Accepted = { outcome: 'accepted'; txId: string } | { outcome: 'taken' } | { outcome: 'refused'; reason: Reason };

/**
 * Accepts a settlement in one database transaction, under the key of its payment: of several requests for one payment one is accepted.
 * No chain and no workflow service is asked.
 * @throws GatewayError unavailable, reconcile_required or chain_unavailable when nothing was written; outcome_unknown with tx_id.
 */
export async function acceptSettlement(
  deps: AcceptDependencies,
  askedBy: AskedBy,
  request: PaymentRequest,
  key: PaymentKey,
  good: GoodPayment,
): Promise<Accepted> {
  const txId = newId();
  const isStored = (manager: EntityManager) => manager.existsBy(TransactionEntity, { txId });
  const work = (manager: EntityManager) => accept(deps, manager, { txId, askedBy, request, key, good });
  let accepted: Accepted;
  try {
    accepted = await inTransaction(deps.database, work, { ...requestTransaction, isStored });
  } catch (cause) {
    if (isTaken(cause)) return { outcome: 'taken' };
    throw toReconcileRequired(cause) ?? withTxId(cause, txId);
  }
  const { clientId } = askedBy;
  if (accepted.outcome === 'accepted' && good.payment.amount > 0n)
    deps.outbox.deliverSoon({ kind: 'start_transfer', subjectId: txId, clientId, chain: key.chain });
  return accepted;
}

interface Acceptance {
  txId: string;
  askedBy: AskedBy;
  request: PaymentRequest;
  key: PaymentKey;
  good: GoodPayment;
}

async function accept(
  { getFamily, starts }: AcceptDependencies,
  manager: EntityManager,
  { txId, askedBy, request: { version, scheme, chain }, key, good: { payment, served } }: Acceptance,
): Promise<Accepted> {
  const { clientId } = askedBy;
  await starts.assertBacklogHasRoom(manager, clientId);
  const candidates = served.settlers.filter(({ isActive, address }) => isActive && (payment.facilitator ?? address) === address);
  const [named] = candidates;
  if (!named) return { outcome: 'refused', reason: 'upto_facilitator_mismatch' };
  const gasBound = await boundGas(manager, getFamily, payment, named);
  if ((await judgeGasBudget(manager, clientId, chain.name, gasBound)) !== 'within')
    return { outcome: 'refused', reason: 'unexpected_settle_error' };
  const sender = await pickSettler(manager, candidates, gasBound);
  // what moves nothing costs nothing
  if (!sender && payment.amount > 0n) return { outcome: 'refused', reason: 'unexpected_settle_error' };
  const settlement: NewSettlement = {
    ...{ txId, ...askedBy, version, scheme, key, payment, gasBound: payment.amount > 0n ? gasBound : 0n },
    sender: (sender ?? named).address,
  };
  await claimPayment(manager, getFamily, settlement);
  return { outcome: 'accepted', txId };
}

/** Highest fee that is expected; atomic units of the native coin. */
function boundGas(manager: EntityManager, getFamily: GetFamily, payment: Payment, settler: Settler): Promise<bigint> {
  const { chain, token, payTo, amount } = payment;
  const source = { chain: chain.name, accountId: settler.accountId, addressKey: settler.addressKey };
  const outputs = [{ recipient: payTo, tokenContract: token.contract, amount }];
  return getFamily(chain.family).bound(manager, { chain, source, token, outputs });
}

/** A random one of those that can pay the gas, so that settlements are spread over all of them. null: none can. */
async function pickSettler(manager: EntityManager, candidates: Settler[], gasBound: bigint): Promise<Settler | null> {
  const rows = await manager.query<{ account_id: string }[]>(
    `select l.account_id from ledger_accounts l
      where l.account_id = any($1::uuid[]) and l.chain = $2 and l.contract_address is null and l.frozen_reason is null and l.available >= $3`,
    [candidates.map(({ accountId }) => accountId), candidates[0]?.chain, gasBound.toString()],
  );
  const able = candidates.filter(({ accountId }) => rows.some((row) => row.account_id === accountId));
  return able[Math.floor(Math.random() * able.length)] ?? null;
}

/** Another request has committed a settlement of the same payment, or by the same name. */
function isTaken(error: unknown): boolean {
  const { code, constraint } = (error instanceof QueryFailedError ? error.driverError : {}) as {
    code?: string;
    constraint?: string;
  };
  return code === '23505' && constraint !== undefined && /^x402_settlements_(once|by_payment_id)$/.test(constraint);
}

const withTxId = (error: unknown, txId: string): unknown =>
  error instanceof GatewayError && error.code === 'outcome_unknown'
    ? new GatewayError('outcome_unknown', 'The payment may be settled: repeat the request, or ask for it by tx_id', {
        cause: error,
        retryAfterSeconds: 2,
        extra: { tx_id: txId },
      })
    : error;
