import { ed25519 } from '@noble/curves/ed25519.js';
import { Client } from 'pg';
import { until } from '../../../dev/processes';
import type { GroupKey } from '../../../src/messages/key-generation';
import type { NodeIndex } from '../../../src/messages/nodes';
import { NodeProcesses } from './node-processes';
import { orderedOnSolana } from './solana-orders';
import { type OrderedTransfer, toRequest } from './transactions';

jest.setTimeout(120_000);

const accountId = '0190b5a4-0000-7000-8000-0000000000a1';
/** Longer than a session lives. */
const maxSessionMs = 30_000;
const bytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');
/** Requests at a time, and how many are signed before the node is killed: others are between two rounds then. */
const load = { inFlight: 24, signedBefore: 20, requests: 120 };
const pairs: [NodeIndex, NodeIndex][] = [
  [1, 3],
  [2, 3],
  [3, 1],
];

let nodes: NodeProcesses;
let key: GroupKey;
beforeAll(async () => {
  nodes = await NodeProcesses.start();
  key = await nodes.generateKey(1, `${accountId}.1`, 'frost-ed25519');
  await nodes.bindKey(key.keyId, accountId);
});
afterAll(() => nodes.stop());

async function sign(ordered: OrderedTransfer, initiator: NodeIndex, peer: NodeIndex): Promise<boolean> {
  const { signatures } = await nodes.ask(initiator, 'signTransaction', await toRequest(ordered, peer));
  return ed25519.verify(bytes(signatures[0] as string), bytes(ordered.unsigned), bytes(key.publicKey));
}

async function journal(index: NodeIndex): Promise<{ tx_id: string; outcome: string | null }[]> {
  const client = new Client({ connectionString: nodes.databaseUrl(index) });
  await client.connect();
  const { rows } = await client.query<{ tx_id: string; outcome: string | null }>('select tx_id, outcome from journal');
  await client.end();
  return rows;
}

test('a node killed in the middle of sessions: the others sign what it was to sign, and it signs again once it is back', async () => {
  const ordered = Array.from({ length: load.requests }, (_, at) => orderedOnSolana(key, at + 1));
  const waiting = [...ordered];
  const failed: OrderedTransfer[] = [];
  let signed = 0;
  let killed: Promise<void> | undefined;
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const each = next;
      const [initiator, peer] = pairs[waiting.length % pairs.length] as [NodeIndex, NodeIndex];
      const isValid = await sign(each, initiator, peer).catch(() => void failed.push(each));
      if (isValid === false) throw new Error('a signature that does not verify');
      if (isValid) signed += 1;
      if (signed === load.signedBefore) killed ??= nodes.kill(3);
    }
  };
  await Promise.all(Array.from({ length: load.inFlight }, work));
  await killed;
  // some had succeeded, and some were in the middle
  expect(failed.length).toBeGreaterThan(0);
  expect(failed.length).toBeLessThan(load.requests);
  expect((await journal(3)).some(({ outcome }) => outcome === null)).toBe(true);
  for (const each of failed) expect(await sign(each, 1, 2)).toBe(true);
  // what waits for a message of the killed one ends by time
  const isEnded = async (index: NodeIndex) => (await journal(index)).every(({ outcome }) => outcome !== null);
  for (const index of [1, 2] as const) expect(await until(() => isEnded(index), maxSessionMs)).toBe(true);

  await nodes.startNode(3);
  await nodes.untilComplete();
  // nobody is banned for what a killed node has left
  for (const initiator of [1, 2, 3] as const)
    for (const peer of ([1, 2, 3] as const).filter((index) => index !== initiator))
      expect(await sign(orderedOnSolana(key, 1_000 + 10 * initiator + peer), initiator, peer)).toBe(true);
});
