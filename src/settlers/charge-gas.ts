import type { EntityManager } from 'typeorm';
import type { AccountEntity } from '../accounts/entity';
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

export interface GasCharge {
  /** The settlement. */
  txId: string;
  chain: ChainDefinition;
  /** Who sent it. */
  account: AccountEntity;
  /** What the network took; atomic units of the native coin. */
  fee: bigint;
}

/**
 * Charges the settler for what its settlement has cost, in a transaction of the house. A fact from the chain is never refused: what the
 * settler does not have, the house loses, and the settler is frozen with an alert. Nothing is charged for a fee of zero.
 * @throws Error when the settlement was charged before.
 */
export async function chargeGas(
  manager: EntityManager,
  { txId: parentTxId, chain, account, fee }: GasCharge,
  log?: AlertLog,
): Promise<void> {
  if (fee === 0n) return;
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
