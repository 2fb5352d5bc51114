import type { DataSource } from 'typeorm';
import type { Deliveries } from '../outbox/outbox';
import type { Config } from '../platform/config';
import type { Logger } from '../platform/logging';
import { transferDeliveries } from '../transfers/deliveries';
import type { StartLimits, StartLimitSettings } from '../transfers/start-limits';
import type { TransferWorkflows } from '../transfers/workflows';
import type { KeyGeneration } from '../wallets/key-generation';

export interface DeliveryDependencies {
  database: DataSource;
  workflows: TransferWorkflows;
  keyGeneration: KeyGeneration;
  starts: StartLimits;
  log: Logger;
}

/** How the messages of every kind are delivered: the same in the API and in the worker. */
export const createDeliveries = (deps: DeliveryDependencies): Deliveries => ({
  ...transferDeliveries(deps),
  start_key_generation: async ({ subjectId: walletId, clientId }) => {
    await deps.keyGeneration.start({ walletId, clientId });
    return 'delivered';
  },
});

export const startLimitVariables = ['MAX_TRANSFERS_IN_FLIGHT', 'MAX_PENDING_STARTS', 'MAX_PENDING_STARTS_PER_CLIENT'] as const;

export const toStartLimits = (config: Config<(typeof startLimitVariables)[number]>): StartLimitSettings => ({
  maxInFlight: config.MAX_TRANSFERS_IN_FLIGHT,
  maxPending: config.MAX_PENDING_STARTS,
  maxPendingPerClient: config.MAX_PENDING_STARTS_PER_CLIENT,
});
