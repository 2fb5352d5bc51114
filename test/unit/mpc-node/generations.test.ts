import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KeyProtocol } from '../../../src/chains/types';
import { createActivities } from '../../../src/mpc/node-activities';

/** How many keys a node generates at a time for those that ask it: each takes seconds of its processor, of which signatures need some. */

/** A node whose sessions last until `end` is called. */
function createNode(protocol: KeyProtocol) {
  const ends: (() => void)[] = [];
  let begun = 0;
  const handler = { keygen: () => Promise.resolve({ protocol }), toSessionParams: () => ({}) };
  const initiate = () => {
    begun += 1;
    return new Promise<object>((resolve) => ends.push(() => resolve({})));
  };
  const node = createActivities({ identity: { index: 1 }, handler, sessions: { initiate } } as never);
  const generate = () => node.generateKey({ order: 'a.b.c' });
  const end = async () => {
    ends.shift()?.();
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  };
  return { generate, end, begun: () => begun };
}

test('keys that accounts are derived from: one after another, in the order in which they were asked for', async () => {
  const { generate, end, begun } = createNode('ecdsa-secp256k1');
  const keys = [generate(), generate(), generate()];
  for (let count = 1; count <= 3; count += 1) {
    await nextTurn();
    expect(begun()).toBe(count);
    await end();
  }
  await Promise.all(keys);
});

test('keys that take milliseconds: four at a time', async () => {
  const { generate, end, begun } = createNode('frost-ed25519');
  const keys = Array.from({ length: 6 }, generate);
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  expect(begun()).toBe(4);
  for (let count = 0; count < 6; count += 1) await end();
  expect(begun()).toBe(6);
  await Promise.all(keys);
});
