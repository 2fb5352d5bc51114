import { Counter, Gauge, Histogram } from 'prom-client';
import { metrics } from '../platform/metrics';

/**
 * What is read from the database. Every worker shows the same values: rules and panels take the maximum over them.
 * Ages are in seconds, by the clock of the database.
 */

const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> =>
  new Gauge({ name: `gateway_${name}`, help, labelNames, registers: [metrics] });

const forAlerts = 'A float, for alerts and panels only: what is owed is in the ledger';

export const openTransactions = gauge('transactions_open', 'Transactions that have not ended, by type and state', [
  'chain',
  'type',
  'status',
]);
export const oldestOpen = gauge(
  'transactions_oldest_open_age_seconds',
  'Age of the oldest transaction of a type in a state, since it was accepted; 0 without one',
  ['chain', 'type', 'status'],
);
export const parkedTransactions = gauge('transactions_parked', 'Transactions in NEEDS_ATTENTION, by the code of why', [
  'chain',
  'type',
  'failure_code',
]);
export const oldestParked = gauge(
  'transactions_parked_oldest_age_seconds',
  'Time since the first of these was parked, whatever it was parked for then',
  ['chain', 'type', 'failure_code'],
);

export const approvalsExpiring = gauge(
  'approvals_expiring',
  'Transfers that wait for an approval and have less than an hour left, or less than a quarter of the time that they have in all',
  ['chain'],
);

export const transactionsWithoutWorkflow = gauge(
  'transactions_without_workflow',
  'Open transactions whose workflow is not running, by how it has closed; missing: Temporal knows none. At most 10000 are counted',
  ['chain', 'type', 'reason'],
);

export const lockedAmount = gauge(
  'locked_amount',
  `What open transactions hold of their accounts, amounts and fee bounds, in display units of the asset. ${forAlerts}`,
  ['chain', 'asset'],
);
export const lockedHolds = gauge('locked_holds', 'Transactions that hold an amount of an asset', ['chain', 'asset']);
export const oldestHold = gauge('locked_oldest_hold_age_seconds', 'Age of the oldest hold of an asset; 0 without one', [
  'chain',
  'asset',
]);

export const broadcastsNotIncluded = gauge(
  'broadcasts_not_included',
  'Transactions that were sent to a chain and are in no block',
  ['chain'],
);
export const oldestBroadcast = gauge(
  'broadcasts_not_included_oldest_age_seconds',
  'Age of the oldest first broadcast of a transaction that is in no block; 0 without one',
  ['chain'],
);

export const headBlock = gauge('chain_head_block', 'Newest block that the follower has seen', ['chain']);
export const followerBehind = gauge('chain_follower_behind_blocks', 'Blocks up to the head that the follower has not scanned', [
  'chain',
]);
export const followerIdle = gauge(
  'chain_follower_idle_seconds',
  'Time since the follower has last stored how far it is: a chain without new blocks, one that cannot be read, or a follower that has stopped',
  ['chain'],
);
export const chainBlockTime = gauge('chain_block_time_seconds', 'Usual time between two blocks, from the registry', ['chain']);

export const outboxMessages = gauge(
  'outbox_messages',
  'Messages to workflows that are not delivered; those of postponed ones wait for another transfer',
  ['kind', 'chain', 'postponed'],
);
export const oldestMessage = gauge('outbox_oldest_age_seconds', 'Age of the oldest such message; 0 without one', [
  'kind',
  'chain',
  'postponed',
]);

export const pendingDeliveries = gauge(
  'webhook_deliveries_pending',
  'Deliveries of webhooks that have not ended, retries included; at most 100000 are counted',
);
export const undispatched = gauge(
  'webhook_deliveries_undispatched',
  'Deliveries of which the dispatcher has not taken notice; at most 100000 are counted',
);
export const oldestUndispatched = gauge(
  'webhook_undispatched_oldest_age_seconds',
  'Age of the oldest such delivery; 0 without one',
);

export const freePooledKeys = gauge('key_pool_free', 'Keys that wait for wallets');
export const keyPoolSize = gauge('key_pool_size', 'Keys that may wait for wallets (KEY_POOL_SIZE); 0: there is no pool');

export const collectionDuration = new Histogram({
  name: 'gateway_collection_duration_seconds',
  help: 'Duration of reading metrics from the database',
  labelNames: ['collection'] as const,
  buckets: [0.005, 0.025, 0.1, 0.25, 1, 2.5, 5],
  registers: [metrics],
});
export const collectionFailures = new Counter({
  name: 'gateway_collection_failures_total',
  help: 'Times that metrics could not be read from the database',
  labelNames: ['collection'] as const,
  registers: [metrics],
});
