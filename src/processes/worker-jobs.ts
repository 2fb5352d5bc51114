import type { Client } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import { getFamily } from '../chains/families';
import type { ChainRegistry } from '../chains/registry';
import { foldListCounts } from '../http/list-totals';
import { OutboxDispatcher } from '../outbox/dispatcher';
import type { WorkflowOutbox } from '../outbox/outbox';
import type { Logger } from '../platform/logging';
import { dispatchBlacklists } from '../screening/distribution';
import { sendRequestedWithdrawals } from '../settlers/withdrawals/send';
import { expireApprovals } from '../transfers/screen/approval-expiry';
import type { keyGenerationOn } from '../wallets/key-generation';
import { fillKeyPool } from '../wallets/key-pool';
import { restartLostGenerations } from '../wallets/lost-generations';
import type { PeriodicJob } from './periodic-jobs';

interface Parts {
  database: DataSource;
  temporal: Client;
  registry: ChainRegistry;
  deliveries: ConstructorParameters<typeof OutboxDispatcher>[1];
  outbox: WorkflowOutbox;
  keyGeneration: ReturnType<typeof keyGenerationOn>;
  /** Keys that the signing nodes generate ahead. */
  keyPoolSize: number;
  log: Logger;
}

/** What a worker does from time to time beside its workflows and activities. */
export function workerJobs(parts: Parts): PeriodicJob[] {
  const { database, temporal, registry, deliveries, outbox, keyGeneration, keyPoolSize, log } = parts;
  const dispatcher = new OutboxDispatcher(database, deliveries, log);
  return [
    { name: 'dispatch blacklists', everyMs: 1_000, run: () => dispatchBlacklists(database, temporal, log) },
    { name: 'dispatch the outbox of workflows', everyMs: 200, run: () => dispatcher.dispatch() },
    { name: 'start lost key generations again', everyMs: 60_000, run: () => restartLostGenerations(database, keyGeneration) },
    { name: 'fill the pool of keys', everyMs: 5_000, run: () => fillKeyPool(database, temporal, keyPoolSize) },
    { name: 'reject transfers that nobody has approved in time', everyMs: 1_000, run: () => expireApprovals(database, outbox) },
    {
      name: 'send what is withdrawn from settlers',
      everyMs: 1_000,
      run: () => sendRequestedWithdrawals({ database, registry, getFamily }),
    },
    { name: 'add up changes of list counts', everyMs: 10_000, run: () => foldListCounts(database) },
  ];
}
