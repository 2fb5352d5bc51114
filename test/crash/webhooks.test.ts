import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { ApiClient } from '../stack/api-client';
import { newId } from '../../src/platform/ids';
import { randomAddress } from '../factories';
import { type Receiver, startReceiver, status, verify } from '../integration/webhooks/receiver';
import { killProcess, sharedWallet, stack, waitFor } from '../stack/client';
import { openDatabase } from '../stack/database';
import { fundedAccount, transactionWhen } from '../e2e/support';
import { forgetUsers, newUser, newWebhook, unsubscribe } from './users';

const asked = 150;
const changed = 50;
const transferred = 10;
const kills = ['worker', 'api', 'worker', 'api', 'worker', 'api'];

let database: DataSource;
let receiver: Receiver;
/** Endpoint of the shared account's client, which also has events of other tests. */
let ofTransfers: Receiver;
beforeAll(async () => {
  database = await openDatabase(stack().postgres.url, { poolSize: 5 });
  [receiver, ofTransfers] = await Promise.all([startReceiver(), startReceiver()]);
});
afterAll(async () => {
  await unsubscribe(database, ofTransfers.url);
  await forgetUsers(database);
  await Promise.all([receiver.close(), ofTransfers.close()]);
  await database.destroy();
});

/** Repeats with the same key until there is an answer, as a client would. */
function insist<T>(api: ApiClient, url: string, body?: object): Promise<T> {
  const headers = { 'idempotency-key': randomUUID() };
  return waitFor(
    async () => {
      const answer = await api.request<T>('POST', url, { headers, body });
      if (answer.status >= 300) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    { timeoutMs: 90_000, intervalMs: 300 },
  );
}

test(`kill -9 of worker and api during ${asked + changed} events and ${transferred} transfers: each arrives at least once, ids stay, none is invented`, async () => {
  const user = await newUser(database);
  const { api, clientId, userId } = user;
  const { webhookId, secret } = await newWebhook(user, receiver.url, null);
  const transfers = await prepareTransfers();
  // the receiver fails sometimes, but only for events that are new to it
  const isNew = (id: string) => receiver.received.filter((one) => one.id === id).length === 1;
  for (let count = 0; count < 120; count += 1)
    receiver.replies.push((response, one) => status(count % 12 === 11 && isNew(one.id) ? 500 : 200)(response, one));

  /** Number of received events at each kill. */
  const atKill: number[] = [];
  const arrivedSince = (count: number) => waitFor(() => receiver.received.length > count, { timeoutMs: 180_000, intervalMs: 20 });
  const killAll = async () => {
    for (const part of kills) {
      await arrivedSince(atKill.at(-1) ?? 0);
      atKill.push(receiver.received.length);
      await killProcess(part);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
    }
  };
  let begun = 0;
  const answered: { event_id: string; subject_id: string }[] = [];
  const askAll = async () => {
    while (begun < asked) {
      const due = (begun += 1);
      // a part of the events is due at each kill, so that events arrive around every kill
      const isDue = () => due * (kills.length + 1) <= asked * (atKill.length + 1);
      await waitFor(isDue, { timeoutMs: 300_000, intervalMs: 20 });
      answered.push(await insist(api, `/webhooks/${webhookId}/test`));
    }
  };
  const sendAll = () => Promise.all([askAll(), askAll(), askAll(), askAll(), changeFactors(clientId, userId)]);
  const [txIds] = await Promise.all([transfers.submitAll(), sendAll(), killAll()]);

  const written = await waitFor(
    async () => {
      const rows = await database.query<{ event_id: string; status: string; attempts: number; next_attempt_at: Date }[]>(
        'select event_id, status, attempts, next_attempt_at, undispatched_since from webhook_deliveries where webhook_id = $1',
        [webhookId],
      );
      const open = rows.filter((row) => row.status !== 'delivered');
      if (open.length > 0) throw new Error(`${open.length} are not delivered: ${JSON.stringify(open.slice(0, 5))}`);
      return rows.map(({ event_id }) => event_id);
    },
    // on two cores beside other stacks they take minutes
    { timeoutMs: 240_000, intervalMs: 500 },
  );
  expect(written).toHaveLength(asked + changed);
  const bodies = new Map<string, Set<string>>();
  for (const one of receiver.received) {
    verify(secret, one);
    bodies.set(one.id, (bodies.get(one.id) ?? new Set()).add(one.body));
  }
  expect([...bodies.keys()].sort()).toEqual([...written].sort());
  expect(answered.every(({ event_id }) => bodies.has(event_id))).toBe(true);
  expect([...bodies.values()].every((versions) => versions.size === 1)).toBe(true);

  // each kill happened while events were arriving: some since the one before, some after the last
  const marks = [0, ...atKill, receiver.received.length];
  expect(atKill).toHaveLength(kills.length);
  expect(marks.slice(1).every((mark, index) => mark > Number(marks[index]))).toBe(true);
  await transfers.expectComplete(txIds);
}, 1_200_000);

/** Real transfers of the shared wallet, with a webhook of their own. */
async function prepareTransfers() {
  const wallet = await sharedWallet();
  const account = await fundedAccount('ethereum', { ETH: '1' });
  const user = await newUser(database, wallet.client_id);
  const { secret } = await newWebhook(user, ofTransfers.url, ['transaction.created', 'transaction.updated']);
  const body = {
    from_address: account.address,
    to_address: randomAddress(),
    chain: 'ethereum',
    token_symbol: 'ETH',
    amount: '0.01',
  };

  const submitAll = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (let count = 0; count < transferred; count += 1)
      ids.push((await insist<{ tx_id: string }>(user.api, '/transfer', body)).tx_id);
    return ids;
  };

  /** Each state change of each transfer has come, and no other. */
  const expectComplete = async (txIds: string[]): Promise<void> => {
    expect(new Set(txIds).size).toBe(transferred);
    await Promise.all(txIds.map((txId) => transactionWhen(txId, ['CONFIRMED'], 120_000)));
    const changesOf = (txId: string) =>
      database.query<{ status: string }[]>('select status from transaction_events where tx_id = $1 order by seq', [txId]);
    const arrived = (txId: string) => {
      const changes = new Map<number, string>();
      for (const { payload } of ofTransfers.received)
        if (payload.data.tx_id === txId) changes.set(Number(payload.data.sequence), String(payload.data.status));
      return [...changes].sort(([a], [b]) => a - b);
    };
    for (const txId of txIds) {
      const written = (await changesOf(txId)).map(({ status: state }, sequence) => [sequence, state]);
      expect(written.length).toBeGreaterThanOrEqual(4);
      await waitFor(() => arrived(txId).length >= written.length, { timeoutMs: 240_000 });
      expect(arrived(txId)).toEqual(written);
    }
    for (const one of ofTransfers.received) verify(secret, one);
  };
  return { submitAll, expectComplete };
}

/** State changes as the gateway makes them; every sixth is rolled back and must have no event. */
async function changeFactors(clientId: string, userId: string): Promise<void> {
  for (let count = 0; count < changed + changed / 5; count += 1) {
    const rolledBack = count % 6 === 5;
    const change = database.transaction(async (manager) => {
      await manager.query(
        `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, added_by)
         values ($1, $2, 'BLACKLIST', 'ethereum', $3, $3, $4)`,
        [newId(), clientId, randomAddress(), userId],
      );
      if (rolledBack) throw new Error('rolled back');
    });
    await (rolledBack ? expect(change).rejects.toThrow('rolled back') : change);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
