import type { DataSource, EntityManager } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import { audit, type AuditActor } from '../audit/log';
import type { Family, GatherPlan, GetFamily, OutputDatabase, ReservationOwner } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import type { ChainDefinition, GatherRequest } from '../chains/types';
import { findLedgerAccount } from '../ledger/accounts';
import { toReconcileRequired } from '../orders/reconcile-required';
import { inTransaction } from '../platform/database';
import { GatewayError, invalidParameter, notFound } from '../platform/errors';
import { isUuid, newId } from '../platform/ids';
import { formatAmount } from '../platform/money';
import { TransactionEntity } from '../transactions/entity';
import { consolidationType } from '../transactions/types';
import { toHoldRefusal } from '../transfers/hold';
import { storeNative } from '../transfers/accept/store-native';
import { insertConsolidation } from './signed-type';

export interface ConsolidationDependencies {
  database: DataSource;
  registry: ChainRegistry;
  getFamily: GetFamily;
}

export interface ConsolidationRequest extends GatherRequest {
  accountId: string;
  /** Highest network fee, atomic units of the native coin; null: what is locked for a transfer with as many inputs. */
  maxFee: bigint | null;
  /** Of the operator, for the audit log. */
  statedReason?: string;
}

export interface Consolidation extends GatherPlan {
  /** null: it was only looked at. */
  txId: string | null;
  chain: ChainDefinition;
  /** What is held for its fee. */
  feeLocked: bigint;
}

/** An account whose balance consists of outputs. */
export interface OutputAccount {
  account: AccountEntity;
  chain: ChainDefinition;
  family: Family & { gathering: OutputDatabase };
  owner: ReservationOwner;
}

/** @throws GatewayError not_found; invalid_parameter for an account of a chain that has no outputs, or is not enabled. */
export async function findOutputAccount(
  manager: EntityManager,
  { registry, getFamily }: Pick<ConsolidationDependencies, 'registry' | 'getFamily'>,
  accountId: string,
): Promise<OutputAccount> {
  const account = isUuid(accountId) ? await manager.findOneBy(AccountEntity, { accountId }) : null;
  if (!account) throw notFound(`account ${accountId}`);
  const chain = registry.find(account.chain);
  if (!chain) throw invalidParameter('account', `is on ${account.chain}, which is not enabled`);
  const family = getFamily(chain.family);
  const { gathering } = family;
  if (!gathering) throw invalidParameter('account', `is on ${chain.name}, whose balances do not consist of outputs`);
  const owner = { chain: chain.name, accountId, addressKey: account.addressKey };
  return { account, chain, family: { ...family, gathering }, owner };
}

/** What a consolidation would do now. @throws GatewayError as beginConsolidation. */
export async function planConsolidation(deps: ConsolidationDependencies, request: ConsolidationRequest): Promise<Consolidation> {
  const { manager } = deps.database;
  return plan(manager, await findOutputAccount(manager, deps, request.accountId), request);
}

/**
 * Stores a consolidation in one database transaction: its row, the hold of its fee, the order to start its workflow, the audit row. Which
 * outputs it spends is chosen when its signing begins.
 * @throws GatewayError not_found; invalid_parameter; business_error where there is nothing to join, the fee is above the highest one, or
 * another one of the account is open; insufficient_balance; chain_unavailable.
 */
export async function beginConsolidation(
  deps: ConsolidationDependencies,
  request: ConsolidationRequest,
  actor: AuditActor,
): Promise<Consolidation> {
  const found = await findOutputAccount(deps.database.manager, deps, request.accountId);
  const { chain } = found;
  try {
    return await inTransaction(deps.database, (manager) => begin(manager, found, request, actor));
  } catch (cause) {
    throw toHoldRefusal(cause, { chain, tokenSymbol: chain.native.symbol, amount: 0n }) ?? toReconcileRequired(cause) ?? cause;
  }
}

async function begin(
  manager: EntityManager,
  found: OutputAccount,
  request: ConsolidationRequest,
  actor: AuditActor,
): Promise<Consolidation> {
  const { account, chain } = found;
  const { accountId, clientId, address, addressKey } = account;
  const token = chain.native;
  await manager.query('select 1 from accounts where account_id = $1 for no key update', [accountId]);
  const where = { accountId, chain: chain.name, transactionType: consolidationType };
  const open = await manager.createQueryBuilder(TransactionEntity, 't').where(where).andWhere('t.endedAt is null').getExists();
  if (open) throw new GatewayError('business_error', 'Another consolidation of the account is in progress');
  const asset = await findLedgerAccount(manager, accountId, chain.name, token.symbol);
  if (!asset) throw nothingToJoin();
  const planned = await plan(manager, found, request);
  const { feeLocked, inputs, amount } = planned;
  const txId = newId();
  const to = { address, key: addressKey };
  await storeNative(manager, {
    ...{ txId, transactionType: consolidationType, chain, account },
    ...{ assetId: asset.ledgerAccountId, to, amount: 0n, feeLocked },
  });
  await insertConsolidation(manager, txId, request);
  const display = (atomic: bigint) => formatAmount(atomic, token.decimals);
  await audit(manager, {
    ...{ action: 'account.consolidation_begun', outcome: 'success', actor, clientId },
    subject: { type: 'account', id: accountId },
    detail: {
      ...{ tx_id: txId, chain: chain.name, inputs, amount: display(amount), max_fee: display(feeLocked) },
      below: display(request.below),
      ...(request.statedReason !== undefined && { stated_reason: request.statedReason }),
    },
  });
  return { ...planned, txId };
}

async function plan(
  manager: EntityManager,
  { chain, family, owner }: OutputAccount,
  { maxInputs, below, maxFee }: ConsolidationRequest,
): Promise<Consolidation> {
  const planned = await family.gathering.plan(manager, owner, { maxInputs, below });
  if (!planned) throw nothingToJoin();
  const gather = { maxInputs: planned.inputs, below };
  const bound = await family.bound(manager, { chain, source: owner, token: chain.native, outputs: [], gather });
  const feeLocked = [bound, chain.maxNetworkFee, ...(maxFee === null ? [] : [maxFee])].reduce((a, b) => (a < b ? a : b));
  if (planned.fee > feeLocked) {
    const display = (atomic: bigint) => `${formatAmount(atomic, chain.native.decimals)} ${chain.native.symbol}`;
    throw new GatewayError('business_error', `The fee would be ${display(planned.fee)} now, above ${display(feeLocked)}`);
  }
  return { ...planned, txId: null, chain, feeLocked };
}

const nothingToJoin = (): GatewayError =>
  new GatewayError(
    'business_error',
    'There are no two outputs below this amount that are worth their fee, that nobody holds and that no transfer waits for',
  );
