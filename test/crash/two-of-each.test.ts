import { setTimeout as delay } from 'node:timers/promises';
import { formatUnits, parseUnits } from 'viem';
import type { DataSource } from 'typeorm';
import { ApiClient } from '../stack/api-client';
import { followChainWorkflowId, transferWorkflowId } from '../../src/messages/workflow-ids';
import { transactionStatuses } from '../../src/transactions/entity';
import { gatewayQuery } from '../adversary/processes';
import { recordDifferences } from '../adversary/records';
import { TemporalClient } from '../adversary/temporal-client';
import { gateway } from '../e2e/gateway';
import { ledgerDifferences } from '../e2e/ledger';
import { type Account, accountWith, balances, ends, fundedAccount, newAccount, transactionWhen } from '../e2e/support';
import { randomAddress } from '../factories';
import { fixtureOf, isInStack } from '../families';
import type { FamilyFixture } from '../families/fixture';
import { type Receiver, startReceiver } from '../integration/webhooks/receiver';
import { api, fund, killProcess, sharedWallet, stack, waitFor } from '../stack/client';
import { openDatabase } from '../stack/database';
import { pause, resumeAll } from '../stack/pause';
import type { CommitFault } from '../stack/postgres-proxy';
import { differingCounters } from './counters';
import { Cut, cutOutcomes } from './cuts';
import { submit } from './submit';
import { expectBalanced, onChain } from './transfer';
import { Twin } from './twin';
import { forgetUsers, newUser, newWebhook, type TestUser, unsubscribe } from './users';

/**
 * Two APIs, two workers and, for some time, two followers of one chain: each of them is killed while transfers on chains of two families, deposits,
 * approvals and webhooks are under way, never both of a kind, and what all of them need is away for some time. They do what one of each does.
 */

const amount = '0.0001';
const [ethereum, bitcoin] = [fixtureOf('ethereum'), fixtureOf('bitcoin')];
/** Of so many transfers one is on bitcoin, where the stack has it. */
const oneOnBitcoinOf = 3;
const deposits = 10;
/** The load goes on until all kills and outages are over, and has at least so many transfers and at most so many. */
const transfers = { least: 40, most: 480 };
const pauseMs = 1_500;
/** Of Postgres and of the chain's node. */
const awayMs = 5_000;
/** Before one of two followers is killed. */
const bothFollowMs = 2_000;

const twins = { api: new Twin('api'), worker: new Twin('worker') };
let temporal: TemporalClient;
let database: DataSource;
let receiver: Receiver;
let user: TestUser;
let second: ApiClient;
beforeAll(async () => {
  [temporal, database, receiver] = await Promise.all([
    TemporalClient.connect(),
    openDatabase(stack().postgres.url, { poolSize: 2 }),
    startReceiver(),
    twins.api.start(),
    twins.worker.start(),
  ]);
  user = await newUser(database, (await sharedWallet()).client_id);
  second = new ApiClient(twins.api.baseUrl, user.api.credentials);
  await newWebhook(user, receiver.url, ['transaction.created', 'transaction.updated']);
});
afterEach(() => resumeAll());
afterAll(async () => {
  await Promise.all([twins.api.kill(), twins.worker.kill()]);
  await Promise.all([unsubscribe(database, receiver.url), forgetUsers(database)]);
  await Promise.all([temporal.close(), receiver.close(), database.destroy()]);
}, 60_000);

/** Process id of the worker that follows a chain; undefined while none does. */
async function followerOf(chain: string): Promise<number | undefined> {
  const { raw } = await temporal.client.workflow.getHandle(followChainWorkflowId(chain)).describe();
  const pid = Number.parseInt(raw.pendingActivities?.[0]?.lastWorkerIdentity ?? '', 10);
  return Number.isNaN(pid) ? undefined : pid;
}

/** A worker that stands still for longer than a follower's heartbeat, and goes on when the other one follows its chain: both do. */
async function followTwice(chain: string): Promise<void> {
  const first = await waitFor(() => followerOf(chain));
  process.kill(first, 'SIGSTOP');
  try {
    await waitFor(async () => ((await followerOf(chain)) ?? first) !== first, { timeoutMs: 120_000 });
  } finally {
    process.kill(first, 'SIGCONT');
  }
  await delay(bothFollowMs);
}

/** Process ids of the workers that have carried out parts of a transfer. */
async function workersOf(txId: string): Promise<number[]> {
  const { events } = await temporal.client.workflow.getHandle(transferWorkflowId(txId)).fetchHistory();
  return (events ?? []).flatMap(({ workflowTaskStartedEventAttributes: started }) =>
    started ? [Number.parseInt(started.identity ?? '', 10)] : [],
  );
}

async function countRuns(txIds: string[]): Promise<number[]> {
  const counts = txIds.map(async (txId) => {
    const { count } = await temporal.client.workflow.count(`WorkflowId = '${transferWorkflowId(txId)}'`);
    return count;
  });
  return Promise.all(counts);
}

