import type { EntityManager } from 'typeorm';
import { AccountEntity } from '../../accounts/entity';
import { audit, type AuditActor } from '../../audit/log';
import type { ChainDefinition } from '../../chains/types';
import type { FundingResult } from '../../messages/transfer';
import type { OutboxMessage } from '../../outbox/outbox';
import { inTransaction } from '../../platform/database';
import { newId } from '../../platform/ids';
import { formatAmount } from '../../platform/money';
import { isBlacklisted } from '../../screening/destinations';
import { promisedGas } from '../../settlers/promised-gas';
import { findTransactionForUpdate, isEnded } from '../../transactions/state';
import { topUpType } from '../../transactions/types';
import type { TransferDependencies } from '../../transfers/dependencies';
import { recordRefusal, type RefusalReason } from '../../transfers/end/refusals';
import { storeNative } from '../../transfers/accept/store-native';
import { countedCost } from './gas-budget';

type Steps = Pick<TransferDependencies, 'database' | 'registry' | 'getFamily' | 'outbox'>;

interface WantedRow {
  payer: string;
  /** Atomic units of the native coin. */
  top_up: string;
  is_funded: boolean;
  /** By the policy of now, with everything that was given in 24 hours. */
  is_allowed: boolean;
}

/**
 * The coins that the payer of a settlement lacks for its approval become a transaction of the house: its row, its hold and the order to
 * start its workflow, in one database transaction under the lock of the settlement. Made once; nothing is made where nothing is missing
 * or where the settlement has ended.
 * @throws GatewayError chain_unavailable when the fees of the chain are not known.
 */
export async function fundPayer({ database, outbox, ...chains }: Steps, { txId }: { txId: string }): Promise<FundingResult> {
  const { result, start } = await inTransaction(database, (manager) => makeTopUp(manager, chains, txId));
  if (start) outbox?.deliverSoon(start);
  return result;
}

interface Made {
  result: FundingResult;
  /** What has to be delivered after the commit. */
  start?: OutboxMessage;
}

async function makeTopUp(
  manager: EntityManager,
  { registry, getFamily }: Pick<Steps, 'registry' | 'getFamily'>,
  txId: string,
): Promise<Made> {
  const settlement = await findTransactionForUpdate(manager, txId);
  const { payer, top_up: topUp, is_funded: isFunded, is_allowed: isAllowed } = await findWanted(manager, txId);
  if (isEnded(settlement) || isFunded || topUp === '0') return { result: { outcome: 'funded' } };
  const chain = registry.get(settlement.chain);
  const family = getFamily(chain.family);
  const amount = BigInt(topUp);
  if (!isAllowed || amount > chain.maxNetworkFee) return refuse(manager, txId, notAllowed);
  const to = family.parseAddress(payer);
  if (!to) throw new Error(`the payer of settlement ${txId} has no address`);
  if (await isBlacklisted(manager, { clientId: settlement.clientId, chain: chain.name, addressKey: to.key }))
    return refuse(manager, txId, { code: 'business_error', reason: payerListedReason });
  const account = await findGiver(manager, chain, amount);
  if (!account) return refuse(manager, txId, noCoins);
  const source = { chain: chain.name, accountId: account.accountId, addressKey: account.addressKey };
  const outputs = [{ recipient: payer, tokenContract: null, amount }];
  const feeLocked = await family.bound(manager, { chain, source, token: chain.native, outputs });
  if (account.available < amount + feeLocked) return refuse(manager, txId, noCoins);
  const { assetId } = account;
  const id = newId();
  const start = await storeNative(manager, {
    ...{ txId: id, transactionType: topUpType, chain, account, assetId, to, amount, feeLocked, parentTxId: txId },
    // settlements that wait for it may have taken it
    needsNoRoom: true,
  });
  await audit(manager, {
    action: 'x402.payer_funded',
    outcome: 'success',
    actor: house,
    clientId: settlement.clientId,
    subject: { type: 'transaction', id },
    detail: { chain: chain.name, amount: formatAmount(amount, chain.native.decimals), to_address: payer, settlement: txId },
    requestId: settlement.requestId,
  });
  return { result: { outcome: 'funded' }, start };
}

/** On record: the settlement ends for it. */
async function refuse(manager: EntityManager, txId: string, why: RefusalReason): Promise<Made> {
  await recordRefusal(manager, { txId, attempt: 1 }, { kind: 'chain', ...why });
  return { result: { outcome: 'refused', ...why } };
}

/** Nobody asked for it but the payment. */
const house: AuditActor = { type: 'system', id: 'house' };

export const payerListedReason = 'The payer is on your blacklist: the house gives it no coins';

const notAllowed = { code: 'business_error', reason: 'The house does not give the coins that the approval needs' } as const;

const noCoins = {
  code: 'insufficient_balance',
  reason: 'The house does not have the coins that the payer lacks for its approval',
} as const;

async function findWanted(manager: EntityManager, txId: string): Promise<WantedRow> {
  const [row] = await manager.query<WantedRow[]>(
    `select payer, top_up, exists (select from transactions t where t.parent_tx_id = a.tx_id and t.is_held) as is_funded,
            exists (
              select from x402_policies p
               where (p.client_id, p.chain) = (a.client_id, a.chain) and p.is_enabled and p.sponsors_approval 
                 and p.top_up_per_day >= ${countedCost('given', 'p')}
            ) as is_allowed
       from x402_approvals a where tx_id = $1`,
    [txId],
  );
  if (!row) throw new Error(`settlement ${txId} has no approval`);
  return row;
}

interface GiverRow {
  account_id: string;
  ledger_account_id: string;
  available: string;
}

type Giver = AccountEntity & { assetId: string; available: bigint };

/** The settler of the chain that has most coins beside what its open settlements may cost. */
async function findGiver(manager: EntityManager, chain: ChainDefinition, amount: bigint): Promise<Giver | null> {
  const [row] = await manager.query<GiverRow[]>(
    `select account_id, ledger_account_id, available from (
       select l.account_id, l.ledger_account_id, l.available - ${promisedGas('l.chain', 'a.address')} as available
         from ledger_accounts l join settlers s using (account_id, chain) join accounts a using (account_id)
        where l.chain = $1 and l.symbol = $2 and l.frozen_reason is null and s.status = 'ACTIVE') giver
      where available > $3 order by available desc limit 1`,
    [chain.name, chain.native.symbol, amount.toString()],
  );
  if (!row) return null;
  const account = await manager.findOneByOrFail(AccountEntity, { accountId: row.account_id });
  return { ...account, assetId: row.ledger_account_id, available: BigInt(row.available) };
}
