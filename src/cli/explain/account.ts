import type { DataSource } from 'typeorm';
import type { AccountEntity } from '../../accounts/entity';
import { ClientEntity } from '../../auth/entity';
import { findDoubtedOrdinals } from '../../chains/reservations';
import { LedgerAccountEntity } from '../../ledger/entity';
import { formatAmount } from '../../platform/money';
import { TransactionEntity } from '../../transactions/entity';
import { WalletEntity } from '../../wallets/entity';
import { balanceRow } from '../asset-operations';
import { acceptCount, type Action, unfreeze } from './actions';

/** More are not shown. */
const maxOpen = 50;

export type AccountReport = Awaited<ReturnType<typeof explainAccount>>;

/** An account with its balances and what is open of it, on every chain where it has its address. Changes nothing. */
export async function explainAccount({ manager }: DataSource, account: AccountEntity) {
  const { accountId, walletId, clientId } = account;
  const client = await manager.findOneBy(ClientEntity, { clientId });
  const wallet = await manager.findOneBy(WalletEntity, { walletId });
  const balances = await manager.find(LedgerAccountEntity, { where: { accountId }, order: { chain: 'ASC', symbol: 'ASC' } });
  const open = await manager
    .createQueryBuilder(TransactionEntity, 't')
    .where('t.accountId = :accountId and t.endedAt is null', { accountId })
    .orderBy('t.txId', 'DESC')
    .limit(maxOpen)
    .getMany();
  const doubted = await findDoubtedOrdinals(manager, null, accountId);
  return {
    account: {
      account_id: accountId,
      address: account.address,
      family: account.family,
      chain: account.chain,
      status: account.status,
      client_id: clientId,
      client: client?.name ?? null,
      client_status: client?.status ?? null,
      wallet_id: walletId,
      wallet: wallet?.walletName ?? null,
      wallet_status: wallet?.status ?? null,
      created_at: account.createdAt,
    },
    balances: balances.map((asset) => ({ asset_id: asset.ledgerAccountId, ...balanceRow(asset) })),
    open_transactions: open.map(toRow),
    used_elsewhere: doubted.map(({ chain, reported, expected }) => ({
      chain,
      executed: reported.toString(),
      begun: expected.toString(),
    })),
    actions: [
      ...balances.flatMap(({ ledgerAccountId, chain, symbol, frozenReason }): Action[] =>
        frozenReason === null ? [] : [unfreeze({ id: ledgerAccountId, what: `${symbol} on ${chain}`, reason: frozenReason })],
      ),
      ...doubted.map(acceptCount),
      toggle(account),
    ],
  };
}

/** The commands take either status; the one that it has already would change nothing. */
function toggle({ accountId, status }: AccountEntity): Action {
  return status === 'ACTIVE'
    ? {
        name: 'disable',
        by: 'operator',
        command: `gateway account disable ${accountId}`,
        effect: 'New transfers from it are refused; what is accepted already goes on by its own rules',
      }
    : {
        name: 'enable',
        by: 'operator',
        command: `gateway account enable ${accountId}`,
        effect: 'New transfers from it are accepted',
      };
}

/** A transaction in a list. */
export const toRow = (tx: TransactionEntity) => ({
  tx_id: tx.txId,
  type: tx.transactionType,
  client_id: tx.clientId,
  chain: tx.chain,
  amount: formatAmount(tx.amount, tx.decimals),
  symbol: tx.tokenSymbol,
  status: tx.status,
  failure_code: tx.failureCode,
  external_id: tx.externalId,
  created_at: tx.createdAt,
});
