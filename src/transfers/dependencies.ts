import type { DataSource } from 'typeorm';
import type { ChainClient, GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import type { AlertLog } from '../ledger/accounts';
import type { Logger } from '../platform/logging';
import type { Orders } from '../orders/orders';

/** What the database steps of a transfer are given. */
export interface TransferDependencies {
  database: DataSource;
  registry: ChainRegistry;
  getFamily: GetFamily;
  /** How long a transfer waits for somebody to approve it. */
  approvalWaitSeconds: number;
  log: AlertLog;
}

/** What the authoriser's steps are given. */
export interface AuthoriserDependencies {
  database: DataSource;
  registry: ChainRegistry;
  getFamily: GetFamily;
  orders: Orders;
}

/** What the steps that ask a chain are given. */
export interface ChainDependencies {
  database: DataSource;
  clients: ReadonlyMap<string, ChainClient>;
  logger: Logger;
}

/** @throws Error for a chain that is not enabled. */
export function getClient({ clients }: Pick<ChainDependencies, 'clients'>, chain: string): ChainClient {
  const client = clients.get(chain);
  if (!client) throw new Error(`no client for ${chain}`);
  return client;
}
