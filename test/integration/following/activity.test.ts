import { MockActivityEnvironment } from '@temporalio/testing';
import { parseEther } from 'viem';
import { createFollowActivity } from '../../../activities/follow';
import type { SignalTransfer } from '../../../src/following/ports';
import { createFollowFixture, type FollowFixture } from './fixture';

/** The activity of the follower: what it remembers of one of its runs in the next one. What a run does is in follower.test.ts. */

const ether = parseEther('1');
/** Enough for some polls, a block time of the local chain apart. */
const sliceMs = 1_500;
/** `resignalMs` of the follower, without the time that a signal takes. */
const againMs = 29_000;

let fixture: FollowFixture;
beforeEach(async () => {
  fixture = await createFollowFixture({ stuckAfterMs: 0 });
  await fixture.send(fixture.alice, ether);
  await fixture.mine(4);
  await fixture.follow();
}, 60_000);
afterEach(() => fixture.close());

/** Runs of one activity, as those that a worker process carries out one after another. */
function createRuns(signalTransfer: SignalTransfer) {
  const { options, client, chain, registry } = fixture;
  const asked = jest.spyOn(client, 'status');
  const activity = createFollowActivity({
    ...{ ...options, registry, signalTransfer, clients: new Map([[chain.name, client]]), sliceMs },
  });
  const run = async () => {
    asked.mockClear();
    await new MockActivityEnvironment().run(() => activity.followChain({ chain: chain.name }));
    // of transfers that it asks the chain about
    return asked.mock.calls.length;
  };
  return { run };
}

test('what was signalled in one run is not signalled again by the next one, and what is new is', async () => {
  const { chain, onChain, sign, transfer, mine, bob } = fixture;
  const signalled: { txId: string; at: number }[] = [];
  const { run } = createRuns((txId) => {
    signalled.push({ txId, at: Date.now() });
    return Promise.resolve('sent');
  });
  const send = async () => {
    const txId = await transfer({ amount: '0.1', toAddress: bob.address });
    await sign(txId, 1);
    await onChain.broadcast({ txId, attempt: 1 });
    await mine(chain.confirmations);
    return txId;
  };
  /** In their order. What has no consequence is signalled again after half a minute, which a slow machine may take: that is no repetition. */
  const signals = () =>
    signalled
      .filter(({ txId, at }, index) => !signalled.slice(0, index).some((it) => it.txId === txId && at - it.at >= againMs))
      .map(({ txId }) => txId);
  const first = await send();
  await run();
  expect(signals()).toEqual([first]);
  await run();
  expect(signals()).toEqual([first]);
  const second = await send();
  await run();
  expect(signals()).toEqual([first, second]);
});

test('a parked transfer whose nonce something else has used is asked about once for a block, and not once for a run', async () => {
  const { chain, ledger, sign, transfer, mine, bob, database, alice } = fixture;
  const txId = await transfer({ amount: '0.1', toAddress: bob.address });
  await sign(txId, 1);
  await ledger.parkTransfer({ txId, code: 'stuck', reason: 'of a test' });
  await mine(chain.finalityDepth);
  const { run } = createRuns(() => Promise.resolve('sent'));
  await run();
  // as a scan has found it
  const { number } = await fixture.client.head();
  const use = `insert into foreign_transactions (chain, owner, ordinal, id, block_number)
                select chain, owner, ordinal, '0xother', $3 from reservations where chain = $1 and owner = $2 and ordinal is not null`;
  await database.query(use, [chain.name, alice.addressKey, number - chain.finalityDepth]);
  expect(await run()).toBe(1);
  expect(await run()).toBe(0);
  await mine();
  expect(await run()).toBe(1);
});
