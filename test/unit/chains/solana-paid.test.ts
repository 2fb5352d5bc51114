import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { projectRoot } from '../../../dev/paths';
import { NoAnswer } from '../../../src/chains/no-answer';
import { toBase58 } from '../../../src/chains/solana/codec/base58';
import { type PaidBlock, readPaidBlock } from '../../../src/chains/solana/paid/read';
import { BlockThreads, readInThread } from '../../../src/chains/solana/paid/threads';
import { usdcMint } from '../../solana';

/** Blocks that are read in a thread, and what becomes of it. The thread runs the compiled files. */

const limits = { threads: 1, maxWaiting: 4, maxWaitMs: 30_000, readMs: 30_000 };
const asked = { slot: 7, mints: [usdcMint] };
/** In memory of their own, as those of a large answer are. */
const toBytes = (text: string): Buffer => {
  const bytes = Buffer.alloc(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
};
const name = (seed: number): string => toBase58(Buffer.alloc(32, seed + 1));
const signature = (seed: number): string => toBase58(Buffer.alloc(64, seed + 1));

/** What a reading gives or throws, with all that an error says. */
async function outcome(read: () => PaidBlock | null | Promise<PaidBlock | null>): Promise<unknown> {
  try {
    return { block: await read() };
  } catch (error) {
    const { constructor, message } = error as Error;
    return { class: constructor.name, message, ...(error as object) };
  }
}
const directly = (text: string) => outcome(() => readPaidBlock(Buffer.from(text), asked));
const inThread = (text: string) => outcome(() => threads.read(toBytes(text), asked));
const threads = new BlockThreads(limits);

const response = (result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 1, result });
const header = { blockhash: name(1), previousBlockhash: name(2), parentSlot: 6, blockHeight: 5, blockTime: 1_800_000_000 };
const transaction = {
  transaction: { signatures: [signature(1)], accountKeys: [{ pubkey: name(3) }, { pubkey: name(4) }] },
  meta: { err: null, preBalances: [900, 100], postBalances: [800, 200], preTokenBalances: [], postTokenBalances: [] },
};
const token = (changes: object = {}) => ({
  ...{ accountIndex: 1, mint: usdcMint, owner: name(5), uiTokenAmount: { amount: '500' }, ...changes },
});
const withMeta = (meta: object): string =>
  response({ ...header, transactions: [{ ...transaction, meta: { ...transaction.meta, ...meta } }] });
const withTransaction = (changes: object): string =>
  response({ ...header, transactions: [{ ...transaction, transaction: { ...transaction.transaction, ...changes } }] });

