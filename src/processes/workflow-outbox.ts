import type { DataSource } from 'typeorm';
import type { Deliveries } from '../outbox/outbox';
import { belowStoredTrace } from '../outbox/request-traces';
import type { Config } from '../platform/config';
import type { Logger } from '../platform/logging';
import { transferDeliveries } from '../transfers/start/deliveries';
import type { StartLimits, StartLimitSettings } from '../transfers/start/start-limits';
import type { TransferWorkflows } from '../transfers/start/workflows';
import type { GenerationLimits, GenerationLimitSettings } from '../wallets/generation-limits';
import type { KeyGeneration } from '../wallets/key-generation';

export interface DeliveryDependencies {
  database: DataSource;
  workflows: TransferWorkflows;
  keyGeneration: KeyGeneration;
  starts: StartLimits;
  generations: GenerationLimits;
  log: Logger;
}

/** How the messages of every kind are delivered: the same in the API and in the worker. */
export const createDeliveries = (deps: DeliveryDependencies): Deliveries => ({
  ...transferDeliveries(deps),
  start_key_generation: async ({ subjectId: walletId, clientId }) => {
    if (!(await deps.generations.isNext(deps.database.manager, walletId))) return 'later';
    await belowStoredTrace(deps.database, walletId, () => deps.keyGeneration.start({ walletId, clientId }));
    return 'delivered';
  },
});

export const startLimitVariables = ['MAX_TRANSFERS_IN_FLIGHT', 'MAX_PENDING_STARTS', 'MAX_PENDING_STARTS_PER_CLIENT'] as const;

export const toStartLimits = (config: Config<(typeof startLimitVariables)[number]>): StartLimitSettings => ({
  maxInFlight: config.MAX_TRANSFERS_IN_FLIGHT,
  maxPending: config.MAX_PENDING_STARTS,
  maxPendingPerClient: config.MAX_PENDING_STARTS_PER_CLIENT,
});

export const generationLimitVariables = [
  'MAX_PENDING_WALLETS',
  'MAX_PENDING_WALLETS_PER_CLIENT',
  'MAX_KEY_GENERATIONS_IN_FLIGHT',
] as const;

export const toGenerationLimits = (config: Config<(typeof generationLimitVariables)[number]>): GenerationLimitSettings => ({
  maxPending: config.MAX_PENDING_WALLETS,
  maxPendingPerClient: config.MAX_PENDING_WALLETS_PER_CLIENT,
  maxInFlight: config.MAX_KEY_GENERATIONS_IN_FLIGHT,
});
