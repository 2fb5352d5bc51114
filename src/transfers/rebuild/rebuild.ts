import type { EntityManager } from 'typeorm';
import { AccountEntity } from '../../accounts/entity';
import { type ChainRegistry, tokenByContract } from '../../chains/registry';
import type { GetFamily } from '../../chains/family';
import { ensureLedgerAccounts, findLedgerAccount } from '../../ledger/accounts';
import type { SigningClaims } from '../../messages/order';
import { TransactionEntity } from '../../transactions/entity';
import type { GetSignedType } from '../../transactions/signed-type';
import { changeState, findAnyForUpdate, isEnded } from '../../transactions/state';
import { settlementType, type TransactionType } from '../../transactions/types';
import { placeTransferHold } from '../hold';
import { toNewRow } from '../accept/new-row';
import { loadAttempts } from '../load-attempts';
import { cannot, findBytes, type KnownOrder, type RebuiltSource, storeAttempt } from './rebuild-attempt';
import { assertAsOrdered } from './rebuild-differences';
import { assertSettles, getSettled, insertSettlement } from './rebuild-settlement';

export { type KnownOrder, NotCovered } from './rebuild-attempt';

export interface RebuildDependencies {
  registry: ChainRegistry;
  getFamily: GetFamily;
  getSignedType: GetSignedType;
  /** The type of which orders of a kind begin the first attempt. */
  typeOfOrder: (kind: string) => TransactionType;
}

/**
 * Writes what the orders of one transfer say and the database lacks: the transaction with its hold, in SIGNING, its reservations and
 * attempts; of a settlement the same without a hold, and what it pays. The workflow, started again, asks the chain first how it has ended. `orders`: all that nodes show of it and the database
 * lacks. Run it as the owner of the schema, in a database transaction of its own; the hold is taken at its commit.
 * @throws GatewayError business_error with the reason why it cannot be rebuilt; NotCovered when the account lacks a later fee.
 */
export async function rebuildTransfer(
  manager: EntityManager,
  deps: RebuildDependencies,
  orders: readonly KnownOrder[],
): Promise<void> {
  const byAttempt = [...orders].sort((a, b) => a.claims.attempt - b.claims.attempt || a.claims.seq - b.claims.seq);
  const [first] = byAttempt;
  if (!first) return;
  const stored = await findAnyForUpdate(manager, { txId: first.claims.tx_id });
  const isSettlement = stored
    ? stored.transactionType === settlementType
    : byAttempt.some(({ claims }) => getSettled(claims) !== undefined);
  const source = await findSource(manager, deps, first.claims);
  if (stored && isEnded(stored)) throw cannot(`the database says that it is ${stored.status}`);
  await assertComplete(manager, byAttempt);
  const insert = () =>
    isSettlement
      ? insertSettlement(manager, deps.getSignedType, source, byAttempt)
      : insertTransfer(manager, deps, source, byAttempt);
  const transfer = stored ?? (await insert());
  for (const order of byAttempt) {
    assertAsOrdered(source.chain, transfer, order.claims);
    if (isSettlement) await assertSettles(manager, deps.getSignedType, source, transfer, order);
  }
  await moveToSigning(manager, transfer, first.claims);
  for (const order of byAttempt) await storeAttempt(manager, source, transfer.txId, order);
}

/** One that is unknown may be the one that the chain executes. */
async function assertComplete(manager: EntityManager, orders: readonly KnownOrder[]): Promise<void> {
  const [first] = orders;
  const stored = first && (await loadAttempts(manager, first.claims.tx_id));
  const known = new Set([...(stored?.all ?? []).map(({ attempt }) => attempt), ...orders.map(({ claims }) => claims.attempt)]);
  for (let attempt = 1; attempt < Math.max(...known); attempt += 1)
    if (!known.has(attempt)) throw cannot(`no node shows an order of its attempt ${attempt}`);
}

