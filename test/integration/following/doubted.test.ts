import type { EntityManager } from 'typeorm';
import { type Hex, parseEther } from 'viem';
import { EvmChainClient } from '../../../src/chains/evm/client';
import { Agreement } from '../../../src/following/agreement';
import { ChainAlarms } from '../../../src/following/chain-alarms';
import { DoubtWatch } from '../../../src/following/doubt-watch';
import { dropBlocks, moveCursor } from '../../../src/following/store';
import { inTransaction } from '../../../src/platform/database';
import { metrics } from '../../../src/platform/metrics';
import { metricValue } from '../../metrics';
import { type Falsify, startRpcProxy, type Withhold } from '../chains/rpc-proxy';
import { until } from '../transfers/served';
import { createFollowFixture, type FollowFixture } from './fixture';

/** What one of several nodes says, and the gateway does not act on. */

let fixture: FollowFixture;
const proxies: { close(): void }[] = [];
beforeEach(async () => {
  fixture = await createFollowFixture();
}, 60_000);
afterEach(() => {
  for (const proxy of proxies.splice(0)) proxy.close();
  return fixture.close();
});

const ether = parseEther('1');
const nobody: Falsify = () => undefined;
/** Of the block that endpoints are compared by, without its transactions. */
const isBlock = (method: string, params: unknown[]) => method === 'eth_getBlockByNumber' && params[1] === false;

/** An endpoint of the same node that falsifies or withholds what the test says. */
async function endpoint(falsify: Falsify, withhold?: Withhold): Promise<string> {
  const proxy = await startRpcProxy(fixture.anvil.url, falsify, withhold);
  proxies.push(proxy);
  return proxy.url;
}
const clientOf = (...urls: string[]) => new EvmChainClient(fixture.chain, urls);

/** Alerts that were logged. */
const newAlarms = () => {
  const logged: string[] = [];
  const error = ({ alert }: { alert: string }) => void logged.push(alert);
  return { logged, chainAlarms: new ChainAlarms({ error, info: () => undefined } as never) };
};
const statuses = async () => (await fixture.inbound()).map(({ status }) => status);
const agreedTo = async () =>
  (await fixture.database.query<{ agreed_to: string | null }[]>('select agreed_to from chain_cursors'))[0]?.agreed_to;

