import type { DataSource, EntityManager } from 'typeorm';
import type { ChainFamily } from '../chains/types';
import type { LimitOffset } from '../http/pagination';
import { isUuid } from '../platform/ids';

/** An asset as the client sees it: a ledger account it has added, or one of a native coin that holds a balance. */
export interface AssetRow {
  assetId: string;
  accountId: string;
  walletId: string;
  clientId: string;
  chain: string;
  accountNetwork: string;
  family: ChainFamily;
  symbol: string;
  decimals: number;
  contractAddress: string | null;
  /** Atomic units. */
  available: bigint;
  /** Atomic units. */
  locked: bigint;
  isActive: boolean;
  createdAt: Date;
}

interface RawAsset {
  ledger_account_id: string;
  account_id: string;
  wallet_id: string;
  client_id: string;
  chain: string;
  network: string;
  family: string;
  symbol: string;
  decimals: number;
  contract_address: string | null;
  available: string;
  locked: string;
  is_active: boolean;
  created_at: Date;
}

const visible = /* sql */ `
  from ledger_accounts l
  join accounts c on c.account_id = l.account_id
  left join assets a on a.asset_id = l.ledger_account_id
 where l.client_id = $1
   and (a.asset_id is not null or (l.contract_address is null and l.available + l.locked > 0))`;
const columns = /* sql */ `l.ledger_account_id, l.account_id, l.wallet_id, l.client_id, l.chain, c.network, c.family, l.symbol, l.decimals,
  l.contract_address, l.available::text, l.locked::text, coalesce(a.is_active, true) as is_active,
  coalesce(a.created_at, l.created_at) as created_at`;

/** Assets of one client at a time. */
export class AssetRepository {
  constructor(private readonly database: DataSource) {}

  async find(clientId: string, assetId: string): Promise<AssetRow | null> {
    if (!isUuid(assetId)) return null;
    return this.one(`select ${columns} ${visible} and l.ledger_account_id = $2`, [clientId, assetId]);
  }

  async list(clientId: string, accountId: string | undefined, { limit, offset }: LimitOffset): Promise<[AssetRow[], number]> {
    if (accountId !== undefined && !isUuid(accountId)) return [[], 0];
    const only = accountId === undefined ? '' : 'and l.account_id = $2';
    const parameters = accountId === undefined ? [clientId] : [clientId, accountId];
    const [rows, [count]] = await Promise.all([
      this.database.query<RawAsset[]>(
        `select ${columns} ${visible} ${only} order by l.ledger_account_id desc limit ${limit} offset ${offset}`,
        parameters,
      ),
      this.database.query<{ total: number }[]>(`select count(*)::integer as total ${visible} ${only}`, parameters),
    ]);
    return [rows.map(fromRaw), count?.total ?? 0];
  }

  /** Makes a ledger account a visible asset. Returns when it was added and whether this call added it. */
  async add(
    manager: EntityManager,
    asset: { assetId: string; accountId: string; walletId: string; clientId: string },
  ): Promise<{ isNew: boolean; createdAt: Date }> {
    const parameters = [asset.assetId, asset.accountId, asset.walletId, asset.clientId];
    const [added] = await manager.query<{ created_at: Date }[]>(
      `insert into assets (asset_id, account_id, wallet_id, client_id) values ($1, $2, $3, $4) on conflict (asset_id) do nothing returning created_at`,
      parameters,
    );
    if (added) return { isNew: true, createdAt: added.created_at };
    const [earlier] = await manager.query<{ created_at: Date }[]>(`select created_at from assets where asset_id = $1`, [
      asset.assetId,
    ]);
    if (!earlier) throw new Error(`asset ${asset.assetId} was neither found nor inserted`);
    return { isNew: false, createdAt: earlier.created_at };
  }

  private async one(sql: string, parameters: string[]): Promise<AssetRow | null> {
    const [row] = await this.database.query<RawAsset[]>(sql, parameters);
    return row ? fromRaw(row) : null;
  }
}

const fromRaw = (row: RawAsset): AssetRow => ({
  assetId: row.ledger_account_id,
  accountId: row.account_id,
  walletId: row.wallet_id,
  clientId: row.client_id,
  chain: row.chain,
  accountNetwork: row.network,
  family: row.family,
  symbol: row.symbol,
  decimals: row.decimals,
  contractAddress: row.contract_address,
  available: BigInt(row.available),
  locked: BigInt(row.locked),
  isActive: row.is_active,
  createdAt: row.created_at,
});