async function findSource(
  manager: EntityManager,
  { registry, getFamily }: RebuildDependencies,
  { chain: caip2, client_id: clientId, from }: SigningClaims,
): Promise<RebuiltSource> {
  const chain = registry.findByCaip2(caip2);
  if (!chain) throw cannot(`chain ${caip2} is not enabled`);
  const family = getFamily(chain.family);
  const addressKey = family.parseAddress(from)?.key;
  const account = addressKey && (await manager.findOneBy(AccountEntity, { clientId, family: chain.family, addressKey }));
  if (!account) throw cannot(`the client, or its account ${from}, is not in the database`);
  return { chain, family, account };
}

/** As it was accepted, as far as its orders say: user, approval and a memo that is not on the chain are unknown. */
async function insertTransfer(
  manager: EntityManager,
  { getSignedType, typeOfOrder }: Pick<RebuildDependencies, 'getSignedType' | 'typeOfOrder'>,
  { chain, family, account }: RebuiltSource,
  orders: readonly KnownOrder[],
): Promise<TransactionEntity> {
  const known = orders.find(({ claims }) => claims.kind !== 'cancellation');
  const payment = known?.claims;
  const [output, ...others] = payment?.recipients ?? [];
  const to = output && family.parseAddress(output.address);
  const token = output && tokenByContract(chain, output.token);
  if (!known || !payment || !to || !token || others.length > 0) throw cannot('its orders do not say what it pays');
  const { accountId, walletId, clientId } = account;
  const owner = { accountId, walletId, clientId };
  await ensureLedgerAccounts(
    manager,
    [token, chain.native].map((coin) => ({ owner, chain: chain.name, token: coin })),
  );
  const asset = await findLedgerAccount(manager, accountId, chain.name, token.symbol);
  const native = await findLedgerAccount(manager, accountId, chain.name, chain.native.symbol);
  if (!asset || !native) throw new Error(`no ledger accounts for ${accountId}`);
  const { tx_id: txId, request } = payment;
  const amount = BigInt(output.amount);
  // the amount pays for a cancellation too, where it is the same coin
  const covered = token.symbol === chain.native.symbol ? amount : 0n;
  const feeOf = ({ kind, max_fee: fee }: SigningClaims) => (kind === 'cancellation' ? BigInt(fee) - covered : BigInt(fee));
  const feeLocked = orders.reduce((highest, { claims }) => max(highest, feeOf(claims)), 0n);
  const assetId = asset.ledgerAccountId;
  const transactionType = typeOfOrder(payment.kind);
  const row = toNewRow({ txId, transactionType, chain, account, token, assetId, to, amount, feeLocked });
  const signedType = getSignedType(transactionType);
  const columns = await signedType.prepareRebuild?.(manager, { ...row, orderedAt: new Date(payment.iat * 1000) });
  const { memo = null } = payment;
  // what was ordered had been allowed
  const allowsProgram = family.hasProgramAddresses === true;
  await manager.insert(TransactionEntity, { ...row, ...columns, memo, memoOnChain: memo !== null, allowsProgram });
  const described = family.describe(findBytes(family, payment, known.bytes));
  await signedType.rebuild?.(manager, { txId, clientId }, { chain, described, feeBound: feeLocked });
  await placeTransferHold(manager, { txId, source: { asset, native }, amount, feeLocked });
  if (request !== null)
    await manager.query('insert into rebuilt_requests (request, tx_id) values ($1, $2) on conflict do nothing', [request, txId]);
  return manager.findOneByOrFail(TransactionEntity, { txId });
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

async function moveToSigning(manager: EntityManager, transfer: TransactionEntity, { iat }: SigningClaims): Promise<void> {
  if (transfer.signingBegunAt !== null) return;
  const { txId } = transfer;
  let { version } = transfer;
  if (transfer.status === 'AWAITING_APPROVAL') version = await changeState(manager, { txId, version }, 'PENDING');
  await changeState(manager, { txId, version }, 'SIGNING', { signingBegunAt: new Date(iat * 1000) });
}