describe('a block that a thread reads is the one that is read directly', () => {
  /** Mostly the first. */
  const mostly = <T, U>(usual: fc.Arbitrary<T>, others: fc.Arbitrary<U>) =>
    fc.oneof({ weight: 40, arbitrary: usual }, { weight: 1, arbitrary: others });
  const lamports = mostly(fc.integer({ min: 0, max: 3 }), fc.constantFrom(2 ** 53, 2 ** 53 + 2, 1.5, -1, null, '5', undefined));
  const tokenBalance = fc.record({
    accountIndex: mostly(fc.integer({ min: 0, max: 3 }), fc.constantFrom(9, -1, null)),
    mint: mostly(fc.constantFrom(usdcMint, name(9)), fc.constantFrom(usdcMint.toLowerCase(), null)),
    owner: mostly(fc.integer({ min: 0, max: 4 }).map(name), fc.constantFrom(null, undefined, 'Ω')),
    uiTokenAmount: mostly(
      fc.nat(3).map((amount) => ({ amount: String(amount) })),
      fc.constantFrom({ amount: '1.5' }, null),
    ),
  });
  const tokenBalances = mostly(fc.array(tokenBalance, { maxLength: 3 }), fc.constantFrom(null, undefined, 'x'));
  const transactions = fc.integer({ min: 1, max: 4 }).chain((accounts) => {
    const list = <T>(each: fc.Arbitrary<T>) => fc.array(each, { minLength: accounts, maxLength: accounts });
    return fc.record({
      transaction: fc.record({
        signatures: mostly(
          fc.array(fc.nat(200).map(signature), { minLength: 1, maxLength: accounts }),
          fc.constantFrom([], ['short'], null),
        ),
        accountKeys: list(
          mostly(
            fc.nat(200).map((seed) => ({ pubkey: name(seed) })),
            fc.constantFrom({ pubkey: 'Ω' }, null),
          ),
        ),
      }),
      meta: mostly(
        fc.record({
          err: fc.constantFrom(null, null, null, 'x'),
          preBalances: list(lamports),
          postBalances: list(lamports),
          preTokenBalances: tokenBalances,
          postTokenBalances: tokenBalances,
        }),
        fc.constant(null),
      ),
    });
  });
  const blocks = fc.record({
    ...{ blockhash: fc.constant(name(1)), previousBlockhash: mostly(fc.constant(name(2)), fc.constant('x')) },
    ...{ parentSlot: fc.constant(6), blockHeight: fc.nat(), blockTime: fc.constantFrom(null, undefined, 1_800_000_000) },
    transactions: fc.array(transactions, { maxLength: 6 }),
  });

  it('whatever it has', async () => {
    const [read, refused] = [[] as PaidBlock[], [] as string[]];
    await fc.assert(
      fc.asyncProperty(blocks, async (block) => {
        const text = response(block);
        const expected = (await directly(text)) as { block: PaidBlock } | { message: string };
        expect(await inThread(text)).toEqual(expected);
        if ('block' in expected) read.push(expected.block);
        else refused.push(expected.message);
      }),
      { numRuns: 1_000 },
    );
    // there are enough of each kind
    expect(read.filter(({ payments }) => payments.some(({ account }) => account !== null)).length).toBeGreaterThan(20);
    expect(read.filter(({ payments }) => payments.some(({ amount }) => amount === null)).length).toBeGreaterThan(0);
    expect(new Set(refused).size).toBeGreaterThan(5);
  });

  it('with what it has paid', async () => {
    const text = withMeta({ preTokenBalances: [token()], postTokenBalances: [token({ uiTokenAmount: { amount: '700' } })] });
    const [id, payer, to] = [signature(1), name(3), name(4)];
    const payment = { txHash: id, position: '1', fromAddress: payer };
    expect(await inThread(text)).toEqual({
      block: {
        ...{ slot: 7, parentSlot: 6, height: 5, blockhash: name(1), parentHash: name(2), time: 1_800_000_000 },
        transactions: [{ id, payer, signers: [payer] }],
        payments: [
          { ...payment, account: null, tokenContract: null, toAddress: to, amount: 100n },
          { ...payment, account: to, tokenContract: usdcMint, toAddress: name(5), amount: 200n },
        ],
      },
    });
    expect(await directly(text)).toEqual(await inThread(text));
  });

  const other = 'Error';
  it.each<[string, string, object]>([
    ['no JSON', '<html>', { class: 'NoAnswer', message: 'the response is no JSON' }],
    ['JSON that is cut off', response(header).slice(0, -1), { class: 'NoAnswer', message: 'the response is no JSON' }],
    ['no object', '[]', { class: other, message: 'the response is no answer' }],
    ['another id', '{"id":2,"result":null}', { class: other, message: 'the response is no answer' }],
    ['no result', '{"id":1}', { class: other, message: 'the response has no result' }],
    ['no block', response(null), { block: null }],
    [
      'a slot that was skipped',
      '{"id":1,"error":{"code":-32007,"message":"Slot 7 was skipped","data":{"a":[1]}}}',
      { class: 'RpcError', message: 'the node answers with error -32007', code: -32_007, nodeMessage: 'Slot 7 was skipped' },
    ],
    ['an error without a code', '{"id":1,"error":{"message":"x"}}', { class: other, message: 'the node answers with an error' }],
    ['a text in place of a block', response('x'), { class: other, message: 'the answer is no object' }],
    ['no transactions', response(header), { class: other, message: 'the answer is no list' }],
    ['no hash', response({ ...header, blockhash: 'x', transactions: [] }), { message: 'the answer has no hash where it should' }],
    [
      'no slot',
      response({ ...header, parentSlot: -1, transactions: [] }),
      { message: 'the answer has no number where it should' },
    ],
    ['no signature', withTransaction({ signatures: [] }), { message: 'a transaction has no signature or no account' }],
    ['another signature', withTransaction({ signatures: ['x'] }), { message: 'a transaction has no signature or no account' }],
    ['no account', withTransaction({ accountKeys: [] }), { message: 'a transaction has no signature or no account' }],
    ['a key that is none', withTransaction({ accountKeys: [null] }), { message: 'the answer has no text where it should' }],
    // payments repeat it: a thread would pass on many times what the answer has
    [
      'a key that is longer than an address',
      withTransaction({ accountKeys: [{ pubkey: 'x'.repeat(45) }, { pubkey: name(4) }] }),
      { message: 'the answer has no address where it should' },
    ],
    [
      'an owner that is longer than an address',
      withMeta({ postTokenBalances: [token({ owner: 'x'.repeat(45) })] }),
      { message: 'the answer has no address where it should' },
    ],
    [
      'too few balances',
      withMeta({ preBalances: [1] }),
      { message: 'a transaction has another number of balances than of accounts' },
    ],
    [
      'more accounts than one byte names',
      response({
        ...header,
        transactions: [
          {
            transaction: { ...transaction.transaction, accountKeys: Array(257).fill({ pubkey: name(3) }) },
            meta: { ...transaction.meta, preBalances: Array(257).fill(1), postBalances: Array(257).fill(1) },
          },
        ],
      }),
      { message: 'a transaction has more accounts than its format can name' },
    ],
    [
      'more balances of tokens than accounts',
      withMeta({ preTokenBalances: [token(), token(), token()] }),
      { message: 'a transaction has more balances of tokens than accounts' },
    ],
    ['tokens on one side', withMeta({ preTokenBalances: null }), { message: 'a transaction has tokens on one side alone' }],
    [
      'an amount that is none',
      withMeta({ postTokenBalances: [token({ uiTokenAmount: { amount: '1.5' } })] }),
      { message: 'the answer has no amount where it should' },
    ],
    [
      'a token without an owner',
      withMeta({ postTokenBalances: [token({ owner: null })] }),
      { message: 'the answer does not say which token account it is, or who owns it' },
    ],
    [
      'a token of no account',
      withMeta({ postTokenBalances: [token({ accountIndex: 2 })] }),
      { message: 'the answer does not say which token account it is, or who owns it' },
    ],
  ])('%s', async (_, text, expected) => {
    const direct = await directly(text);
    expect(direct).toMatchObject(expected);
    expect(await inThread(text)).toEqual(direct);
  });
});

