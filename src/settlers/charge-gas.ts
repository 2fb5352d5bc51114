import type { EntityManager } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import type { ChainDefinition } from '../chains/types';
import {
  type AlertLog,
  ensureLedgerAccounts,
  findLedgerAccount,
  findLedgerAccountsForUpdate,
  freezeForShortfalls,
} from '../ledger/accounts';
import { payGas } from '../ledger/entries';
import { post } from '../ledger/posting';
import { newId } from '../platform/ids';
import { TransactionEntity } from '../transactions/entity';
import { changeState } from '../transactions/state';
import { gasType } from '../transactions/types';
import { SettlerEntity } from './entity';

export interface GasCharge {
  settlement: Pick<TransactionEntity, 'txId' | 'senderAddress'>;
  chain: ChainDefinition;
  /** What the network took; atomic units of the native coin. */
  fee: bigint;
}

/**
 * Charges the settler for what its settlement has cost, in a transaction of the house. A settlement holds nothing of its settler: the fee
 * comes from what is available. A fact from the chain is never refused: what the settler does not have, the house loses, and the settler
 * is frozen with an alert. Nothing is charged for a fee of zero, or for a transaction that no settler has sent.
 * @throws Error when the settlement was charged before.
 */
export async function chargeGas(
  manager: EntityManager,
  { settlement: { txId: parentTxId, senderAddress }, chain, fee }: GasCharge,
  log?: AlertLog,
): Promise<void> {
  const account = senderAddress === null ? null : await findSettlingAccount(manager, chain, senderAddress);
  if (!account || fee === 0n) return;
  const { native, name, confirmations: requiredConfirmations } = chain;
  await ensureLedgerAccounts(manager, [{ owner: account, chain: name, token: native }]);
  const asset = await findLedgerAccount(manager, account.accountId, name, native.symbol);
  if (!asset) throw new Error(`account ${account.accountId} has no ${native.symbol} on ${name}`);
  const { ledgerAccountId } = asset;
  const { clientId, walletId, accountId, address } = account;
  const txId = newId();
  await manager.insert(TransactionEntity, {
    ...{ txId, clientId, walletId, accountId, assetId: ledgerAccountId, chain: name, transactionType: gasType, parentTxId },
    // it goes to nobody
    ...{ fromAddress: address, toAddress: address },
    ...{ tokenSymbol: native.symbol, contractAddress: native.contract, decimals: native.decimals, amount: fee },
    status: 'PENDING',
    ...{ version: 0, requiredConfirmations },
  });
  const locked = await findLedgerAccountsForUpdate(manager, [ledgerAccountId]);
  const { entries, shortfalls } = payGas(locked.get(ledgerAccountId) ?? asset, fee);
  const seq = await changeState(manager, { txId, version: 0 }, 'CONFIRMED');
  await post(manager, [{ txId, kind: 'gas', seq, entries }]);
  await freezeForShortfalls(manager, txId, shortfalls, log);
}

/** `address`: in the form shown to clients. */
const findSettlingAccount = (manager: EntityManager, { name }: ChainDefinition, address: string): Promise<AccountEntity | null> =>
  manager
    .createQueryBuilder(AccountEntity, 'account')
    .innerJoin(SettlerEntity, 'settler', 'settler.accountId = account.accountId')
    .where('settler.chain = :name and account.address = :address', { name, address })
    .getOne();
