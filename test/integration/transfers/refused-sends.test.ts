import { type Address, type Hex, parseTransaction } from 'viem';
import type { Prepared } from '../../../src/chains/types';
import { timelineQuery } from '../../../src/messages/progress';
import type { ChainActivities } from '../../../src/messages/transfer';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { findParkedBefore } from '../../../src/transfers/line';
import { startRpcProxy } from '../chains/rpc-proxy';
import { createFollowFixture, type FollowFixture } from '../following/fixture';
import { booksAgree, ether, ServedChain, until, whenLate } from './served';

/** Nodes that refuse for now what they take later: no operator is needed. */

jest.setTimeout(120_000);

/** What the node says to bytes before they reach it; null: nothing. */
let refuse: (raw: string) => Promise<string | null> = () => Promise.resolve(null);
let refused: string[] = [];
/** With this code. */
let code = -32000;
/** What it says is lost with its connection. */
let isOut = false;
let stuckAfterMs = 600_000;
let proxy: Awaited<ReturnType<typeof startRpcProxy>>;

const served = new ServedChain<FollowFixture>(async () => {
  refuse = () => Promise.resolve(null);
  refused = [];
  code = -32000;
  isOut = false;
  const route = async (url: string) => {
    proxy = await startRpcProxy(
      url,
      () => undefined,
      async ({ method, params }) => {
        const message = method === 'eth_sendRawTransaction' ? await refuse(params[0] as string) : null;
        if (message === null) return undefined;
        refused.push(message);
        if (isOut) throw new Error('the connection is cut');
        return { error: { code, message } };
      },
    );
    return proxy.url;
  };
  const fixture = await createFollowFixture({ stuckAfterMs }, route);
  await fixture.send(fixture.alice, ether);
  await fixture.mine(4);
  await fixture.follow();
  return fixture;
});
afterEach(() => proxy.close());

const submit = () => served.submit({ tokenSymbol: 'ETH', amount: '0.001', toAddress: served.fixture.bob.address });
const parksOf = async (txId: string): Promise<number> => {
  const timeline = await served.client.workflow.getHandle(transferWorkflowId(txId)).query(timelineQuery);
  return timeline.filter(({ step }) => step === 'park').length;
};
const kinds = async (txId: string) => (await served.fixture.attempts(txId)).map(({ kind }) => kind);

/** A sequencer without a pool: it takes only the next nonce. */
const refuseGaps = async (raw: string): Promise<string | null> => {
  const { anvil, alice } = served.fixture;
  const { nonce = 0 } = parseTransaction(raw as Hex);
  const next = await anvil.client.getTransactionCount({ address: alice.address as Address });
  return nonce > next ? `nonce too high: address ${alice.address}, tx: ${nonce}` : null;
};

// there such transactions were given up, or sent twice
test('OpenZeppelin Relayer #836: a sequencer without a pool, as arbitrum’s, takes only the next nonce: five transfers at once are executed in order, each signed once', async () => {
  const { fixture } = served;
  refuse = refuseGaps;
  await served.serve();
  const txIds = await Promise.all(Array.from({ length: 5 }, submit));
  for (const txId of txIds) await served.ends(txId, 'CONFIRMED');
  for (const txId of txIds) expect(await kinds(txId)).toEqual(['first']);
  expect(refused.length).toBeGreaterThan(0);
  expect((await fixture.balance(fixture.alice, 'ETH')).locked).toBe(0n);
});

const nonces = async (): Promise<number[]> => {
  const sql = 'select ordinal::int as nonce from reservations where ordinal is not null order by ordinal';
  return (await served.fixture.database.query<{ nonce: number }[]>(sql)).map(({ nonce }) => nonce);
};

/** Sends transfers at once; resolves when each is signed. */
async function signed(count: number): Promise<string[]> {
  const sent = await Promise.all(Array.from({ length: count }, submit));
  await until('all are signed', async () => {
    const attempts = await Promise.all(sent.map((txId) => served.fixture.attempts(txId)));
    return attempts.every(([attempt]) => typeof attempt?.signed === 'string');
  });
  return sent;
}