test('small answers are read where they are, and the memory of large ones goes to a thread', async () => {
  const block = { ...header, transactions: [transaction] };
  const [small, large] = [toBytes(response(block)), toBytes(response({ ...block, padding: 'x'.repeat(300_000) }))];
  const read = await Promise.all([small, large].map((bytes) => readInThread(bytes, asked)));
  expect(read[0]?.payments).toHaveLength(1);
  expect(read[1]).toEqual(read[0]);
  expect([small.length > 0, large.length]).toEqual([true, 0]);
});

describe('a thread that fails', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'solana-paid-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const compiled = path.join(projectRoot, 'dist/src/chains/solana/paid/thread.js');
  const fault = (code: string): string => {
    const file = path.join(mkdtempSync(path.join(folder, 'thread-')), 'thread.cjs');
    writeFileSync(file, `const { parentPort } = require('node:worker_threads');\n${code}\n`);
    return file;
  };
  const onMessage = (code: string): string => fault(`parentPort.on('message', () => { ${code} });`);
  /** The first thread runs this, those after it what they should. */
  const failingOnce = (file: string, changes: Partial<typeof limits> = {}) => {
    const files = [file];
    const resourceLimits = { maxOldGenerationSizeMb: 32 };
    return new BlockThreads({ ...limits, ...changes }, () => new Worker(files.shift() ?? compiled, { resourceLimits }));
  };
  const good = response({ ...header, transactions: [transaction] });
  const read = (pool: BlockThreads, text = good) => pool.read(toBytes(text), asked);
  const failed = (reason: string) => new NoAnswer(`the thread that read the response has failed: ${reason}`);
  const late = new NoAnswer('the response was not read in time');
  const expectReads = async (pool: BlockThreads) => expect((await read(pool))?.payments).toHaveLength(1);

  it.each([
    ['an error', onMessage('throw new TypeError("x")'), 'TypeError'],
    ['nothing thrown', onMessage('throw null'), 'it has thrown something'],
    ['an end', onMessage('process.exit(0)'), 'it has ended'],
    ['an error at its start', fault('throw new Error("x")'), 'Error'],
    ['a file that is not there', path.join(folder, 'none.cjs'), 'MODULE_NOT_FOUND'],
    // small objects: where V8's own code finds no room, the whole process ends
    ['more memory than it may have', onMessage('let all; for (;;) all = { all, list: [1, 2] };'), 'ERR_WORKER_OUT_OF_MEMORY'],
  ])('%s: there is no answer, and the next one is read', async (_, file, reason) => {
    const pool = failingOnce(file);
    const first = read(pool);
    const [second, third] = [read(pool), read(pool)];
    await expect(first).rejects.toThrow(failed(reason));
    await expect(first).rejects.toBeInstanceOf(NoAnswer);
    expect(await second).toEqual(await third);
    await expectReads(pool);
  });

  it('an error of a node that no thread can pass on', async () => {
    const pool = new BlockThreads(limits);
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    await expect(read(pool, `{"id":1,"error":{"code":-32007,"data":${deep}}}`)).rejects.toThrow(
      /^the thread that read the response has failed: /,
    );
    await expectReads(pool);
  });

  it('one that ends while nothing is read: the next answer has another one', async () => {
    const pool = failingOnce(onMessage(`parentPort.postMessage({ block: null }); setTimeout(() => process.exit(), 20)`));
    expect(await read(pool)).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 500));
    await expectReads(pool);
  });

  it('one that takes too long is ended, and the next answer is read after its end', async () => {
    const pool = failingOnce(onMessage('for (;;);'), { readMs: 1_000 });
    const [first, second] = [read(pool), read(pool)];
    await expect(first).rejects.toThrow(late);
    expect((await second)?.payments).toHaveLength(1);
  });

  it('one that takes long has others wait, as many as may, as long as may', async () => {
    const slow = onMessage('setTimeout(() => parentPort.postMessage({ block: null }), 500)');
    const pool = new BlockThreads({ ...limits, maxWaiting: 1, maxWaitMs: 50 }, () => new Worker(slow));
    const tooMany = new NoAnswer('too many responses wait to be read');
    const first = read(pool);
    const second = read(pool).catch((error: unknown) => error);
    await expect(read(pool)).rejects.toThrow(tooMany);
    expect(await second).toEqual(tooMany);
    expect(await first).toBeNull();
    expect(await read(pool)).toBeNull();
  });

  it('one that cannot be started takes no place', async () => {
    let started = 0;
    const pool = new BlockThreads(limits, () => {
      started += 1;
      if (started === 1) throw new Error('no file');
      return new Worker(compiled);
    });
    const notStarted = new NoAnswer('no thread to read the response could be started: no file');
    const thrown = await read(pool).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(NoAnswer);
    expect(thrown).toEqual(notStarted);
    await expectReads(pool);
  });
});

test('a process ends while its threads wait', () => {
  const script = `
    const { readInThread } = require('./dist/src/chains/solana/paid/threads');
    const text = ${JSON.stringify(response({ ...header, transactions: [transaction], padding: 'x' }))}.replace('"x"', '"' + 'x'.repeat(300_000) + '"');
    readInThread(Buffer.from(text), { slot: 7, mints: [] }).then(({ payments }) => console.log(payments.length));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
    ...{ cwd: projectRoot, encoding: 'utf8', timeout: 60_000 },
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '1\n', stderr: '' });
});