/**
 * Whether its workflow waits too: the row says so from its acceptance on, and a workflow that begins when no approval is needed any more waits
 * for none.
 */
async function waitsForApproval(txId: string): Promise<boolean> {
  const { body } = await api().request<{ live: { detail: string } | null }>('GET', `/transactions/${txId}`);
  return body.live?.detail.includes('approve') ?? false;
}

/** Two transfers that wait for an approval. */
async function twoWaiting(account: Account): Promise<{ approved: string; expired: string }> {
  const policy = (whitelist: string) => gateway(['client', 'policy', 'demo', '--whitelist', whitelist, '--cooling', '0']);
  expect(await policy('approve')).toMatchObject({ code: 0 });
  try {
    const [approved, expired] = [await submit(account, randomAddress(), amount), await submit(account, randomAddress(), amount)];
    for (const { txId } of [approved, expired]) await waitFor(() => waitsForApproval(txId), { timeoutMs: 90_000 });
    return { approved: approved.txId, expired: expired.txId };
  } finally {
    await policy('off');
  }
}

/** A code is good for at least so long. */
const codeMs = 25_000;

/**
 * Both APIs are asked at once, with one code, and again with the same one as long as both say that nothing was done or do not answer: never more
 * than one says yes.
 */
async function approve(txId: string): Promise<void> {
  const request = { body: { mfa_code: user.nextCode() } };
  const ask = (server: ApiClient) =>
    server
      .request('POST', `/transactions/${txId}/approve`, request)
      .catch((error: unknown) => ({ status: 0, body: String(error) }));
  const isApproved = async () => (await transactionWhen(txId, [...transactionStatuses])).approval.approved_by === user.userId;
  const asked: { status: number; body: unknown }[] = [];
  for (const until = Date.now() + codeMs; Date.now() < until; await delay(1_000)) {
    const answers = await Promise.all([user.api, second].map(ask));
    asked.push(...answers);
    const accepted = answers.filter(({ status }) => status === 200);
    expect(accepted.length).toBeLessThanOrEqual(1);
    // also by one whose answer was lost
    if (accepted.length === 1 || (await isApproved())) return;
    if (!answers.every(({ status }) => status === 503 || status === 0)) break;
  }
  throw new Error(`nobody has approved: ${JSON.stringify(asked)}`);
}

const expire = (txId: string) => gatewayQuery('update transactions set approval_expires_at = now() where tx_id = $1', [txId]);

const auditsOf = (txId: string, action: string) =>
  gatewayQuery(`select from audit_events where subject_id = $1 and action = $2`, [txId, action]);

/** Each state change of each transfer has come, under one id, whose body is always the same: an event may come more than once. */
async function expectEvents(txIds: string[]): Promise<void> {
  const rows = await gatewayQuery<{ tx_id: string; states: string[] }>(
    'select tx_id, array_agg(status order by seq) as states from transaction_events where tx_id = any($1::uuid[]) group by tx_id',
    [txIds],
  );
  expect(rows).toHaveLength(txIds.length);
  const arrived = (txId: string): unknown[] => {
    const changes = new Map<number, unknown>();
    for (const { payload } of receiver.received)
      if (payload.data.tx_id === txId) changes.set(Number(payload.data.sequence), payload.data.status);
    return [...changes].sort(([a], [b]) => a - b).map(([, status]) => status);
  };
  for (const { tx_id: txId, states } of rows) {
    // on two cores beside other stacks they take minutes
    await waitFor(() => arrived(txId).length >= states.length, { timeoutMs: 240_000 });
    expect(arrived(txId)).toEqual(states);
  }
  const [bodies, ids] = [new Map<string, string>(), new Map<string, string>()];
  for (const { id, body, payload } of receiver.received) {
    expect(bodies.get(id) ?? body).toBe(body);
    bodies.set(id, body);
    const change = `${String(payload.data.tx_id)} ${String(payload.data.sequence)}`;
    expect(ids.get(change) ?? id).toBe(id);
    ids.set(change, id);
  }
}

/** The connection of one worker, while it commits the end of a transfer. Resolves with what has become of the database transaction. */
async function cutSettling({ address }: Account, fault: CommitFault): Promise<string> {
  const cut = await Cut.install(stack().postgres.url, { gap: 'settle: settleTransfer', fault, address });
  try {
    return await cut.outcome();
  } finally {
    await cut.remove();
  }
}

