import type { DataSource } from 'typeorm';
import type { FamilyAdapter, FeePolicy } from '../chains/adapter';
import type { ChainRegistry } from '../chains/registry';
import type { ChainFamily } from '../chains/types';
import type { AlertLog } from '../ledger/accounts';
import type { ScreeningRule } from '../screening/rules';

/** What the database steps of a transfer are given. */
export interface StepDependencies {
  database: DataSource;
  registry: ChainRegistry;
  getAdapter: (family: ChainFamily) => FamilyAdapter;
  getFeeStrategy: (family: ChainFamily) => FeePolicy;
  /** In the order they are asked. */
  screeningRules: ScreeningRule[];
  /** How long a transfer waits for somebody to approve it. */
  approvalWaitSeconds: number;
  log: AlertLog;
}
