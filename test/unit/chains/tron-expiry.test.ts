import type { TronChainClient } from '../../../src/chains/tron/client';
import type { Block, Header } from '../../../src/chains/tron/answers';
import { transactionId } from '../../../src/chains/tron/codec';
import { decode, encode } from '../../../src/chains/tron/codec/transaction';
import { findFirstSince } from '../../../src/chains/tron/block-search';
import { findExpiry } from '../../../src/chains/tron/expiry';
import { Proofs } from '../../../src/chains/proofs';
import type { Hex } from '../../../src/chains/types';
import { askStatus, proveAt } from '../../../src/chains/tron/status';
import type { TronNode } from '../../../src/chains/tron/node';
import { signDigest, tronCodec } from '../../tron';
import { connectTron, makeTron, type MadeTransaction, payTron, statusOfTron, toKnown, tronDefinition } from '../../tron-client';
import { type Holder, TestChain, trx } from '../../tron-simulator';

/** When a transaction that is not on the chain counts as impossible, so that another one may take its place. */

let chain: TestChain;
let client: TronChainClient;
let alice: Holder;
let bob: Holder;
const mine = (blocks = 1, skip_ms = 0) => chain.control('mine', { blocks, skip_ms });
const solidify = () => mine(19);
const make = (from = client) => makeTron(from, alice, payTron(alice, bob.address, trx(1)));
const expiration = ({ prepared }: MadeTransaction) => Number(prepared.expiry?.expiration);
/** A block that is as old as the expiration. */
const outlive = async (made: MadeTransaction) =>
  mine(1, Math.max(0, expiration(made) - (await chain.control('status')).head_time_ms));
const stateOf = async (made: MadeTransaction, asked = client) => (await statusOfTron(asked, made))[0]?.state;

beforeAll(async () => {
  chain = await TestChain.start();
  client = connectTron(chain);
  alice = await chain.funded(trx(10_000));
  bob = await chain.funded(trx(1));
  await solidify();
});
afterEach(() => chain.control('heal'));
afterAll(() => TestChain.stopAll());

