import { transferWorkflowId } from '../../src/messages/workflow-ids';
import { gatewayQuery } from '../adversary/processes';
import { recordDifferences } from '../adversary/records';
import { TemporalClient } from '../adversary/temporal-client';
import { ledgerDifferences } from '../e2e/ledger';
import { ends, fundedAccount, transactionWhen } from '../e2e/support';
import { randomAddress } from '../factories';
import { killProcess, waitFor } from '../stack/client';
import { submit } from './submit';
import { Twin } from './twin';

/** Two authorisers at a time, of which each is killed and started again while transfers begin: they order as one does. */

const burst = { count: 40, inFlight: 20 };
/** Transfers that are sent after the others, one at a time, until both authorisers have ordered something. */
const maxMore = 20;

const second = new Twin('authoriser');
let temporal: TemporalClient;
beforeAll(async () => {
  temporal = await TemporalClient.connect();
  await second.start();
});
afterAll(async () => {
  await second.kill();
  await temporal.close();
  expect(await ledgerDifferences()).toEqual([]);
  expect(await recordDifferences()).toEqual([]);
});

/** Process ids of the authorisers that have begun the attempts of a transfer. */
async function authorisersOf(txId: string): Promise<number[]> {
  const { events } = await temporal.client.workflow.getHandle(transferWorkflowId(txId)).fetchHistory();
  const scheduled = new Set(
    (events ?? []).flatMap(({ eventId, activityTaskScheduledEventAttributes: scheduledAs }) =>
      scheduledAs?.activityType?.name === 'beginSigning' ? [String(eventId)] : [],
    ),
  );
  return (events ?? []).flatMap(({ activityTaskStartedEventAttributes: started }) =>
    started && scheduled.has(String(started.scheduledEventId)) ? [Number.parseInt(started.identity ?? '', 10)] : [],
  );
}

test(`${burst.count} transfers: one order for each attempt, no nonce left out, and both have ordered`, async () => {
  const account = await fundedAccount('ethereum', { ETH: '5' });
  const txIds: string[] = [];
  const send = async () => void txIds.push(...(await submit(account, randomAddress(), '0.0001')).txIds);
  let left = burst.count;
  const sendInTurn = async () => {
    for (; left > 0; left -= 1) await send();
  };
  const ordered = (least: number) =>
    waitFor(
      async () => {
        const rows = await gatewayQuery(
          'select from transfer_attempts a join transactions t using (tx_id) where t.account_id = $1',
          [account.account_id],
        );
        return rows.length >= least;
      },
      { timeoutMs: 240_000, intervalMs: 50 },
    );
  const killInTurn = async () => {
    await ordered(5);
    await killProcess('authoriser');
    await ordered(15);
    await second.kill();
    await second.start();
  };
  await Promise.all([killInTurn(), ...Array.from({ length: burst.inFlight }, sendInTurn)]);

  const statuses = new Set<string>();
  const begunBy = new Set<boolean>();
  for (let at = 0; at < txIds.length || (begunBy.size < 2 && at < burst.count + maxMore); at += 1) {
    if (at >= txIds.length) await send();
    const txId = txIds[at] ?? '';
    statuses.add((await transactionWhen(txId, ends, 240_000)).status as string);
    for (const pid of await authorisersOf(txId)) begunBy.add(second.pids.includes(pid));
  }
  expect(statuses).toEqual(new Set(['CONFIRMED']));
  expect(begunBy).toEqual(new Set([true, false]));

  const orders = await gatewayQuery<{ attempt: number; orders: number }>(
    `select a.attempt, count(o.jti)::int as orders from transfer_attempts a left join orders o using (tx_id, attempt)
      where a.tx_id = any($1::uuid[]) group by a.tx_id, a.attempt`,
    [txIds],
  );
  expect(orders.length).toBeGreaterThanOrEqual(txIds.length);
  expect(orders.filter((row) => row.orders !== 1)).toEqual([]);
  const nonces = await gatewayQuery<{ nonce: number }>(
    `select ordinal::int as nonce from reservations where chain = 'ethereum' and owner = lower($1) order by ordinal`,
    [account.address],
  );
  expect(nonces.map(({ nonce }) => nonce)).toEqual(Array.from({ length: txIds.length }, (_, at) => at));
}, 1_200_000);
