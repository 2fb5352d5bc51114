import type { DataSource } from 'typeorm';
import type { ChainClient } from '../chains/chain-client';
import type { GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import type { NodeKeys } from '../mpc/identity';
import type { Alarms } from '../platform/alarms';
import type { Logger } from '../platform/logging';
import type { Orders } from '../orders/orders';
import type { WorkflowOutbox } from '../outbox/outbox';
import type { GetSignedType } from '../transactions/signed-type';
import type { FindActIdentity } from './operate/act-identity';

/** Dependencies of the database steps of a transfer. */
export interface TransferDependencies {
  database: DataSource;
  registry: ChainRegistry;
  getFamily: GetFamily;
  getSignedType: GetSignedType;
  /** How long a transfer waits for its approval. */
  approvalWaitSeconds: number;
  /** Starts what a step has made, directly after its commit; absent: the dispatcher does. */
  outbox?: Pick<WorkflowOutbox, 'deliverSoon'>;
  /** Of acts that are sent to Temporal itself; absent: nobody knows. */
  findActIdentity?: FindActIdentity;
  log: Pick<Logger, 'error' | 'warn'>;
}

/** Dependencies of the authoriser's steps. */
export interface AuthoriserDependencies {
  database: DataSource;
  registry: ChainRegistry;
  getFamily: GetFamily;
  getSignedType: GetSignedType;
  orders: Orders;
  /** The signing nodes' identities, from the authoriser's own configuration. */
  nodeKeys: NodeKeys;
  alarms: Alarms;
}

/** Dependencies of the steps that call a chain. */
export interface ChainDependencies {
  database: DataSource;
  clients: ReadonlyMap<string, ChainClient>;
  getSignedType: GetSignedType;
  logger: Logger;
}

/** Dependencies of asking a chain what became of a transfer. */
export interface ObserveDependencies extends ChainDependencies {
  alarms: Alarms;
}

/** @throws Error for a chain that is not enabled. */
export function getClient({ clients }: Pick<ChainDependencies, 'clients'>, chain: string): ChainClient {
  const client = clients.get(chain);
  if (!client) throw new Error(`no client for ${chain}`);
  return client;
}
