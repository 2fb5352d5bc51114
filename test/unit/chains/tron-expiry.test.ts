import type { TronChainClient } from '../../../src/chains/tron/client';
import type { Block, Header } from '../../../src/chains/tron/answers';
import { transactionId } from '../../../src/chains/tron/codec';
import { decode, encode } from '../../../src/chains/tron/codec/transaction';
import { findExpiry } from '../../../src/chains/tron/expiry';
import { Proofs } from '../../../src/chains/proofs';
import { askStatus, proveAt } from '../../../src/chains/tron/status';
import type { TronNode } from '../../../src/chains/tron/node';
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

test('an endpoint that stands still proves nothing, and the next one is asked', async () => {
  const made = await make();
  await chain.control('endpoint', { name: 'still', stopped: true });
  await outlive(made);
  await mine(30);
  expect(await stateOf(made, connectTron(chain, ['still']))).toBe('absent');
  // the chain of this test is ahead of the clock: one that stands still is behind it only later
  jest.spyOn(Date, 'now').mockReturnValue((await chain.control('status')).head_time_ms);
  await expect(stateOf(made, connectTron(chain, ['still']))).rejects.toMatchObject({ code: 'chain_unavailable' });
  expect(await stateOf(made, connectTron(chain, ['still', 'other']))).toBe('impossible');
  jest.restoreAllMocks();
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
  expect(await stateOf(made, connectTron(chain, ['liar', 'tall', 'honest']))).toBe('impossible');
});

test('the reference of another chain proves nothing', async () => {
  const other = await TestChain.start();
  await other.control('faucet', { address: alice.address, amount: String(trx(100)) });
  await other.control('faucet', { address: bob.address, amount: String(trx(1)) });
  await other.control('mine', { blocks: 30 });
  const made = await make(connectTron(other));
  await outlive(made);
  await mine(30);
  expect(await stateOf(made)).toBe('absent');
  await other.stop();
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
      findExpiry(node, definition, head, unsigned);

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
});

test('no proof of a node that leaves a transaction out of its blocks as well, where another one has it', async () => {
  const { node, made } = await hiding();
  const executed = { findReceipt: () => Promise.resolve({ id: made.id }) } as unknown as TronNode;
  const unreachable = { findReceipt: () => Promise.reject(new Error('down')) } as unknown as TronNode;
  const endpoints = (...others: TronNode[]) => ({
    run: <T>(work: (asked: TronNode) => Promise<T>) => work(node),
    some: async (says: (asked: TronNode) => Promise<boolean>) =>
      (await Promise.allSettled([node, ...others].map(says))).some((it) => it.status === 'fulfilled' && it.value),
  });
  const known = toKnown(made);
  const ask = (...others: TronNode[]) => askStatus(endpoints(...others), tronDefinition(), [known], new Proofs());
  const prove = (...others: TronNode[]) => proveAt(node, endpoints(...others), tronDefinition(), made.unsigned);
  await expect(ask(executed)).rejects.toThrow('another endpoint has executed');
  await expect(prove(executed)).rejects.toThrow('another endpoint has executed');
  expect(await ask(unreachable)).toMatchObject([{ state: 'impossible' }]);
  expect(await prove(unreachable)).toMatchObject({ endpoint: 'liar' });
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