describe('of two endpoints', () => {
  it('one that shows another block: nothing is credited, settled or final, and operators are alarmed, until they agree', async () => {
    const { anvil, alice, bob, chain, mine, send, follow, balance, transfer, sign, onChain, ledger, signals, transaction } =
      fixture;
    let lies = true;
    const other = await endpoint(({ method, params }, result) =>
      lies && isBlock(method, params) ? { result: { ...(result as object), hash: `0x${'7'.repeat(64)}` } } : undefined,
    );
    await send(alice, ether);
    await mine(chain.confirmations + 2);
    await follow();
    const txId = await transfer({ amount: '0.1', toAddress: bob.address });
    await sign(txId, 1);
    await onChain.broadcast({ txId, attempt: 1 });
    await mine(chain.finalityDepth + 1);

    const two = clientOf(anvil.url, other);
    const { logged, chainAlarms } = newAlarms();
    await follow({ client: two, chainAlarms });
    expect(await statuses()).toEqual(['CONFIRMED', 'DETECTED']);
    expect(logged).toEqual(['blocks_not_agreed']);
    expect(chainAlarms.details).toEqual({
      'alarms:ethereum': expect.stringMatching(/^blocks_not_agreed: 1 endpoints show another block \d+: nothing from it on/),
    });
    expect(await metrics.getSingleMetricAsString('gateway_chain_alarms')).toContain('alert="blocks_not_agreed"} 1');
    expect(signals.filter(({ observation }) => observation.state === 'confirmed')).toEqual([]);
    expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'WAITING' });
    expect(await balance(bob, 'ETH')).toMatchObject({ available: 0n });

    lies = false;
    await follow({ client: two, chainAlarms });
    expect(await statuses()).toEqual(['CONFIRMED', 'CONFIRMED']);
    expect(signals.at(-1)).toMatchObject({ txId, observation: { state: 'confirmed' } });
    expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
    await mine();
    await follow({ client: two, chainAlarms });
    expect((await transaction(txId)).finalized_at).not.toBeNull();
    expect(chainAlarms.details).toEqual({});
  });

  it('one that is out is waited for; of three, two are enough; with one alone nothing is compared', async () => {
    const { anvil, alice, chain, mine, send, follow } = fixture;
    const dead = 'http://127.0.0.1:1';
    await send(alice, ether);
    await mine(chain.confirmations);
    await follow({ client: clientOf(anvil.url, dead) });
    expect([await statuses(), await agreedTo()]).toEqual([['DETECTED'], '-1']);
    await follow({ client: clientOf(anvil.url, dead, await endpoint(nobody)) });
    expect(await statuses()).toEqual(['CONFIRMED']);
    expect(Number(await agreedTo())).toBeGreaterThan(0);

    await follow({ client: clientOf(anvil.url, dead) });
    await send(alice, ether);
    await mine(chain.confirmations);
    await follow();
    expect([await statuses(), await agreedTo()]).toEqual([['CONFIRMED', 'CONFIRMED'], null]);
  });

  it('what was agreed about blocks that are reorganised away is not agreed any more', async () => {
    const { anvil, alice, chain, mine, send, follow, balance } = fixture;
    let isSilent = false;
    const other = await endpoint(({ method, params }) => (isSilent && isBlock(method, params) ? { result: null } : undefined));
    const two = clientOf(anvil.url, other);
    await mine(8);
    await follow({ client: two });
    const fork = Number(await anvil.client.getBlockNumber()) - 6;
    expect(Number(await agreedTo())).toBeGreaterThan(fork);
    isSilent = true;
    await anvil.client.request({ method: 'anvil_reorg', params: [6, []] } as never);
    await send(alice, ether);
    await mine(chain.confirmations + 1);
    await follow({ client: two });
    expect([Number(await agreedTo()), await statuses()]).toEqual([fork, ['DETECTED']]);
    isSilent = false;
    await follow({ client: two });
    expect(Number(await agreedTo())).toBeGreaterThan(fork);
    expect(await balance(alice, 'ETH')).toMatchObject({ available: ether });
  });

  describe('a roll-back while the endpoints are compared:', () => {
    /** A deposit is as deep as the confirmations, and a second endpoint is asked about its block: it says the same when `answer` is called. */
    const compareLate = async () => {
      const { anvil, alice, chain, client, mine, send, follow, options } = fixture;
      await send(alice, ether);
      await mine(chain.confirmations);
      await follow({ client: clientOf(anvil.url, 'http://127.0.0.1:1') });
      const nextBlock = (await client.head()).number + 1;
      let answer: () => void = () => undefined;
      const answered = new Promise<void>((resolve) => (answer = resolve));
      const compareBlock = () => answered.then(() => ({ same: 2, different: 0 }));
      const late = Object.assign(Object.create(client) as typeof client, { compareBlock });
      const agreement = new Agreement({ ...options, chain, client: late });
      await agreement.begin({ nextBlock, agreedTo: -1, untraced: null });
      return { answer, advancing: agreement.advance(nextBlock), agreement, nextBlock, block: nextBlock - chain.confirmations };
    };
    const rollBack = async (manager: EntityManager, from: number, to: number) => {
      await moveCursor(manager, fixture.chain.name, from, to);
      await dropBlocks(manager, fixture.chain.name, to);
    };

    it('a block that is gone is not agreed, also when both meet in the database', async () => {
      const { database } = fixture;
      const { answer, advancing, agreement, nextBlock, block } = await compareLate();
      await inTransaction(database, async (manager) => {
        await rollBack(manager, nextBlock, block);
        answer();
        await until('it waits for the cursor', async () => {
          const [row] = await database.query<{ waiting: number }[]>(
            `select count(*)::int as waiting from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
          );
          return row?.waiting === 1;
        });
      });
      await advancing;
      expect([await agreedTo(), agreement.limit]).toEqual(['-1', -1]);
    });

    it('a block that is left is agreed, and what it holds is not credited before it is deep enough again', async () => {
      const { answer, advancing, agreement, nextBlock, block } = await compareLate();
      await inTransaction(fixture.database, (manager) => rollBack(manager, nextBlock, nextBlock - 1));
      answer();
      await advancing;
      expect([await agreedTo(), agreement.limit, await statuses()]).toEqual([String(block), block, ['DETECTED']]);
    });
  });

  it('the higher count of a sender’s transactions is believed, of both the same: nothing is signed with a nonce that one has seen used', async () => {
    const { anvil, alice, mine, send, follow, transfer, onChain, ledger, database } = fixture;
    await send(alice, ether);
    await mine(3);
    await follow();
    const txId = await transfer({ amount: '0.1' });
    const behind = clientOf(
      anvil.url,
      await endpoint(({ method }) => (method === 'eth_getTransactionCount' ? { result: '0x5' } : undefined)),
    );
    const intent = { from: alice.address, outputs: [{ recipient: fixture.bob.address, tokenContract: null, amount: 1n }] };
    const prepared = await behind.prepare({ kind: 'first', intent, previous: [] });
    expect(prepared.details).toMatchObject({ minedNonce: 5 });
    const next = { txId, attempt: 1, kind: 'first' } as const;
    expect(await ledger.beginAttempt({ ...next, prepared })).toMatchObject({ outcome: 'wait' });
    expect(await database.query('select account_id, reported, expected from doubted_ordinals')).toEqual([
      { account_id: alice.accountId, reported: '5', expected: '0' },
    ]);
    const { logged, chainAlarms } = newAlarms();
    await follow({ chainAlarms });
    expect(logged).toEqual(['account_used_elsewhere']);
    const watch = new DoubtWatch({ chain: fixture.chain, database, chainAlarms });
    await watch.report();
    expect(await metricValue('gateway_accounts_used_elsewhere', { chain: 'ethereum' })).toBe(1);
    watch.end();
    expect(chainAlarms.details['alarms:ethereum']).toContain(`${alice.accountId} (5 counted, 0 known)`);

    expect(await ledger.beginAttempt({ ...next, prepared: await onChain.prepareAttempt(next) })).toMatchObject({
      outcome: 'begun',
    });
    expect(await database.query('select from doubted_ordinals')).toEqual([]);
  });
});

describe('fees above what the registry takes for possible', () => {
  const dear: Falsify = ({ method }) =>
    method === 'eth_maxPriorityFeePerGas' ? { result: `0x${(10n ** 15n).toString(16)}` } : undefined;

  it('are asked for at the next endpoint', async () => {
    const client = clientOf(await endpoint(dear), fixture.anvil.url);
    expect((await client.levels()).priorityFee).toBeLessThan(10n ** 12n);
    await expect(clientOf(await endpoint(dear)).levels()).rejects.toMatchObject({
      code: 'chain_unavailable',
      message: 'ethereum: a tip of 1000000000000000 is not believed',
    });
  });

  it('of every endpoint are not stored, and an alarm; blocks are followed all the same', async () => {
    const { database, alice, chain, mine, send, follow, balance } = fixture;
    await follow();
    const levels = () => database.query('select fee_levels, fee_levels_at from chain_cursors');
    const before = await levels();
    await send(alice, ether);
    await mine(chain.confirmations);
    const { logged, chainAlarms } = newAlarms();
    await follow({ client: clientOf(await endpoint(dear)), chainAlarms });
    expect(logged).toEqual(['fees_not_believed']);
    expect(await levels()).toEqual(before);
    expect(await balance(alice, 'ETH')).toMatchObject({ available: ether });
    await mine();
    await follow({ chainAlarms });
    expect(chainAlarms.details).toEqual({});
  });
});

const refusingTraces =
  (code: number, message: string): Withhold =>
  ({ method }) =>
    Promise.resolve(method === 'trace_block' ? { error: { code, message } } : undefined);
const withoutTraces = refusingTraces(-32601, 'the method trace_block does not exist');
const forwarder = '0x00000000000000000000000000000000000f0123';
/** Coins that a contract passes on: nothing but a trace shows them. */
const payThroughContract = async (value: bigint) => {
  const { anvil, outside, alice } = fixture;
  await anvil.client.setCode({ address: forwarder, bytecode: '0x5f5f5f5f345f355af100' });
  const data: Hex = `0x${alice.addressKey.slice(2).padStart(64, '0')}`;
  await outside.sendTransaction({ chain: null, to: forwarder, value, data });
  await fixture.mine(fixture.chain.confirmations + 1);
};
const found = async () => (await fixture.inbound()).map(({ amount, status }) => `${amount} ${status}`);

describe('on a chain that does not require traces', () => {
  const clientAt = (...urls: string[]) => new EvmChainClient({ ...fixture.chain, requiresTraces: false }, urls);

  it.each([
    ['has none', -32601, 'the method trace_block does not exist/is not available'],
    ['does not trace at the moment', -32000, 'method trace_block is not available right now'],
  ])('of two endpoints the one that traces is asked where the first %s: nothing is missed', async (_, code, message) => {
    const { anvil, follow } = fixture;
    const { logged, chainAlarms } = newAlarms();
    await payThroughContract(7n);
    await follow({ client: clientAt(await endpoint(nobody, refusingTraces(code, message)), anvil.url), chainAlarms });
    expect([await found(), logged]).toEqual([['7 CONFIRMED'], []]);
  });

  it('an endpoint is waited for that may trace, where the other one does not: nothing is missed', async () => {
    const { follow } = fixture;
    const { logged, chainAlarms } = newAlarms();
    await follow({ chainAlarms });
    await payThroughContract(7n);
    let isAway = true;
    const second = await endpoint(nobody, () =>
      Promise.resolve(isAway ? { error: { code: -32603, message: 'backend is away' } } : undefined),
    );
    const client = clientAt(await endpoint(nobody, withoutTraces), second);
    await follow({ client, chainAlarms, sliceMs: 1_500 });
    expect([await found(), logged]).toEqual([[], ['traces_missing']]);
    expect(chainAlarms.details['alarms:ethereum']).toMatch(/^traces_missing: no endpoint that answers offers trace_block/);
    isAway = false;
    await follow({ client, chainAlarms });
    expect([await found(), chainAlarms.details]).toEqual([['7 CONFIRMED'], {}]);
  });

  it('an endpoint that is away since the start is waited for for ten minutes: blocks are then scanned without, which is an alarm, until it is back', async () => {
    const { anvil, mine, follow, send, balance, alice } = fixture;
    const { logged, chainAlarms } = newAlarms();
    let isAway = true;
    const away = await startRpcProxy(anvil.url, nobody, () =>
      isAway ? Promise.reject(new Error('away')) : Promise.resolve(undefined),
    );
    proxies.push(away);
    const client = clientAt(await endpoint(nobody, withoutTraces), away.url);
    // two endpoints that agree are not what this is about
    Object.assign(client, { compareBlock: undefined });
    await send(alice, ether);
    await mine(fixture.chain.confirmations + 1);
    await follow({ client, chainAlarms, sliceMs: 1_500 });
    expect([(await balance(alice, 'ETH')).available, logged]).toEqual([0n, ['traces_missing']]);
    const real = Date.now;
    let later = 9 * 60_000;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => real() + later);
    try {
      await follow({ client, chainAlarms, sliceMs: 1_500 });
      expect((await balance(alice, 'ETH')).available).toBe(0n);
      later = 10 * 60_000;
      await follow({ client, chainAlarms, sliceMs: 5_000 });
      expect([(await balance(alice, 'ETH')).available, logged]).toEqual([
        ether,
        ['traces_missing', 'traces_missing', 'deposits_untraced'],
      ]);
      isAway = false;
      later += 60_000;
      await payThroughContract(7n);
      await follow({ client, chainAlarms });
      expect(await found()).toEqual([`${ether} CONFIRMED`, '7 CONFIRMED']);
    } finally {
      clock.mockRestore();
    }
  });

  it('where none of two endpoints has them, as both say, blocks are scanned without, which is an alarm; they are not asked each time', async () => {
    const { mine, follow, send, balance, alice } = fixture;
    let asked = 0;
    const counting: Withhold = (request) => {
      asked += Number(request.method === 'trace_block');
      return withoutTraces(request);
    };
    const { logged, chainAlarms } = newAlarms();
    const client = clientAt(await endpoint(nobody, counting), await endpoint(nobody, counting));
    await follow({ client, chainAlarms });
    const once = asked;
    await send(alice, ether);
    await mine(60);
    await follow({ client, chainAlarms });
    expect([(await balance(alice, 'ETH')).available, logged, asked - once]).toEqual([ether, ['deposits_untraced'], 0]);
  });
});

describe('on a chain that requires traces', () => {
  it('only those of two endpoints are scanned that trace: nothing is missed, and the others are not asked again', async () => {
    const { anvil, chain, follow } = fixture;
    expect(chain.requiresTraces).toBe(true);
    let scans = 0;
    const first = await endpoint(nobody, (request) => {
      scans += Number(request.method === 'eth_getLogs');
      return withoutTraces(request);
    });
    const { logged, chainAlarms } = newAlarms();
    const client = clientOf(first, anvil.url);
    await payThroughContract(7n);
    await follow({ client, chainAlarms });
    expect([await found(), scans]).toEqual([['7 CONFIRMED'], 1]);
    await payThroughContract(8n);
    await follow({ client, chainAlarms });
    expect([await found(), scans, logged]).toEqual([['7 CONFIRMED', '8 CONFIRMED'], 1, []]);
  });

  it('with no endpoint that traces no block is scanned, which is an alarm, until one does: nothing is missed', async () => {
    const { anvil, follow } = fixture;
    const metric = async () => metrics.getSingleMetricAsString('gateway_chain_alarms');
    const { logged, chainAlarms } = newAlarms();
    await follow({ chainAlarms });
    await payThroughContract(7n);
    const client = clientOf(await endpoint(nobody, withoutTraces), await endpoint(nobody, withoutTraces));
    const { nextBlock } = await follow({ client, chainAlarms, sliceMs: 1_500 });
    const [cursor] = await fixture.database.query<{ next_block: string }[]>('select next_block from chain_cursors');
    expect([Number(cursor?.next_block), await found()]).toEqual([nextBlock, []]);
    expect(nextBlock).toBeLessThanOrEqual(Number(await anvil.client.getBlockNumber()) - fixture.chain.confirmations);
    expect(logged).toEqual(['traces_missing']);
    expect(chainAlarms.details['alarms:ethereum']).toMatch(
      /^traces_missing: no endpoint that answers offers trace_block.*: no block is scanned$/,
    );
    expect(await metric()).toContain('alert="traces_missing"} 1');

    await follow({ client: clientOf(anvil.url), chainAlarms });
    expect(await found()).toEqual(['7 CONFIRMED']);
    expect([await metric(), chainAlarms.details]).toEqual([expect.stringContaining('alert="traces_missing"} 0'), {}]);
  });
});