test('transfers, deposits, approvals and webhooks while each of them is killed, and what they need is away: nothing is lost, and nothing happens twice', async () => {
  const [account, payee] = [await fundedAccount('ethereum', { ETH: '5' }), await newAccount('ethereum')];
  const onBitcoin = isInStack(bitcoin) ? await accountWith(bitcoin, ['1', '1']) : undefined;
  const { approved, expired } = await twoWaiting(account);

  const sent = new Map<string, { to: string; fixture: FamilyFixture }>();
  const send = async (servers: ApiClient[], fixture: FamilyFixture, from: Account): Promise<void> => {
    const to = fixture.newAddress();
    const { txIds, txId } = await submit(from, to, amount, { chain: fixture.chain, servers });
    expect([...txIds]).toEqual([txId]);
    sent.set(txId, { to, fixture });
  };
  let isOver = false;
  const isLoading = () => sent.size < transfers.least || (!isOver && sent.size < transfers.most);
  const load = async (servers: ApiClient[]) => {
    for (let count = 1; isLoading(); await delay(pauseMs), count += 1) {
      if (onBitcoin && count % oneOnBitcoinOf === 0) await send(servers, bitcoin, onBitcoin);
      else await send(servers, ethereum, account);
    }
  };
  const pay = async () => {
    for (let count = 0; count < deposits; count += 1) await fund('ethereum', 'ETH', payee.address, '0.01');
  };
  /** Some are between every two of their steps. */
  const more = async (count: number) => {
    const least = sent.size + count;
    await waitFor(() => sent.size >= least, { timeoutMs: 180_000, intervalMs: 20 });
  };
  const killInTurn = async () => {
    await more(5);
    await approve(approved);
    await Promise.all([followTwice('ethereum'), pay(), expire(expired)]);
    await killProcess('worker');
    await more(5);
    await killProcess('api');
    await more(5);
    await twins.api.kill();
    await more(3);
    await twins.api.start();
    await twins.worker.kill();
    await more(5);
    await twins.worker.start();
    await more(5);
  };
  const takeAwayInTurn = async () => {
    for (const part of ['postgres', 'chain:ethereum']) {
      pause(part);
      await delay(awayMs);
      resumeAll();
      await more(3);
    }
    for (const fault of ['never arrives', 'answer lost'] as const)
      expect(await cutSettling(account, fault)).toBe(cutOutcomes[fault]);
    await killProcess('temporal');
    await more(5);
  };
  const disturb = async () => {
    try {
      await killInTurn();
      await takeAwayInTurn();
    } finally {
      isOver = true;
    }
  };
  // all of them, also when one fails: what goes on would be in the way of the next file's transfers, of which the stack runs few at a time
  const parts = await Promise.allSettled([disturb(), load([api()]), load([second]), load([api(), second])]);
  for (const part of parts) if (part.status === 'rejected') throw part.reason;

  const txIds = [...sent.keys()];
  const workers = new Set<boolean>();
  for (const txId of txIds) {
    expect(await transactionWhen(txId, ends, 120_000)).toMatchObject({ status: 'CONFIRMED' });
    for (const pid of await workersOf(txId)) workers.add(twins.worker.pids.includes(pid));
  }
  expect(workers).toEqual(new Set([true, false]));
  for (const { to, fixture } of sent.values())
    expect(await onChain(fixture.chain, to)).toBe(parseUnits(amount, fixture.decimals));

  await transactionWhen(approved, ['CONFIRMED'], 60_000);
  await transactionWhen(expired, ['REJECTED'], 60_000);
  expect(await auditsOf(approved, 'transfer.approved')).toHaveLength(1);
  expect(await auditsOf(expired, 'transfer.refused')).toHaveLength(1);

  const rows = await gatewayQuery<{ tx_id: string; executed: number; cancelled: number }>(
    `select tx_id, (count(*) filter (where a.block_number is not null))::int as executed,
            (count(*) filter (where a.kind = 'cancellation'))::int as cancelled
       from transactions left join transfer_attempts a using (tx_id)
      where account_id = any($1::uuid[]) and transaction_type = 'OUTBOUND' group by tx_id`,
    [[account, onBitcoin].flatMap((from) => from?.account_id ?? [])],
  );
  const all = [...txIds, approved, expired];
  expect(rows.map(({ tx_id: txId }) => txId).sort()).toEqual([...all].sort());
  const { length } = rows.filter(({ executed, cancelled }) => executed === 1 && cancelled === 0);
  expect(length).toBe(txIds.length + 1);
  expect(new Set(await countRuns(all))).toEqual(new Set([1]));
  const nonces = await gatewayQuery<{ nonce: number }>(
    `select ordinal::int as nonce from reservations where chain = 'ethereum' and owner = lower($1) order by ordinal`,
    [account.address],
  );
  const onEthereum = [...sent.values()].filter(({ fixture }) => fixture === ethereum).length;
  expect(nonces.map(({ nonce }) => nonce)).toEqual(Array.from({ length: onEthereum + 1 }, (_, at) => at));
  if (onBitcoin) {
    expect(onEthereum).toBeLessThan(sent.size);
    await expectBalanced(onBitcoin, 'bitcoin');
  }

  const received = formatUnits(await onChain('ethereum', payee.address), 18);
  expect(received).toBe('0.1');
  await waitFor(async () => (await balances(payee.account_id, 'ethereum')).ETH?.balance === received, { timeoutMs: 60_000 });
  await expectEvents(all);
  expect(await differingCounters()).toEqual([]);
  expect(await ledgerDifferences()).toEqual([]);
  expect(await recordDifferences()).toEqual([]);
}, 1_800_000);
