import { randomUUID } from 'node:crypto';
import { getFamily } from '../../../src/chains/families';
import type { Hex } from '../../../src/chains/types';
import type { GroupKey } from '../../../src/messages/key-generation';
import { type NodeIndex, nodeIndexes } from '../../../src/messages/nodes';
import { Identity } from '../../../src/mpc/identity';
import { OrderKeys } from '../../../src/mpc/order-keys';
import { verifyStatements } from '../../../src/mpc/verify-journal';
import { verifyOrders } from '../../../src/mpc/verify-orders';
import { deployment, orderKeys } from '../../orders';
import { tronDefinition } from '../../tron-client';
import { TestChain, trx } from '../../tron-simulator';
import { type Attempt, ExpiringChain, orderOver, paid } from './expiring';
import { Group } from './group';
import type { OrderedTransfer } from './transactions';

/**
 * A reissue is signed by nodes that have proven, each at an endpoint of its own, that nothing earlier can be executed: whoever has the
 * order key gets no second payment by it.
 */

jest.setTimeout(120_000);

const pairs: readonly (readonly [NodeIndex, NodeIndex])[] = [
  [1, 2],
  [1, 3],
  [2, 1],
  [2, 3],
  [3, 1],
  [3, 2],
];
const unproven = { code: 'reissue_unproven' };
const mismatch = { code: 'intent_mismatch' };

let on: ExpiringChain;
let group: Group;
let key: GroupKey;
const start = async (party: NodeIndex) => {
  await group.stop(party);
  await group.start(party, options(party));
};
const options = (party: NodeIndex) => ({ registry: on.registry, provers: new Map([['tron', on.prover(`of-${party}`)]]) });

beforeAll(async () => {
  on = await ExpiringChain.start();
  group = await Group.create({ 1: options(1), 2: options(2), 3: options(3) });
  key = await group.addKey('reissues.1');
  const faucet = { address: on.accountOf(key).address, amount: String(trx(1_000)) };
  await on.chain.control('faucet', faucet);
  await on.settle();
});
afterAll(() => group.close());
afterAll(() => TestChain.stopAll());
afterEach(() => on.chain.control('heal'));

const order = (txId: string, attempt: Attempt, ...earlier: Attempt[]) => orderOver(on, key, txId, attempt, earlier);
const attempt = (number: number, lifeMs?: number) => on.attempt(key, number, lifeMs);
const sign = (ordered: OrderedTransfer, [initiator, peer]: readonly [NodeIndex, NodeIndex]) =>
  group.sign(ordered, initiator, peer);
const send = ({ unsigned }: OrderedTransfer, signatures: Hex[]) => {
  const { bytes, id } = getFamily(tronDefinition().family).assemble(unsigned, signatures, on.accountOf(key).address);
  return on.chain.send(Buffer.from(bytes.slice(2), 'hex')).then((answer) => ({ ...(answer as object), id }));
};
const refusedByAll = async (ordered: OrderedTransfer, refusal: object) => {
  for (const pair of pairs) await expect(sign(ordered, pair)).rejects.toMatchObject(refusal);
};
/** What a node has admitted of a transfer. */
const entries = (party: NodeIndex, txId: string) =>
  group.query<{ attempt: number; kind: string; proofs: object[] | null }>(
    party,
    'select attempt, kind, proofs from journal where tx_id = $1 order by number',
    [txId],
  );
/** A transfer whose first attempt nodes 1 and 2 have signed. */
async function signedFirst(lifeMs?: number) {
  const txId = randomUUID();
  const first = await attempt(1, lifeMs);
  const { signatures } = await sign(order(txId, first), [1, 2]);
  return { txId, first, ordered: order(txId, first), signatures };
}

