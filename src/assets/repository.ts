import type { DataSource, EntityManager } from 'typeorm';
import type { ChainFamily } from '../chains/types';
import { findPage, type ListedRows, type ListedTable, toPage } from '../http/list-page';
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

const columns = /* sql */ `t.ledger_account_id, t.account_id, t.wallet_id, t.client_id, t.chain, c.network, c.family, t.symbol, t.decimals,
  t.contract_address, t.available::text, t.locked::text, coalesce(a.is_active, true) as is_active,
  coalesce(a.created_at, t.created_at) as created_at`;
const joins = /* sql */ `left join accounts c on c.account_id = t.account_id left join assets a on a.asset_id = t.ledger_account_id`;
const listed: ListedTable = {
  ...{ table: 'ledger_accounts', condition: 'is_shown', orderedBy: 'ledger_account_id' },
  ...{ select: columns, joins },
};
const shown = /* sql */ `select ${columns} from ledger_accounts t ${joins} where t.client_id = $1 and t.is_shown`;

/** Assets of one client at a time. */
export class AssetRepository {
  constructor(private readonly database: DataSource) {}

  async find(clientId: string, assetId: string): Promise<AssetRow | null> {
    if (!isUuid(assetId)) return null;
    const [row] = await this.database.query<RawAsset[]>(`${shown} and t.ledger_account_id = $2`, [clientId, assetId]);
    return row ? fromRaw(row) : null;
  }

  /** Of an account all are read: it has as many at most as its chains have tokens, some dozens. */
  async list(clientId: string, accountId: string | undefined, page: LimitOffset): Promise<[AssetRow[], number]> {
    if (accountId === undefined) {
      const counted = { list: 'assets', subjectId: clientId } as const;
      const ofClient: ListedRows<'client_id'> = { where: [['client_id', clientId]] };
      const [rows, total] = await findPage(this.database.manager, listed, ofClient, counted, page);
      return [rows.map((row) => fromRaw(row as unknown as RawAsset)), total];
    }
    if (!isUuid(accountId)) return [[], 0];
    const ofAccount = `${shown} and t.account_id = $2 order by t.ledger_account_id desc`;
    const [rows, total] = toPage(await this.database.query<RawAsset[]>(ofAccount, [clientId, accountId]), page);
    return [rows.map(fromRaw), total];
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
