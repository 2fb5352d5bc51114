import type { DataSource, EntityManager } from 'typeorm';
import type { GetFamily } from '../../chains/family';
import type { PaymentRequest } from '../../chains/payments';
import { toSettlementAction } from '../../chains/settlement-action';
import { accountDoubted, toReconcileRequired } from '../../orders/reconcile-required';
import type { WorkflowOutbox } from '../../outbox/outbox';
import { inTransaction, requestTransaction } from '../../platform/database';
import { GatewayError } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { violates } from '../../platform/unique-violation';
import type { Settler } from '../../settlers/attested';
import { promisedGas } from '../../settlers/promised-gas';
import { refusedLately } from '../../settlers/refused-lately';
import type { StartLimits } from '../../transfers/start/start-limits';
import { TransactionEntity } from '../../transactions/entity';
import type { Reason } from '../reasons';
import { type GoodPayment, unnamedReason } from '../verify';
import { isApprovalWithinLimits, lockApprovals } from './approval-limits';
import { claimPayment, type NewSettlement } from './claim';
import { type PaymentKey } from './claimed';
import { checkGasBudget } from './gas-budget';
import { lockCreation } from './open-deployment';
import { brakedReason } from './payer-brake';
import { lockOpenPayments } from './open-payments';

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
export type Accepted =
  | { outcome: 'accepted'; txId: string }
  | { outcome: 'taken' }
  /** `cause`: for operators. */
  | { outcome: 'refused'; reason: Reason; cause?: string };

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
    if (violates(cause, /^x402_settlements_(once|once_a_client|by_payment_id)$/)) return { outcome: 'taken' };
    // another client has had one sent for the payer meanwhile
    if (violates(cause, /^x402_approvals_once_a_day$/)) return { outcome: 'refused', reason: 'permit2_allowance_required' };
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
  { txId, askedBy, request: { version, scheme, chain }, key, good: { payment, served, topUp } }: Acceptance,
): Promise<Accepted> {
  const { clientId } = askedBy;
  await starts.assertBacklogHasRoom(manager, clientId);
  const candidates = served.settlers.filter(({ isActive, address }) => isActive && (payment.facilitator ?? address) === address);
  const [named] = candidates;
  if (!named) return { outcome: 'refused', reason: unnamedReason({ chain, scheme }) };
  // what moves nothing costs nothing
  const isFree = payment.amount === 0n;
  const bounds = isFree ? free : await boundGas(manager, getFamily, { payment, topUp }, named);
  const gasBound = bounds.gasBound + bounds.topUpFeeBound;
  const budget = await checkGasBudget(manager, { clientId, chain: chain.name, payer: payment.payer, gasBound });
  if (budget === 'braked') return { outcome: 'refused', reason: brakedReason };
  if (budget !== 'within') return { outcome: 'refused', reason: 'unexpected_settle_error', cause: `the gas budget is ${budget}` };
  if (payment.sponsoring.type === 'approval' && !isFree) {
    await lockApprovals(manager, clientId, chain.name);
    if (!(await isApprovalWithinLimits(manager, { clientId, payment, topUp })))
      return { outcome: 'refused', reason: 'permit2_allowance_required' };
  }
  const { maxOpenSettlements = Infinity, minimumBalance: kept = 0n } = getFamily(chain.family);
  if (maxOpenSettlements < Infinity && !(await lockOpenPayments(manager, payment, maxOpenSettlements)))
    return { outcome: 'refused', reason: 'unexpected_settle_error', cause: 'too many settlements of the payer are open' };
  const isDeployment = payment.sponsoring.type === 'deployment' && !isFree;
  if (isDeployment && !(await lockCreation(manager, payment)))
    return { outcome: 'refused', reason: 'unexpected_settle_error', cause: 'another settlement creates the wallet of the payer' };
  const sender = await pickSettler(manager, { clientId, candidates, gasBound, kept, isDeployment });
  if (!sender) return { outcome: 'refused', reason: 'unexpected_settle_error', cause: noSettler };
  const settlement = { txId, ...askedBy, version, scheme, key, payment, ...bounds, topUp, sender: sender.address };
  await claimPayment(manager, getFamily, settlement);
  return { outcome: 'accepted', txId };
}

const free = { gasBound: 0n, topUpFeeBound: 0n };

/** Highest fees that are expected, of the settlement and of what its payer is given; atomic units of the native coin. */
async function boundGas(
  manager: EntityManager,
  getFamily: GetFamily,
  { payment, topUp }: Pick<GoodPayment, 'payment' | 'topUp'>,
  settler: Settler,
): Promise<Pick<NewSettlement, 'gasBound' | 'topUpFeeBound'>> {
  const { chain, token, payer, payTo, amount } = payment;
  const source = { chain: chain.name, accountId: settler.accountId, addressKey: settler.addressKey };
  const family = getFamily(chain.family);
  const outputs = [{ recipient: payTo, tokenContract: token.contract, amount }];
  const gasBound = await family.bound(manager, { chain, source, token, outputs, action: toSettlementAction(payment) });
  if (topUp === 0n) return { gasBound, topUpFeeBound: 0n };
  const given = [{ recipient: payer, tokenContract: null, amount: topUp }];
  return { gasBound, topUpFeeBound: await family.bound(manager, { chain, source, token: chain.native, outputs: given }) };
}

const noSettler = 'no settler has the coins, or the signing nodes have refused what the client has asked of those that have';

interface Wanted {
  clientId: string;
  candidates: Settler[];
  /** Atomic units of the native coin. */
  gasBound: bigint;
  /** What the chain has each of them keep; atomic units of the native coin. */
  kept: bigint;
  /** Whether the settlement creates the payer's wallet. */
  isDeployment: boolean;
}

/**
 * A random one of those that have the coins beside what their open settlements may cost, so that settlements are spread over all of them.
 * null: none has, of which the signing nodes have not just refused a settlement of the client. One of which the chain counts more transactions
 * than the gateway knows sends nothing. @throws GatewayError reconcile_required when only such ones are left.
 */
async function pickSettler(
  manager: EntityManager,
  { clientId, candidates, gasBound, kept, isDeployment }: Wanted,
): Promise<Settler | null> {
  const rows = await manager.query<{ account_id: string; is_doubted: boolean }[]>(
    `select l.account_id, exists (select from doubted_ordinals d where d.chain = l.chain and d.owner = a.address_key) as is_doubted
       from ledger_accounts l
       join accounts a on a.account_id = l.account_id
      where l.account_id = any($1::uuid[]) and l.chain = $2 and l.contract_address is null and l.frozen_reason is null
        and l.available - ${promisedGas('l.chain', 'a.address')} >= $3
        and not ${refusedLately('$4', 'l.chain', 'a.address', '$5::boolean')}`,
    [candidates.map(({ accountId }) => accountId), candidates[0]?.chain, (gasBound + kept).toString(), clientId, isDeployment],
  );
  const trusted = rows.filter(({ is_doubted: isDoubted }) => !isDoubted);
  if (trusted.length === 0 && rows.length > 0) throw accountDoubted();
  const able = candidates.filter(({ accountId }) => trusted.some((row) => row.account_id === accountId));
  return able[Math.floor(Math.random() * able.length)] ?? null;
}

const withTxId = (error: unknown, txId: string): unknown =>
  error instanceof GatewayError && error.code === 'outcome_unknown'
    ? new GatewayError('outcome_unknown', 'The payment may be settled: repeat the request, or ask for it by tx_id', {
        cause: error,
        retryAfterSeconds: 2,
        extra: { tx_id: txId },
      })
    : error;