test('once the first attempt has expired and is nowhere, another is signed, with the proofs of both nodes on record', async () => {
  const { txId, first } = await signedFirst();
  await on.outlive(first);
  const second = order(txId, await attempt(2, 60_000), first);
  const before = await on.chain.balance(on.recipient);
  // node 3 has not admitted the first one: it proves what the order names
  const { signatures } = await sign(second, [2, 3]);
  expect(await send(second, signatures)).toMatchObject({ result: true });
  await on.settle();
  expect((await on.chain.balance(on.recipient)) - before).toBe(paid);
  for (const party of [2, 3] as const) {
    const [entry] = (await entries(party, txId)).filter(({ kind }) => kind === 'reissue');
    expect(entry?.proofs).toEqual([
      {
        attempt: 1,
        digests: (second.claims as { earlier?: { digests: string[] }[] }).earlier?.[0]?.digests,
        endpoint: new URL(on.chain.url).host,
        ...{ block: expect.any(Number), hash: expect.stringMatching(/^[0-9a-f]{64}$/), proved_at: expect.any(String) },
      },
    ]);
    const store = await group.openStore(party);
    const identity = new Identity(group.files.nodes[party]);
    const source = {
      registry: on.registry,
      getFamily,
      keys: await OrderKeys.create(orderKeys, 'MPC_NODE_ORDER_KEYS'),
      deployment,
    };
    const differences = [];
    for (const found of [
      verifyStatements(store.database, party, identity.getKeys.bind(identity)),
      verifyOrders(store.database, source),
    ])
      for await (const difference of found) differences.push(difference);
    await store.close();
    expect(differences).toEqual([]);
  }
  // another session over the same bytes
  expect(await sign(second, [1, 3])).toEqual({ signatures });
});

describe('an authoriser that orders one beside an attempt that may still be executed, or was', () => {
  test('it has not expired: every pair refuses', async () => {
    const { txId, first, ordered, signatures } = await signedFirst(20_000);
    const second = order(txId, await attempt(2), first);
    await refusedByAll(second, unproven);
    await send(ordered, signatures);
    await refusedByAll(second, unproven);
    for (const party of nodeIndexes) expect((await entries(party, txId)).filter(({ kind }) => kind === 'reissue')).toEqual([]);
  });

  test('it was executed, and its time is over: every pair refuses', async () => {
    const { txId, first, ordered, signatures } = await signedFirst(10_000);
    expect(await send(ordered, signatures)).toMatchObject({ result: true });
    await on.mine();
    await on.outlive(first);
    await refusedByAll(order(txId, await attempt(2), first), unproven);
  });
});

describe('an endpoint that lies', () => {
  const shownBy = (endpoint: string): object => expect.objectContaining({ endpoint }) as object;

  test('at one node: the other one refuses, whichever began', async () => {
    const { txId, first, ordered, signatures } = await signedFirst(10_000);
    await send(ordered, signatures);
    await on.mine();
    await on.outlive(first);
    const shown = { endpoint: 'liar', block: { number: 1, hash: '00'.repeat(32) } };
    const provers = new Map([['tron', { proveImpossible: () => Promise.resolve(shown) }]]);
    await group.stop(3);
    await group.start(3, { registry: on.registry, provers });
    const second = order(txId, await attempt(2), first);
    await refusedByAll(second, unproven);
    // it has believed the endpoint
    expect(await entries(3, txId)).toMatchObject([{ attempt: 2, kind: 'reissue', proofs: [shownBy('liar')] }, { attempt: 2 }]);
    await start(3);
  });

  test('or does not answer: its node refuses until it does, and the two others sign meanwhile', async () => {
    const { txId, first } = await signedFirst();
    await on.outlive(first);
    await on.endpoint('of-1', { down: true });
    const second = order(txId, await attempt(2, 60_000), first);
    const refused = { ...unproven, message: expect.stringContaining('none of its endpoints') as string };
    await expect(sign(second, [1, 2])).rejects.toMatchObject({ ...refused, retryable: true });
    await expect(sign(second, [3, 1])).rejects.toMatchObject(refused);
    const signed = await sign(second, [2, 3]);
    await on.endpoint('of-1', { down: false });
    expect(await sign(second, [1, 2])).toEqual(signed);
  });

  test('or is slow, at the joining node: the session does not wait for it, and a later one has its result', async () => {
    const { txId, first } = await signedFirst();
    await on.outlive(first);
    await on.endpoint('of-2', { slowMs: 1_000 });
    const second = order(txId, await attempt(2, 60_000), first);
    await expect(sign(second, [1, 2])).rejects.toMatchObject({ code: 'reissue_unproven' });
    const tries = async (left = 20): Promise<unknown> =>
      sign(second, [1, 2]).catch((error: unknown) => {
        if (left === 0) throw error;
        return new Promise((resolve) => setTimeout(resolve, 250)).then(() => tries(left - 1));
      });
    expect(await tries()).toMatchObject({ signatures: [expect.stringMatching(/^0x/)] });
  });

  test('or is not there at all: the node refuses', async () => {
    const { txId, first } = await signedFirst();
    await on.outlive(first);
    await group.stop(3);
    await group.start(3, { registry: on.registry });
    const second = order(txId, await attempt(2), first);
    const refused = { ...unproven, message: expect.stringContaining('no endpoint of tron') as string };
    await expect(sign(second, [3, 1])).rejects.toMatchObject(refused);
    await start(3);
  });
});

