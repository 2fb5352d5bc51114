import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../../../src/platform/errors';
import { Session } from '../../../src/mpc/session';
import { StallClock } from '../../../src/mpc/stall-clock';
import { newKeyPair } from '../../keys';

const { privateKey, publicKey } = newKeyPair('P-256');
const roundMs = 1_000;

/** Node 1 in a session with node 2, which says nothing; `ownMs`: how long node 1 needs for its first message. */
async function run({ ownMs = 0, stalledMs = () => 0 }: { ownMs?: number; stalledMs?: () => number }): Promise<Session> {
  const session = new Session(
    { protocol: 'ecdsa-secp256k1', kind: 'sign', initiator: 1, participants: [1, 2], request: '{}' },
    {
      ...{ self: 1, signingKey: privateKey, getPublicKey: () => publicKey, send: () => Promise.resolve() },
      ...{ roundMs, lifeMs: 5_000, stalledMs },
    },
  );
  session.agree(
    new Map([
      [1, Buffer.alloc(32)],
      [2, Buffer.alloc(32)],
    ]),
  );
  const start = () => delay(ownMs).then(() => new Map([[2 as const, Buffer.from('hello')]]));
  const rounds = { rounds: 1, start, next: () => Promise.resolve({ result: 1 }), close: () => Promise.resolve() };
  await expect(session.run(rounds)).rejects.toMatchObject({ code: 'signers_unavailable' });
  session.end(new GatewayError('signers_unavailable', 'over'));
  return session;
}

/** Nothing else runs meanwhile. */
const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

describe('a node is late', () => {
  test('when it took half of the time of a round for its own messages', async () => {
    expect((await run({ ownMs: roundMs })).isLateHere).toBe(true);
  });

  test('when its process did not run for that long during the session, and not when it did so before', async () => {
    let stalledMs = 3_000;
    const session = await run({ stalledMs: () => stalledMs });
    expect(session.isLateHere).toBe(false);
    stalledMs += roundMs / 2;
    expect(session.isLateHere).toBe(true);
  });

  test('not by waiting for the others', async () => {
    expect((await run({})).isLateHere).toBe(false);
  });
});

test('the event loop’s stalls are measured, also before the next check; short delays are not counted', async () => {
  const clock = new StallClock();
  try {
    await delay(150);
    expect(clock.totalMs).toBe(0);
    block(600);
    expect(clock.totalMs).toBeGreaterThan(350);
    await delay(50);
    const total = clock.totalMs;
    block(50);
    expect(clock.totalMs).toBe(total);
  } finally {
    clock.stop();
  }
});
