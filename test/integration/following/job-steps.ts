import { collectFollowers, collectOutbox } from '../../../src/monitoring/backlogs';
import { collectBroadcasts, collectHeld, collectOpen, collectParked } from '../../../src/monitoring/open-transactions';
import { OutboxDispatcher } from '../../../src/outbox/dispatcher';
import { type Deliveries, enqueue, findBacklogs } from '../../../src/outbox/outbox';
import { getFamily } from '../../../src/chains/families';
import { dispatchBlacklists } from '../../../src/screening/distribution';
import { reportSettlers } from '../../../src/settlers/report';
import { sendRequestedWithdrawals } from '../../../src/settlers/withdrawals/send';
import { takeExpired } from '../../../src/transfers/screen/approval-expiry';
import { claimRedoRequests } from '../../../src/transfers/redo/requests';
import { findStarted, findUnended, lowestId } from '../../../src/transfers/start/lost-workflows';
import { StartLimits } from '../../../src/transfers/start/start-limits';
import { restartLostGenerations } from '../../../src/wallets/lost-generations';
import { registry } from '../ledger/fixture';
import { silent } from './follower-steps';
import { idOf, million } from './plan-rows';
import type { Step } from './sent-statements';

const txId = idOf('transaction', million - 101);

/** One round of the dispatcher; every message ends in the same way. */
const dispatch =
  (deliver: Deliveries['start_transfer']): Step =>
  (_, database) => {
    const deliveries = {
      ...{ start_transfer: deliver, start_key_generation: deliver },
      ...{ transfer_approved: deliver, transfer_ended: deliver },
    };
    return new OutboxDispatcher(database, deliveries, silent).dispatch();
  };

/** What processes do from time to time, with how many statements each step sends at least: one that ends early does not go unnoticed. */
export const jobSteps: [name: string, least: number, step: Step][] = [
  ['overdue approvals', 1, (manager) => takeExpired(manager, [])],
  [
    'transfers without a workflow',
    2,
    async (manager) => {
      await findStarted(manager, lowestId, 100);
      await findUnended(manager, [txId]);
    },
  ],
  ['requests to redo', 1, (_, database) => claimRedoRequests(database, 10)],
  ['lost key generations', 1, (_, database) => restartLostGenerations(database, {} as never)],
  ['withdrawals of settlers', 1, (_, database) => sendRequestedWithdrawals({ database, registry, getFamily })],
  ['changed blacklists', 1, (_, database) => dispatchBlacklists(database, {} as never, silent)],
  ['settlers', 1, (manager) => reportSettlers(manager, getFamily)],
  [
    'room for starts',
    4,
    async (manager) => {
      const none = () => Promise.resolve(new Map<string, number>());
      const limits = new StartLimits({ maxInFlight: 1, maxPending: 1_000_000, maxPendingPerClient: 1_000_000 }, none);
      await limits.assertBacklogHasRoom(manager, txId);
      await limits.take(manager, 'ethereum', txId);
      await limits.isBehindParked(manager, { account_id: null, chain: 'ethereum', transaction_type: 'OUTBOUND' });
      await enqueue(manager, { kind: 'start_transfer', subjectId: txId, clientId: idOf('client', 7), chain: 'ethereum' });
    },
  ],
  ['messages that wait', 1, (manager) => findBacklogs(manager)],
  // the backlogs, then for each kind those that wait and those that are postponed, which come back
  ['dispatching messages: no room', 20, dispatch(() => Promise.resolve('later'))],
  ['dispatching messages: no room for the client', 20, dispatch(() => Promise.resolve('client_later'))],
  ['dispatching messages: postponed', 100, dispatch(() => Promise.resolve('postponed'))],
  ['dispatching messages: delivered', 100, dispatch(() => Promise.resolve('delivered'))],
  ['dispatching messages: nobody answers', 13, dispatch(() => Promise.reject(new Error('unreachable')))],
  [
    'metrics',
    6,
    async (manager) => {
      await collectOpen(manager, registry);
      await collectParked(manager);
      await collectHeld(manager, registry);
      await collectBroadcasts(manager, registry);
      await collectFollowers(manager, registry);
      await collectOutbox(manager);
    },
  ],
];