describe('an order that does not say what it takes the place of', () => {
  test('it names other bytes, which have expired, in place of those that were signed: every pair refuses', async () => {
    const false1 = await attempt(1);
    await on.outlive(false1);
    const { txId } = await signedFirst(20_000);
    await refusedByAll(order(txId, await attempt(2), false1), mismatch);
  });

  test('two at the same moment: one is signed', async () => {
    const { txId, first } = await signedFirst();
    await on.outlive(first);
    const [second, third] = [order(txId, await attempt(2, 20_000), first), order(txId, await attempt(3, 20_000), first)];
    const settled = await Promise.allSettled([sign(second, [1, 2]), sign(third, [1, 2])]);
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const later = settled[0]?.status === 'fulfilled' ? third : second;
    await refusedByAll(later, mismatch);
  });

  test('it leaves out a reissue that was signed, or names one that may still be executed: every pair refuses', async () => {
    const { txId, first } = await signedFirst();
    await on.outlive(first);
    const second = await attempt(2, 20_000);
    await sign(order(txId, second, first), [1, 3]);
    const third = await attempt(3, 20_000);
    await refusedByAll(order(txId, third, first), mismatch);
    await refusedByAll(order(txId, third, first, second), unproven);
    // nor does a first attempt of another number take its place
    await refusedByAll(order(txId, await attempt(4)), mismatch);
  });

  test.each<[string, (claims: Record<string, unknown>, other: Attempt) => void]>([
    ['digests that are not those of the bytes', (named) => (named.digests = [`0x${'11'.repeat(32)}`])],
    ['an attempt that is not earlier', (named) => (named.attempt = 2)],
    ['bytes of nothing', (named) => (named.unsigned = '0x00')],
    ['bytes of another attempt', (named, other) => (named.unsigned = other.unsigned)],
  ])('%s', async (_, change) => {
    const [first, other] = [await attempt(1), await attempt(1, 5_000)];
    const second = order(randomUUID(), await attempt(2), first);
    change((second.claims as unknown as { earlier: [Record<string, unknown>] }).earlier[0], other);
    await expect(sign(second, [1, 2])).rejects.toMatchObject(mismatch);
  });
});

// the last one: the chain is ahead from then on
test('the endpoints show a time that has not come: every pair refuses', async () => {
  const { txId, first } = await signedFirst(30_000);
  await on.mine(1, 60_000);
  await on.settle();
  const refused = { ...unproven, message: expect.stringContaining('by its clock') as string };
  await refusedByAll(order(txId, await attempt(2), first), refused);
});