test('proven once the first block of that age is as deep as watching goes, and not a block before', async () => {
  const made = await make();
  await outlive(made);
  // its depth in the solidified chain is 2 then, and watching goes to 3
  await mine(20);
  expect(await stateOf(made)).toBe('absent');
  await mine();
  const [status] = await statusOfTron(connectTron(chain), made);
  expect(status).toEqual({
    ...{ attempt: 1, state: 'impossible' },
    proof: {
      proved_at: expect.stringMatching(/^\d{4}-.*Z$/),
      ...{ expiration: expiration(made), reference_block: expect.any(Number), end_block: expect.any(Number) },
      ...{ reference_hash: expect.stringMatching(/^[0-9a-f]{64}$/), end_hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    },
  });
  expect(await client.broadcast(made.bytes)).toMatchObject({ outcome: 'waiting' });
});

test('one that was executed in the last block before its expiration is included, not impossible', async () => {
  const made = await make();
  await client.broadcast(made.bytes);
  await mine(1, expiration(made) - (await chain.control('status')).head_time_ms - 1_000);
  await outlive(made);
  await mine(25);
  expect(await stateOf(made)).toBe('included');
  // the node calls it expired, and has it
  expect(await client.broadcast(made.bytes)).toEqual({ outcome: 'accepted' });
});

test('one that was dropped is impossible, and the one in its place is included', async () => {
  await chain.control('drop', { count: 1 });
  const made = await make();
  await client.broadcast(made.bytes);
  await outlive(made);
  await mine(21);
  expect(await stateOf(made)).toBe('impossible');
  const again = await make();
  await client.broadcast(again.bytes);
  await mine(20);
  expect((await statusOfTron(client, made, again)).map(({ state }) => state)).toEqual(['impossible', 'included']);
});

test('an endpoint that stands still proves nothing, and while it is configured nor does the next one', async () => {
  const made = await make();
  await chain.control('endpoint', { name: 'still', stopped: true });
  await outlive(made);
  await mine(30);
  await expect(stateOf(made, connectTron(chain, ['still']))).rejects.toMatchObject({ code: 'chain_unavailable' });
  expect(await stateOf(made, connectTron(chain, ['still', 'other']))).toBe('absent');
  expect(await stateOf(made, connectTron(chain, ['other']))).toBe('impossible');
});

test('an endpoint whose oldest block is younger than the attempt proves nothing, of what was executed and of what was not', async () => {
  const [executed, dropped] = [await make(), await make()];
  await client.broadcast(executed.bytes);
  await mine(30);
  const { solidified: firstBlock } = await chain.control('status');
  await outlive(executed);
  await outlive(dropped);
  await mine(30);
  await chain.control('endpoint', { name: 'young', firstBlock });
  for (const made of [executed, dropped]) {
    expect(await stateOf(made, connectTron(chain, ['young']))).toBe('absent');
    const proof = connectTron(chain, ['young']).proveImpossible(made.unsigned);
    await expect(proof).rejects.toMatchObject({ code: 'chain_unavailable' });
  }
  const both = () => connectTron(chain, ['young', 'old']);
  expect([await stateOf(executed, both()), await stateOf(dropped, both())]).toEqual(['included', 'impossible']);
  expect(await both().proveImpossible(executed.unsigned)).toBeNull();
  expect(await both().proveImpossible(dropped.unsigned)).not.toBeNull();
});

test('an endpoint that hides transactions is found out by its blocks', async () => {
  const made = await make();
  await client.broadcast(made.bytes);
  await outlive(made);
  await mine(30);
  await chain.control('endpoint', { name: 'liar', lie: 'absent' });
  await expect(stateOf(made, connectTron(chain, ['liar']))).rejects.toMatchObject({ code: 'chain_unavailable' });
  expect(await stateOf(made, connectTron(chain, ['liar', 'honest']))).toBe('included');
});

test('an endpoint that shows other ids proves nothing', async () => {
  const made = await make();
  await outlive(made);
  await mine(30);
  await chain.control('endpoint', { name: 'liar', lie: 'ids' });
  await chain.control('endpoint', { name: 'tall', lie: 'height' });
  await expect(stateOf(made, connectTron(chain, ['tall']))).rejects.toMatchObject({ code: 'chain_unavailable' });
  expect(await stateOf(made, connectTron(chain, ['liar', 'tall', 'honest']))).toBe('absent');
  expect(await stateOf(made, connectTron(chain, ['honest']))).toBe('impossible');
});

test('every configured endpoint has to answer that it has not executed it, and to show the last block of the proof', async () => {
  const made = await make();
  await outlive(made);
  await mine(30);
  const names = ['one', 'two', 'three'];
  for (const fault of [{ down: true }, { requestsPerSecond: 0 }, { lie: 'ids' }]) {
    await chain.control('endpoint', { name: 'three', ...fault });
    expect(await statusOfTron(connectTron(chain, names), made)).toEqual([{ attempt: 1, state: 'absent', isUnagreed: true }]);
    await expect(connectTron(chain, names).proveImpossible(made.unsigned)).rejects.toMatchObject({ code: 'chain_unavailable' });
    await chain.control('heal');
  }
  expect(await stateOf(made, connectTron(chain, names))).toBe('impossible');
  expect(await connectTron(chain, names).proveImpossible(made.unsigned)).not.toBeNull();
});

describe('the gateway’s own clock', () => {
  /** Of the client's chain: a second for each block. */
  const toleranceMs = 20_000;

  test('an endpoint that shows a time which has not come proves nothing until the clock is a minute of blocks behind it', async () => {
    const made = await make();
    await outlive(made);
    await mine(30);
    const at = (ms: number) => connectTron(chain, [], { now: () => expiration(made) + ms });
    for (const now of [-3_600_000, 0, toleranceMs - 1]) {
      expect(await stateOf(made, at(now))).toBe('absent');
      expect(await at(now).proveImpossible(made.unsigned)).toBeNull();
    }
    expect(await stateOf(made, at(toleranceMs))).toBe('impossible');
    expect(await at(toleranceMs).proveImpossible(made.unsigned)).not.toBeNull();
  });

  test('alone it proves nothing: the solidified chain has to be there too', async () => {
    const made = await make();
    const late = connectTron(chain, [], { now: () => expiration(made) + 86_400_000 });
    await expect(stateOf(made, late)).rejects.toMatchObject({ code: 'chain_unavailable' });
    await expect(late.proveImpossible(made.unsigned)).rejects.toMatchObject({ code: 'chain_unavailable' });
  });
});

describe('the block that it refers to is gone', () => {
  /** Refers to the newest block, as other wallets do, and not to a solidified one. */
  const onHead = async (): Promise<MadeTransaction> => {
    const made = await make();
    const { ref_block_bytes: number, ref_block_hash: id } = chain.onHead();
    const unsigned = encode({ ...decode(made.unsigned), reference: { number, id } });
    const [payload] = tronCodec.signingPayloads(unsigned, alice.address);
    const signature = signDigest(payload?.digest as Hex, alice.key);
    return { ...made, unsigned, ...tronCodec.assemble(unsigned, [signature], alice.address) };
  };
  const forked = async (): Promise<MadeTransaction> => {
    await mine(3);
    const made = await onHead();
    expect(await client.broadcast(made.bytes)).toEqual({ outcome: 'accepted' });
    await chain.control('fork', { depth: 2, transactions: 'keep' });
    expect(await client.broadcast(made.bytes)).toMatchObject({ outcome: 'waiting' });
    return made;
  };

  test('by a fork: impossible once another block is solidified in its place and it has expired; another takes its place', async () => {
    const made = await forked();
    await solidify();
    expect(await stateOf(made)).toBe('absent');
    await outlive(made);
    await mine(21);
    const { reference } = decode(made.unsigned);
    const [status] = await statusOfTron(client, made);
    expect(status).toMatchObject({ state: 'impossible', proof: { expiration: expiration(made), end_hash: expect.any(String) } });
    const { other_block: number, other_hash: hash, ...proof } = status?.state === 'impossible' ? status.proof : {};
    expect(Number(number) % 65_536).toBe(reference.number.readUInt16BE());
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(hash).not.toMatch(reference.id.toString('hex'));
    expect(proof).not.toHaveProperty('reference_block');
    expect(await client.proveImpossible(made.unsigned)).not.toBeNull();
    const again = await make();
    await client.broadcast(again.bytes);
    await mine(20);
    expect((await statusOfTron(client, made, again)).map(({ state }) => state)).toEqual(['impossible', 'included']);
  });

  test('nothing is proven as long as an endpoint shows another chain, or does not answer', async () => {
    const made = await forked();
    await outlive(made);
    await mine(30);
    const names = ['one', 'two'];
    for (const fault of [{ lie: 'ids' }, { down: true }]) {
      await chain.control('endpoint', { name: 'two', ...fault });
      expect(await statusOfTron(connectTron(chain, names), made)).toEqual([{ attempt: 1, state: 'absent', isUnagreed: true }]);
      await expect(connectTron(chain, names).proveImpossible(made.unsigned)).rejects.toMatchObject({ code: 'chain_unavailable' });
      await chain.control('heal');
    }
    expect(await stateOf(made, connectTron(chain, names))).toBe('impossible');
    expect(await connectTron(chain, names).proveImpossible(made.unsigned)).not.toBeNull();
  });

  test('one that was executed by another fork’s block, which is the solidified one, is included', async () => {
    await mine(3);
    const made = await onHead();
    await client.broadcast(made.bytes);
    await mine(30);
    await outlive(made);
    await mine(30);
    expect(await stateOf(made)).toBe('included');
    expect(await client.proveImpossible(made.unsigned)).toBeNull();
  });
});

describe('by the blocks', () => {
  const block = (number: number, timeMs: number, fork = 0): Block => ({
    ...{ number, timeMs, transactions: [] },
    ...{
      id: number.toString(16).padStart(16, '0') + `${fork}`.repeat(48),
      parentId: (number - 1).toString(16).padStart(16, '0') + '0'.repeat(48),
    },
  });
  /** A node with blocks 0 to `top`, one a second from the chain's time on; `change` alters what it shows. */
  const nodeOf = (top: number, start: number, change: (shown: Block) => Block | null = (it) => it) => {
    const at = (number: number): Block | null =>
      number < 0 || number > top ? null : change(block(number, start + number * 1_000));
    const solidBlocks = (from: number, to: number): Promise<Block[]> => {
      const shown = Array.from({ length: to - from + 1 }, (_, index) => at(from + index));
      const end = shown.indexOf(null);
      return Promise.resolve((end < 0 ? shown : shown.slice(0, end)) as Block[]);
    };
    return {
      head: at(top) as Header,
      node: { solidHeader: (number: number) => Promise.resolve(at(number)), solidBlocks } as unknown as TronNode,
    };
  };

  test('the reference is found behind its number’s earlier uses, and blocks must follow each other up to the end', async () => {
    const made = await make();
    const reference = { number: Buffer.from('0005', 'hex'), id: Buffer.from('00'.repeat(8), 'hex') };
    const start = 1_700_000_000_000;
    const bytes = (expiry: number, number = '0005') =>
      encode({
        ...decode(made.unsigned),
        expiration: BigInt(expiry),
        reference: { ...reference, number: Buffer.from(number, 'hex') },
      });
    const definition = tronDefinition();
    const ask = ({ node, head }: ReturnType<typeof nodeOf>, unsigned = bytes(start + 60_000)) =>
      findExpiry(node, { chain: definition, head, now: Date.now }, unsigned);

    expect(await ask(nodeOf(61, start))).toEqual({ state: 'open' });
    expect(await ask(nodeOf(62, start))).toMatchObject({ state: 'expired', proof: { reference_block: 5, end_block: 60 } });
    // the same two bytes again, 65,536 blocks later
    expect(
      await ask(
        nodeOf(65_541, start, (it) =>
          it.number === 65_541 ? { ...it, id: it.id.replace(/0$/, '1').replace(/^(.{16}).{16}/, `$1${'1'.repeat(16)}`) } : it,
        ),
      ),
    ).toMatchObject({
      proof: { reference_block: 5 },
    });
    // a year later
    const later = 65_536 * 160 + 100;
    expect(await ask(nodeOf(later, start))).toMatchObject({ proof: { reference_block: 5, end_block: 60 } });
    const cut = (missing: number) => nodeOf(100, start, (it) => (it.number === missing ? null : it));
    expect(await ask(cut(5))).toEqual({ state: 'lacking' });
    expect(await ask(cut(60))).toEqual({ state: 'lacking' });
    expect(await ask(cut(30))).toEqual({ state: 'lacking' });
    const forked = nodeOf(100, start, (it) => (it.number === 30 ? { ...it, parentId: 'f'.repeat(64) } : it));
    expect(await ask(forked, bytes(start + 60_000, '001d'))).toEqual({ state: 'lacking' });
    const holding = nodeOf(100, start, (it) =>
      it.number === 60
        ? { ...it, transactions: [{ id: transactionId(bytes(start + 60_000)), raw: Buffer.alloc(0), result: 'SUCCESS' }] }
        : it,
    );
    await expect(ask(holding)).rejects.toThrow('a block holds a transaction');
  });

  test('where the reference is gone, every block of its number that a block of its life refers to has to be another one', async () => {
    const made = await make();
    const start = 1_700_000_000_000;
    const top = 65_536 * 2 + 100;
    const expiry = start + 1_000 * (65_536 + 60);
    const unsigned = (number: string, id: string) =>
      encode({
        ...decode(made.unsigned),
        expiration: BigInt(expiry),
        reference: { number: Buffer.from(number, 'hex'), id: Buffer.from(id, 'hex') },
      });
    const other = 'ab'.repeat(8);
    const ask = ({ node, head }: ReturnType<typeof nodeOf>, bytes: Hex, blockTimeMs = 1_000) =>
      findExpiry(node, { chain: tronDefinition({ blockTimeMs }), head, now: Date.now }, bytes);

    expect(await ask(nodeOf(top, start), unsigned('0005', other))).toMatchObject({
      state: 'expired',
      proof: { other_block: 65_541, end_block: 65_596 },
      agreed: [{ number: 65_541 }, { number: 5 }, { number: 65_596 }],
    });
    // blocks before 65,541 refer to 5, eighteen hours earlier
    const earlier = nodeOf(top, start, (it) =>
      it.number === 5 ? { ...it, id: it.id.slice(0, 16) + other + '0'.repeat(32) } : it,
    );
    expect(await ask(earlier, unsigned('0005', other))).toEqual({ state: 'lacking' });
    const pruned = nodeOf(top, start, (it) => (it.number < 65_000 ? null : it));
    expect(await ask(pruned, unsigned('0005', other))).toEqual({ state: 'lacking' });
    // three seconds between blocks, as on the real networks: the one before the newest of that number is two days old, and looked at
    const slow = (kept: number) =>
      nodeOf(top, start, (it) => (it.number < kept ? null : { ...it, timeMs: expiry + (it.number - 65_596) * 3_000 }));
    expect(await ask(slow(0), unsigned('0005', other), 3_000)).toMatchObject({
      proof: { other_block: 65_541 },
      agreed: [{ number: 65_541 }, { number: 5 }, { number: 65_596 }],
    });
    expect(await ask(slow(65_000), unsigned('0005', other), 3_000)).toEqual({ state: 'lacking' });
    // one of that number will follow later, and the newest is older than a day: those before it need not be there
    expect(await ask(slow(0), unsigned('0100', other), 3_000)).toMatchObject({ proof: { other_block: 256 } });
    // a chain that has no block of that number
    expect(await ask(nodeOf(100, expiry - 60_000), unsigned('fff0', other))).toMatchObject({
      state: 'expired',
      proof: { other_block: null, end_block: 60 },
      agreed: [{ number: 60 }],
    });
    const holding = nodeOf(top, start, (it) =>
      it.number === 65_500
        ? { ...it, transactions: [{ id: transactionId(unsigned('0100', other)), raw: Buffer.alloc(0), result: 'SUCCESS' }] }
        : it,
    );
    await expect(ask(holding, unsigned('0100', other))).rejects.toThrow('a block holds a transaction');
  });

  test('a reference to a block of days ago, which blocks up to the next one of its number execute, is not taken for missing', async () => {
    const made = await make();
    // the newest block of the number is 65,541, a few blocks ahead of the head that the transaction was made on
    const expiry = 1_700_000_000_000;
    const old = 'ab'.repeat(8);
    const refersTo = (id: string) =>
      encode({
        ...decode(made.unsigned),
        expiration: BigInt(expiry),
        reference: { number: Buffer.from('0005', 'hex'), id: Buffer.from(id, 'hex') },
      });
    const ask = (unsigned: Hex, holds: boolean) => {
      const transactions = holds ? [{ id: transactionId(unsigned), raw: Buffer.alloc(0), result: 'SUCCESS' }] : [];
      const { node, head } = nodeOf(65_700, expiry, (it) => ({
        ...it,
        timeMs: expiry + (it.number - 65_596) * 3_000,
        ...(it.number === 5 && { id: it.id.slice(0, 16) + old + '0'.repeat(32) }),
        ...(it.number === 65_540 && { transactions }),
      }));
      return findExpiry(node, { chain: tronDefinition({ blockTimeMs: 3_000 }), head, now: Date.now }, unsigned);
    };
    expect(await ask(refersTo(old), false)).toEqual({ state: 'lacking' });
    // nor are the blocks before the newest one left unread
    await expect(ask(refersTo('cd'.repeat(8)), true)).rejects.toThrow('a block holds a transaction');
    expect(await ask(refersTo('cd'.repeat(8)), false)).toMatchObject({ state: 'expired', proof: { other_block: 65_541 } });
  });

  test('an endpoint that comes so far while it is asked, and has executed it by then, is not taken for one that has not', async () => {
    const made = await make();
    const start = 1_700_000_000_000;
    const unsigned = encode({
      ...decode(made.unsigned),
      expiration: BigInt(start + 60_000),
      reference: { number: Buffer.from('0005', 'hex'), id: Buffer.from('00'.repeat(8), 'hex') },
    });
    const { node, head } = nodeOf(100, start);
    const first = { ...node, solidHead: () => Promise.resolve(head), findReceipt: () => Promise.resolve(null) };
    let hasCome = false;
    /** What it answers to the first question; it answers the next one as one that has come so far. */
    const behind = <T>(early: T, late: Promise<T>): Promise<T> => {
      const answer = hasCome ? late : Promise.resolve(early);
      hasCome = true;
      return answer;
    };
    const advancing = {
      solidHeader: (number: number) => behind(null, node.solidHeader(number)),
      findReceipt: (id: string) => behind<object | null>(null, Promise.resolve({ id })),
    };
    const endpoints = {
      size: 2,
      run: <T>(work: (asked: TronNode) => Promise<T>) => work(first as unknown as TronNode),
      every: async (says: (asked: TronNode) => Promise<boolean>) =>
        (await Promise.all([first, advancing].map((asked) => says(asked as unknown as TronNode)))).every(Boolean),
    };
    const sight = { endpoints, chain: tronDefinition(), now: Date.now };
    await expect(askStatus(sight, [{ ...toKnown(made, 1), unsigned }], new Proofs())).rejects.toThrow(/executed/);
    hasCome = false;
    await expect(proveAt(first as unknown as TronNode, sight, unsigned)).rejects.toThrow(/executed/);
  });

  test('the first block of a time is found behind gaps, however long ago', async () => {
    const start = 1_700_000_000_000;
    /** No block is made for an hour after number 40, and after that every third one is missing. */
    const timeOf = (number: number) => (number <= 40 ? number : 3_640 + (number - 40) + Math.floor((number - 40) / 2)) * 1_000;
    const node = nodeOf(5_000, start, (it) => ({ ...it, timeMs: start + timeOf(it.number) }));
    for (const number of [0, 1, 40, 41, 42, 100, 4_999, 5_000])
      for (const before of [0, 500])
        expect(await findFirstSince(node.node, node.head, { timeMs: start + timeOf(number) - before, blockTimeMs: 1_000 })).toBe(
          number,
        );
  });
});

test('several attempts are looked at at once, and a few at a time', async () => {
  let [running, most] = [0, 0];
  const node = {
    solidHead: () => Promise.resolve({ number: 1, timeMs: 0 }),
    findReceipt: async () => {
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      return null;
    },
    isKnown: () => Promise.resolve(false),
  } as unknown as TronNode;
  const endpoints = {
    size: 1,
    run: <T>(work: (asked: TronNode) => Promise<T>) => work(node),
    every: () => Promise.resolve(false),
  };
  const made = await make();
  const attempts = Array.from({ length: 20 }, (_, index) => toKnown(made, index + 1));
  const states = await askStatus({ endpoints, chain: tronDefinition(), now: Date.now }, attempts, new Proofs());
  expect(states).toEqual(attempts.map(({ attempt }) => ({ attempt, state: 'absent' })));
  expect(most).toBe(4);
});

test('no proof of a node that leaves a transaction out of its blocks as well, where another one has it', async () => {
  const { node, made } = await hiding();
  const executed = {
    solidHeader: (number: number) => node.solidHeader(number),
    findReceipt: () => Promise.resolve({ id: made.id }),
  } as unknown as TronNode;
  const unreachable = { findReceipt: () => Promise.reject(new Error('down')) } as unknown as TronNode;
  const sight = (...others: TronNode[]) => ({
    endpoints: {
      size: 1 + others.length,
      run: <T>(work: (asked: TronNode) => Promise<T>) => work(node),
      every: async (says: (asked: TronNode) => Promise<boolean>) =>
        (await Promise.allSettled([node, ...others].map(says))).every((it) => it.status === 'fulfilled' && it.value),
    },
    chain: tronDefinition(),
    now: () => expiration(made) + 60_000,
  });
  const known = toKnown(made);
  const ask = (...others: TronNode[]) => askStatus(sight(...others), [known], new Proofs());
  const prove = (...others: TronNode[]) => proveAt(node, sight(...others), made.unsigned);
  await expect(ask(executed)).rejects.toThrow('another endpoint has executed');
  await expect(prove(executed)).rejects.toThrow('another endpoint has executed');
  expect(await ask(unreachable)).toEqual([{ attempt: 1, state: 'absent', isUnagreed: true }]);
  await expect(prove(unreachable)).rejects.toThrow('another endpoint does not answer');
  expect(await ask(node)).toMatchObject([{ state: 'impossible' }]);
  expect(await prove(node)).toMatchObject({ endpoint: 'liar' });
});

/** A node that shows empty blocks, with a transaction that has expired there. */
async function hiding(): Promise<{ node: TronNode; made: MadeTransaction }> {
  const made = await make();
  const { number, id } = decode(made.unsigned).reference;
  const first = number.readUInt16BE();
  const start = expiration(made) - 60_000;
  const at = (height: number): Block => ({
    ...{ number: height, timeMs: start + (height - first) * 1_000, transactions: [] },
    id: height.toString(16).padStart(16, '0') + (height === first ? id.toString('hex') : 'c'.repeat(16)) + '0'.repeat(32),
    parentId: '',
  });
  const blocks = new Map<number, Block>();
  for (let height = first; height <= first + 100; height += 1)
    blocks.set(height, { ...at(height), parentId: blocks.get(height - 1)?.id ?? '' });
  const head = blocks.get(first + 100) as Header;
  const node = {
    host: 'liar',
    solidHead: () => Promise.resolve(head),
    solidHeader: (height: number) => Promise.resolve(blocks.get(height) ?? null),
    solidBlocks: (from: number, to: number) =>
      Promise.resolve([...blocks.values()].filter((it) => it.number >= from && it.number <= to)),
    findReceipt: () => Promise.resolve(null),
    isKnown: () => Promise.resolve(false),
  } as unknown as TronNode;
  return { node, made };
}

describe('what a signing node asks', () => {
  const proofAt = (made: MadeTransaction, ...names: string[]) => connectTron(chain, names).proveImpossible(made.unsigned);

  test('nothing is proven before it has expired, and nothing of one that was executed', async () => {
    const [open, executed] = [await make(), await make()];
    await client.broadcast(executed.bytes);
    expect(await proofAt(open)).toBeNull();
    await outlive(executed);
    await outlive(open);
    await mine(21);
    expect(await proofAt(executed)).toBeNull();
    const { solidified: number } = await chain.control('status');
    expect(await proofAt(open)).toEqual({
      endpoint: new URL(chain.url).host,
      block: { number, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
  });

  test('an endpoint that hides transactions proves nothing, nor does one that is down; the next one is asked', async () => {
    const made = await make();
    await client.broadcast(made.bytes);
    await outlive(made);
    await mine(30);
    await chain.control('endpoint', { name: 'liar', lie: 'absent' });
    await chain.control('endpoint', { name: 'down', down: true });
    await expect(proofAt(made, 'liar', 'down')).rejects.toMatchObject({ code: 'chain_unavailable' });
    expect(await proofAt(made, 'liar', 'down', 'honest')).toBeNull();
  });
});
