import type { EntityManager } from 'typeorm';
import { AccountEntity } from '../../accounts/entity';
import type { SettlementAction, TransactionIntent } from '../../chains/types';
import { blacklistedReason, isBlacklisted } from '../../screening/destinations';
import { SettlerEntity } from '../../settlers/entity';
import { refusedLately } from '../../settlers/refused-lately';
import type { TransactionEntity } from '../../transactions/entity';
import { getSender, type IntendedTransaction, toPayment } from '../../transactions/intent';
import type { SignedType } from '../../transactions/signed-type';
import { toDestination } from '../../transfers/destination';
import { refuse, refuseByRule } from '../../transfers/sign/not-begun';
import { checkGasBudget } from './gas-budget';
import { rebuildSettlement } from './rebuild';
import { findDifference } from './stored';
import { minLeftMs, settlementTimeLeft } from './time-left';

/** What a payer outside has signed, sent by a settler, which is charged for the fee. No money of the client moves, and nothing is held. */
export const settlement: SignedType = {
  orderKind: 'settlement',
  loadIntent,
  findSigner,
  assertMayBegin: async (manager, transaction) => {
    await assertIsInTime(manager, transaction);
    await assertIsPaidFor(manager, transaction);
    await assertMayCreateWallet(manager, transaction);
    await assertNotRefused(manager, transaction);
  },
  assertMayContinue: assertIsInTime,
  timeLeft: (manager, { txId }) => settlementTimeLeft(manager, txId),
  rules: ({ rules, settlementRules = rules }) => settlementRules,
  findDifference,
  rebuild: rebuildSettlement,
  needsSponsoring: async (manager, { txId }) =>
    (await manager.query<unknown[]>('select from x402_approvals where tx_id = $1', [txId])).length > 0,
};

async function loadIntent(manager: EntityManager, transaction: IntendedTransaction): Promise<TransactionIntent> {
  const { txId } = transaction;
  const [row] = await manager.query<{ action: SettlementAction }[]>('select action from x402_settlements where tx_id = $1', [
    txId,
  ]);
  if (!row) throw new Error(`transaction ${txId} does not say what it settles`);
  return { ...toPayment(transaction), action: row.action };
}

async function findSigner(manager: EntityManager, transaction: TransactionEntity): Promise<AccountEntity> {
  const { txId, chain } = transaction;
  const account = await manager
    .createQueryBuilder(AccountEntity, 'a')
    .innerJoin(SettlerEntity, 's', 's.accountId = a.accountId and s.chain = :chain', { chain })
    .where('a.address = :address', { address: getSender(transaction) })
    .getOne();
  if (!account) throw new Error(`settlement ${txId} is not sent by a settler of ${chain}`);
  return account;
}

/** By what an operator has set for the client, whatever the process that has accepted it says. */
async function assertIsPaidFor(manager: EntityManager, { clientId, chain, fromAddress }: TransactionEntity): Promise<void> {
  // it is counted since it was accepted
  const budget = await checkGasBudget(manager, { clientId, chain, payer: fromAddress, gasBound: 0n });
  if (budget === 'braked') refuse('business_error', 'The house does not pay for it: too many payments of the payer have failed');
  if (budget !== 'within') refuse('business_error', `The house does not pay for it: the gas budget is ${budget}`);
}

/** A wallet is created by a factory that the client's policy names now. */
async function assertMayCreateWallet(manager: EntityManager, { txId, clientId, chain }: TransactionEntity): Promise<void> {
  const [row] = await manager.query<{ is_named: boolean }[]>(
    `select coalesce(s.action #>> '{deployment,factory}' = any(p.wallet_factories), false) as is_named
       from x402_settlements s left join x402_policies p on (p.client_id, p.chain) = ($2, $3)
      where s.tx_id = $1 and s.action ? 'deployment'`,
    [txId, clientId, chain],
  );
  if (row?.is_named === false) refuse('business_error', 'The house calls no such factory to create a wallet for the client');
}

/** A settlement that the nodes refuse as they have refused the one before it would cost a cancellation. */
async function assertNotRefused(
  manager: EntityManager,
  { txId, clientId, chain, senderAddress }: TransactionEntity,
): Promise<void> {
  const sql = `select ${refusedLately('$1', '$2', '$3', `n.sponsoring = 'deployment'`)} as is_refused from x402_settlements n where n.tx_id = $4`;
  const [row] = await manager.query<{ is_refused: boolean }[]>(sql, [clientId, chain, senderAddress, txId]);
  if (row?.is_refused) refuse('node_policy', 'The limits of two signing nodes have just refused a settlement like this one');
}

/** Until there is too little time for another transaction to be included, and not to an address that the client has listed. */
async function assertIsInTime(manager: EntityManager, transaction: TransactionEntity): Promise<void> {
  if ((await settlementTimeLeft(manager, transaction.txId)) < minLeftMs)
    refuse('expired', 'There is too little time left to execute the payment');
  if (await isBlacklisted(manager, toDestination(transaction))) refuseByRule('address_blacklisted', blacklistedReason);
}
