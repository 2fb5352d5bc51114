import { type DataSource, Not } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import { GatewayError, invalidParameter, notFound } from '../platform/errors';
import { houseClientId } from '../platform/house';
import { isUuid } from '../platform/ids';
import { WalletEntity } from '../wallets/entity';
import { type Reasoned, withReason } from './confirmation';
import { auditedOperation } from './audited-operation';

export interface WalletLimit {
  symbol: string;
  /** Display units; null: no limit. */
  maxSingle: string | null;
  maxDaily: string | null;
}

/** What operators set on wallets and accounts; audited in the same database transaction. */
/** In display units, or `none`. */
export interface LimitChange extends Reasoned {
  maxSingle?: string;
  maxDaily?: string;
}

export class WalletOperations {
  constructor(private readonly database: DataSource) {}

  /** Of one client, or of all but the house. */
  list(clientId?: string): Promise<WalletEntity[]> {
    return this.database.manager.find(WalletEntity, {
      where: { clientId: clientId ?? Not(houseClientId) },
      order: { walletId: 'ASC' },
    });
  }

  /** Its transfers and new accounts are refused from now on; transfers in progress continue. */
  suspend(walletId: string, reason?: string): Promise<WalletEntity> {
    return this.move(walletId, 'ACTIVE', 'SUSPENDED', reason);
  }

  resume(walletId: string, reason?: string): Promise<WalletEntity> {
    return this.move(walletId, 'SUSPENDED', 'ACTIVE', reason);
  }

  private async move(
    walletId: string,
    from: WalletEntity['status'],
    to: WalletEntity['status'],
    reason?: string,
  ): Promise<WalletEntity> {
    const wallet = await this.find(walletId);
    if (wallet.status === to) return wallet;
    await auditedOperation(
      this.database,
      { action: to === 'SUSPENDED' ? 'wallet.suspended' : 'wallet.resumed', ...about(wallet), detail: withReason(reason) },
      async (manager) => {
        const { affected } = await manager.update(
          WalletEntity,
          { walletId, status: from },
          { status: to, updatedAt: new Date() },
        );
        if (affected !== 1)
          throw new GatewayError(
            'business_error',
            `The wallet is ${wallet.status}: only a wallet that is ${from} can become ${to}`,
          );
      },
    );
    return this.find(walletId);
  }

  private async find(walletId: string): Promise<WalletEntity> {
    const wallet = isUuid(walletId) ? await this.database.manager.findOneBy(WalletEntity, { walletId }) : null;
    if (!wallet) throw notFound(`wallet ${walletId}`);
    return wallet;
  }

  /** Amounts in display units; what is left out stays as it was, `none` lifts it. */
  async setLimit(walletId: string, symbol: string, limits: LimitChange): Promise<WalletLimit> {
    const wallet = await this.find(walletId);
    if (limits.maxSingle === undefined && limits.maxDaily === undefined)
      throw invalidParameter('limit', 'give --max-single, --max-daily or both');
    const [single, daily] = [parseLimit('--max-single', limits.maxSingle), parseLimit('--max-daily', limits.maxDaily)];
    const detail = {
      symbol,
      ...(limits.maxSingle !== undefined && { max_single: single }),
      ...(limits.maxDaily !== undefined && { max_daily: daily }),
      ...withReason(limits.reason),
    };
    await auditedOperation(this.database, { action: 'wallet.limit_changed', ...about(wallet), detail }, (manager) =>
      manager.query(
        `insert into wallet_limits as l (wallet_id, symbol, max_single, max_daily) values ($1, $2, $3, $4)
         on conflict (wallet_id, symbol) do update set
           max_single = case when $5 then excluded.max_single else l.max_single end,
           max_daily = case when $6 then excluded.max_daily else l.max_daily end,
           updated_at = now()`,
        [walletId, symbol, single, daily, limits.maxSingle !== undefined, limits.maxDaily !== undefined],
      ),
    );
    const limit = (await this.limits(walletId)).find((row) => row.symbol === symbol);
    if (!limit) throw new Error(`limit of ${symbol} was not stored`);
    return limit;
  }

  async limits(walletId: string): Promise<WalletLimit[]> {
    await this.find(walletId);
    return this.database.query<WalletLimit[]>(
      `select symbol, max_single::text as "maxSingle", max_daily::text as "maxDaily" from wallet_limits where wallet_id = $1 order by symbol`,
      [walletId],
    );
  }

  async clearLimit(walletId: string, symbol: string, reason?: string): Promise<void> {
    const wallet = await this.find(walletId);
    const detail = { symbol, max_single: null, max_daily: null, ...withReason(reason) };
    await auditedOperation(this.database, { action: 'wallet.limit_changed', ...about(wallet), detail }, (manager) =>
      manager.query(`delete from wallet_limits where wallet_id = $1 and symbol = $2`, [walletId, symbol]),
    );
  }

  /** Of one client, or of all but the house, newest first. */
  listAccounts({ clientId, walletId, limit }: { clientId?: string; walletId?: string; limit: number }): Promise<AccountEntity[]> {
    if (walletId !== undefined && !isUuid(walletId)) throw notFound(`wallet ${walletId}`);
    return this.database.manager.find(AccountEntity, {
      where: { clientId: clientId ?? Not(houseClientId), ...(walletId !== undefined && { walletId }) },
      order: { accountId: 'DESC' },
      take: limit,
    });
  }

  async setAccountStatus(accountId: string, status: AccountEntity['status'], reason?: string): Promise<AccountEntity> {
    const account = isUuid(accountId) ? await this.database.manager.findOneBy(AccountEntity, { accountId }) : null;
    if (!account) throw notFound(`account ${accountId}`);
    await auditedOperation(
      this.database,
      {
        action: status === 'ACTIVE' ? 'account.enabled' : 'account.disabled',
        clientId: account.clientId,
        subject: { type: 'account', id: account.accountId },
        detail: { before: account.status, ...withReason(reason) },
      },
      (manager) => manager.update(AccountEntity, { accountId }, { status }),
    );
    return { ...account, status };
  }
}

const about = ({ clientId, walletId }: WalletEntity) => ({ clientId, subject: { type: 'wallet', id: walletId } });

function parseLimit(option: string, text: string | undefined): string | null {
  if (text === undefined || text === 'none') return null;
  if (!/^\d{1,60}(\.\d{1,36})?$/.test(text)) throw invalidParameter(option, 'must be an amount such as 1000 or 0.5, or none');
  return text;
}