// there the counter was above the chain’s: what was assigned and never sent filled the nonces from the chain’s next one on, was taken for what
// had been sent, and every later transaction was refused as too high for good
test('OpenZeppelin Relayer #818, #843, #844: an outage while transfers begin; no nonce that was assigned was ever sent, and all are executed without an operator', async () => {
  const { fixture } = served;
  isOut = true;
  refuse = () => Promise.resolve('');
  await served.serve();
  const sent = [...(await signed(3)), ...(await signed(3))];
  for (const txId of sent) expect((await fixture.attempts(txId))[0]).toMatchObject({ broadcast_at: null });
  // the chain wants a nonce whose transaction does not reach it yet, and refuses those above it
  const [head = 0] = await nonces();
  isOut = false;
  refuse = (raw) => (parseTransaction(raw as Hex).nonce === head ? Promise.resolve('txpool is full') : refuseGaps(raw));
  await until('those above the gap are refused', () => Promise.resolve(refused.some((it) => it.startsWith('nonce too high'))));
  sent.push(...(await signed(1)));
  refuse = refuseGaps;
  for (const txId of sent) await served.ends(txId, 'CONFIRMED');
  for (const txId of sent) expect(await kinds(txId)).toEqual(['first']);
  expect(await nonces()).toEqual(sent.map((_, index) => head + index));
  expect((await fixture.balance(fixture.alice, 'ETH')).locked).toBe(0n);
});

/** A transfer that its node refuses twice, and then takes. */
async function refusedForNow(message: string): Promise<string> {
  let isRefusing = true;
  refuse = () => Promise.resolve(isRefusing ? message : null);
  await served.serve();
  const txId = await submit();
  await until('refused twice', () => Promise.resolve(refused.length > 1));
  expect(await served.status(txId)).toBe('SIGNING');
  isRefusing = false;
  await served.ends(txId, 'CONFIRMED');
  expect(await kinds(txId)).toEqual(['first']);
  await booksAgree(served.fixture);
  return txId;
}

// elsewhere a refusal for now became a failure for good
test('a node whose pool is full is asked again until it takes the transaction', async () => {
  const txId = await refusedForNow('txpool is full');
  await served.record(transferWorkflowId(txId), 'transfer-confirmed-refused-for-now');
});
test.each(['insufficient funds for gas * price + value: balance 0', 'transaction underpriced'])(
  'so is one that says "%s" for a while',
  async (message) => void (await refusedForNow(message)),
);

describe('words that nobody knows', () => {
  beforeAll(() => void (stuckAfterMs = 1_000));
  afterAll(() => void (stuckAfterMs = 600_000));
  let isLate = false;
  const begin = async (): Promise<string> => {
    isLate = false;
    refuse = () => Promise.resolve('Oops, ask 0x1234 again');
    const broadcast: ChainActivities['broadcast'] = async (input) => {
      const result = await served.fixture.onChain.broadcast(input);
      return isLate ? whenLate(result) : result;
    };
    await served.serve({ chain: { broadcast } });
    return submit();
  };
  /** Activities of its run with this name. */
  const countOf = async (txId: string, activity: string): Promise<number> => {
    const { events } = await served.client.workflow.getHandle(transferWorkflowId(txId)).fetchHistory();
    const names = (events ?? []).map(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name);
    return names.filter((name) => name === activity).length;
  };
  test('the same bytes are sent again, however often the chain counts them as stuck; after minutes they are parked, and are sent again all the same', async () => {
    const txId = await begin();
    await until('sent again, twice', async () => (await countOf(txId, 'broadcast')) > 2);
    expect(await served.status(txId)).toBe('SIGNING');
    isLate = true;
    await until('parked', async () => (await served.status(txId)) === 'NEEDS_ATTENTION');
    expect(await served.fixture.transaction(txId)).toMatchObject({
      failure_code: 'broadcast_rejected',
      failure_message: 'refused by the node (code -32000): Oops, ask again',
    });
    await until('parked again', async () => (await parksOf(txId)) > 1);
    expect(await kinds(txId)).toEqual(['first']);
    refuse = () => Promise.resolve(null);
    await served.ends(txId, 'CONFIRMED');
    // what the node has taken is replaced where its block comes late
    expect(await kinds(txId)).not.toContain('cancellation');
    await booksAgree(served.fixture);
    await served.record(transferWorkflowId(txId), 'transfer-confirmed-refused-in-unknown-words');
  });

  test('so is what every endpoint answers with a trouble of its own; parked, it holds the line of its sender, and can be abandoned', async () => {
    code = -32603;
    const txId = await begin();
    await until('refused', () => Promise.resolve(refused.length > 1));
    isLate = true;
    await until('parked', async () => (await served.status(txId)) === 'NEEDS_ATTENTION');
    const { addressKey: owner } = served.fixture.alice;
    const line = { chain: served.fixture.chain.name, addressKey: owner };
    expect(await findParkedBefore(served.fixture.database.manager, line)).toBe(txId);
    await until('abandoned', () =>
      served.operations.abandon(txId).then(
        () => true,
        () => false,
      ),
    );
    refuse = () => Promise.resolve(null);
    await served.ends(txId, 'FAILED');
    expect((await kinds(txId)).slice(0, 2)).toEqual(['first', 'cancellation']);
  });
});

describe('for a passing reason, for longer than a transfer may be in no block', () => {
  beforeAll(() => void (stuckAfterMs = 1_000));
  afterAll(() => void (stuckAfterMs = 600_000));

  // they were parked until an operator came, and the line of their sender with them
  test.each<{ message: string; reason: string; code: string; name?: string }>([
    {
      ...{ message: 'insufficient funds for gas * price + value: balance 0', reason: 'insufficient funds for value and gas' },
      ...{ code: 'broadcast_rejected', name: 'transfer-confirmed-refused-then-taken' },
    },
    {
      ...{ message: 'nonce too high: address 0x12, tx: 5', reason: 'nonce too high: earlier ones are not executed' },
      code: 'broadcast_rejected',
    },
    {
      ...{ message: 'txpool is full', reason: 'the pool of the node is full' },
      ...{ code: 'stuck', name: 'transfer-confirmed-full-pool-then-taken' },
    },
  ])(
    '"$message": operators are told, and it is sent again without them, until a node takes it',
    async ({ message, reason, code, name }) => {
      const { fixture } = served;
      // fees have not risen: a replacement would be the same transaction
      let first: Promise<Prepared> | undefined;
      await served.serve({ chain: { prepareAttempt: (input) => (first ??= fixture.onChain.prepareAttempt(input)) } });
      refuse = () => Promise.resolve(message);
      const txId = await submit();
      await until('parked', async () => (await served.status(txId)) === 'NEEDS_ATTENTION');
      const parked = await fixture.transaction(txId);
      expect([parked.failure_code, parked.failure_message]).toEqual([code, expect.stringContaining(reason)]);
      expect((await fixture.balance(fixture.alice, 'ETH')).locked).toBeGreaterThan(0n);
      await until('parked again', async () => (await parksOf(txId)) > 1);
      const before = refused.length;
      await until('sent again since', () => Promise.resolve(refused.length > before));
      refuse = () => Promise.resolve(null);
      await served.ends(txId, 'CONFIRMED');
      expect(await kinds(txId)).toEqual(['first']);
      await booksAgree(fixture);
      if (name) await served.record(transferWorkflowId(txId), name);
    },
  );
});

test('a node that refuses for good is not asked again: an operator is', async () => {
  refuse = () => Promise.resolve('intrinsic gas too low: gas 100, minimum needed 21000');
  await served.serve();
  const txId = await submit();
  await until('parked', async () => (await served.status(txId)) === 'NEEDS_ATTENTION');
  expect(await served.fixture.transaction(txId)).toMatchObject({
    failure_code: 'broadcast_rejected',
    failure_message: 'gas limit refused',
  });
  refuse = () => Promise.resolve(null);
  await served.operations.retry(txId);
  await served.ends(txId, 'CONFIRMED');
});
