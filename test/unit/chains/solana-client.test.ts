import crypto from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { SolanaChainClient } from '../../../src/chains/solana/client';
import { toBase58 } from '../../../src/chains/solana/codec/base58';
import { toBytes } from '../../../src/chains/solana/codec/address';
import { programs } from '../../../src/chains/solana/codec/programs';
import { associatedTokenAccount } from '../../../src/chains/solana/codec/token-account';
import { decode } from '../../../src/chains/solana/codec/transaction';
import { validBlocks } from '../../../src/chains/solana/expiry';
import { highestPrice, priceSpread } from '../../../src/chains/solana/fees';
import { Paces } from '../../../src/chains/request-rate';
import { parseEndpoint } from '../../../src/chains/solana/url';
import { readForeign } from '../../../src/chains/solana/foreign';
import type { KnownAttempt } from '../../../src/chains/chain-client';
import type { Hex, JsonObject, JsonValue, Prepared, TransactionIntent } from '../../../src/chains/types';
import { signMessage, solanaChain, solanaCodec, usdcMint } from '../../solana';
import { StubError, StubNode, systemProgram, tokenAccount } from '../../solana-node';

const key = Buffer.alloc(32, 0x11);
const walletOf = (seed: Uint8Array) => solanaCodec.address(ed25519.getPublicKey(seed)).address;
const [from, to] = [walletOf(key), walletOf(Buffer.alloc(32, 0x22))];
const accountOf = (owner: string) => toBase58(associatedTokenAccount(toBytes(owner), toBytes(usdcMint), 'token'));
const tokenProgram = toBase58(programs.token);

let node: StubNode;
let client: SolanaChainClient;
const mint = (): Buffer => {
  const data = Buffer.alloc(82);
  data[44] = 6;
  data[45] = 1;
  return data;
};

beforeEach(async () => {
  node = await StubNode.start();
  client = new SolanaChainClient(solanaChain, [node.url]);
  node.accounts.set(from, { lamports: 1_000_000_000, owner: systemProgram });
  node.accounts.set(to, { lamports: 5_000_000, owner: systemProgram });
  node.accounts.set(usdcMint, { lamports: 1, owner: tokenProgram, data: mint() });
  node.accounts.set(accountOf(from), tokenAccount(from));
});
afterEach(() => node.stop());

const sol = (amount: bigint, recipient = to): TransactionIntent => ({
  from,
  outputs: [{ recipient, tokenContract: null, amount }],
});
const usdc = (amount: bigint): TransactionIntent => ({ from, outputs: [{ recipient: to, tokenContract: usdcMint, amount }] });

interface Made {
  intent: TransactionIntent;
  prepared: Prepared;
  unsigned: Hex;
  id: string;
  bytes: Hex;
}

async function make(intent: TransactionIntent): Promise<Made> {
  const prepared = await client.prepare({ kind: 'first', intent, previous: [] });
  const unsigned = solanaCodec.build({ chain: solanaChain, intent, kind: 'first', prepared, resources: [] });
  return { intent, prepared, unsigned, ...solanaCodec.assemble(unsigned, [signMessage(unsigned, key)], from) };
}
const known = ({ intent, prepared, unsigned, id }: Made, changes: Partial<KnownAttempt> = {}): KnownAttempt => ({
  ...{ attempt: 1, kind: 'first', intent, unsigned, messageKey: solanaCodec.messageKey(unsigned, from), ids: [id] },
  ...{ expiry: prepared.expiry, begunAt: new Date(), ...changes },
});
const statusOf = async (made: Made, changes?: Partial<KnownAttempt>) => (await client.status([known(made, changes)]))[0];

/** As a block shows a transaction; `lamports`: what accounts have more, by address; the payer loses the rest. */
function executed(bytes: Hex, lamports: Record<string, number>, meta: JsonObject = {}): JsonObject {
  const raw = Buffer.from(bytes.slice(2), 'hex');
  const preBalances = readForeign(raw, []).keys.map(() => 1_000_000_000);
  const postBalances = readForeign(raw, []).keys.map((it, index) => (preBalances[index] as number) + (lamports[it] ?? 0));
  return { transaction: [raw.toString('base64'), 'base64'], meta: { err: null, preBalances, postBalances, ...meta } };
}
const tokens = (bytes: Hex, amounts: Record<string, [owner: string, amount: string]>): JsonValue => {
  const { keys } = readForeign(Buffer.from(bytes.slice(2), 'hex'), []);
  return Object.entries(amounts).map(([account, [owner, amount]]) => ({
    ...{ accountIndex: keys.indexOf(account), mint: usdcMint, owner, uiTokenAmount: { amount } },
  }));
};
const ours = (...addresses: string[]) => {
  const keys = new Set(addresses.map((it) => solanaCodec.parseAddress(it)?.key));
  return (asked: string[]) => Promise.resolve(new Set(asked.filter((it) => keys.has(it))));
};

describe('prepare', () => {
  beforeEach(() => {
    // the random part of a price
    jest.spyOn(crypto, 'randomInt').mockImplementation(() => 0);
  });
  afterEach(() => jest.restoreAllMocks());

  it('the same payment, on the same block: other messages, at the price of one or a little more', async () => {
    jest.restoreAllMocks();
    node.prices = [20_000];
    const made = await Promise.all(Array.from({ length: 20 }, () => make(sol(5n))));
    expect(new Set(made.map(({ prepared }) => prepared.expiry?.blockhash)).size).toBe(1);
    // of 5,000 prices
    expect(new Set(made.map(({ unsigned }) => unsigned)).size).toBeGreaterThan(10);
    for (const { prepared } of made) {
      const price = Number((prepared.details as JsonObject).price);
      expect(price >= 20_000 && price < 20_000 + priceSpread).toBe(true);
    }
  });

  it('SOL: the newest finalized block, units of the simulation and their price', async () => {
    node.prices = [0, 10_000, 20_000, 30_000];
    const { blockhash, slot, blockHeight } = node.mine(5);
    const prepared = await client.prepare({ kind: 'first', intent: sol(5n), previous: [] });
    expect(prepared).toEqual({
      ...{ feeBound: '5360', expiry: { blockhash, slot, lastValidBlockHeight: blockHeight + 150 } },
      details: { units: 12_000, price: '30000', token: null },
    });
  });

  it('a price has its floor', async () => {
    node.prices = [0, 9_999];
    expect(await client.prepare({ kind: 'first', intent: sol(5n), previous: [] })).toMatchObject({
      ...{ feeBound: '5120', details: { price: '10000' } },
    });
  });

  it('the highest price that is believed leaves room for its random part', async () => {
    node.prices = [Number(highestPrice)];
    expect(await client.prepare({ kind: 'first', intent: sol(5n), previous: [] })).toMatchObject({
      details: { price: String(highestPrice) },
    });
  });

  it('a price above the highest is not believed: the next endpoint is asked, and without one no fees are known', async () => {
    node.prices = [Number(highestPrice) + 1];
    const honest = await StubNode.start();
    try {
      const both = new SolanaChainClient(solanaChain, [node.url, honest.url]);
      expect(await both.feeLevels()).toEqual({ price: '10000' });
    } finally {
      await honest.stop();
    }
    const fault = {
      ...{ code: 'chain_unavailable', message: 'solana: a priority fee of 4995002 is not believed' },
      cause: { alert: 'fees_not_believed' },
    };
    await expect(client.feeLevels()).rejects.toMatchObject(fault);
  });

  it('what others pay to write to the accounts of a payment is capped: it does not hold up the payment', async () => {
    node.prices = [Number(highestPrice) + 1];
    expect(await client.prepare({ kind: 'first', intent: sol(5n), previous: [] })).toMatchObject({
      details: { price: String(highestPrice) },
    });
  });

  it('a token: its account is created where it is missing, and its rent is in the bound', async () => {
    const missing = await client.prepare({ kind: 'first', intent: usdc(5n), previous: [] });
    expect(missing).toMatchObject({ feeBound: '2044400', details: { token: { program: 'token', decimals: 6, creates: true } } });
    node.accounts.set(accountOf(to), tokenAccount(to));
    const there = await client.prepare({ kind: 'first', intent: usdc(5n), previous: [] });
    expect(there).toMatchObject({ feeBound: '5120', details: { token: { creates: false } } });
  });

  const reverted = { code: 'would_revert' };
  const tooLittle = { code: 'not_estimated', message: 'solana: the account has less SOL than the transaction takes' };
  const newcomer = walletOf(Buffer.alloc(32, 0x33));
  it.each<[string, TransactionIntent, object, () => unknown]>([
    ['more than there is', sol(999_999_000n), tooLittle, () => 0],
    ['from an account that has nothing', sol(5n), tooLittle, () => (node.simulation = { err: 'AccountNotFound' })],
    ['what leaves dust', sol(999_900_000n), reverted, () => 0],
    ['too little to somebody new', sol(890_879n, newcomer), reverted, () => 0],
    ['what fails', sol(5n), reverted, () => (node.simulation = { err: { InstructionError: [2, 'Custom'] } })],
    ['to a token account', sol(5n), reverted, () => node.accounts.set(to, { lamports: 1, owner: tokenProgram })],
    ['to an account of a program', sol(5n), reverted, () => node.accounts.set(to, { lamports: 1, owner: usdcMint })],
    ['a token that is none', usdc(5n), reverted, () => node.accounts.set(usdcMint, { lamports: 1, owner: systemProgram })],
    ['a token that nobody has', usdc(5n), { code: 'not_estimated' }, () => node.accounts.delete(accountOf(from))],
    ['an unknown block hash', sol(5n), { code: 'not_estimated' }, () => (node.simulation = { err: 'BlockhashNotFound' })],
  ])('%s is refused', async (_, intent, error, before) => {
    before();
    await expect(client.prepare({ kind: 'first', intent, previous: [] })).rejects.toMatchObject(error);
  });

  it('the sender keeps nothing, or the least balance of an account: to a lamport', async () => {
    const least = 890_880n;
    const most = 1_000_000_000n - 5_120n - least;
    await client.prepare({ kind: 'first', intent: sol(most), previous: [] });
    await expect(client.prepare({ kind: 'first', intent: sol(most + 1n), previous: [] })).rejects.toMatchObject(reverted);
    node.accounts.set(accountOf(to), tokenAccount(to));
    const withLamports = (lamports: number) => {
      node.accounts.set(from, { lamports, owner: systemProgram });
      return client.prepare({ kind: 'first', intent: usdc(5n), previous: [] });
    };
    await withLamports(5_120);
    await withLamports(5_120 + Number(least));
    for (const left of [1, Number(least) - 1]) await expect(withLamports(5_120 + left)).rejects.toMatchObject(reverted);
    await expect(withLamports(5_119)).rejects.toMatchObject(tooLittle);
  });

  it('a trial offers nothing for its units, all of which it may take: the sender need not have that', async () => {
    node.prices = [4_900_000];
    const tried: bigint[] = [];
    node.faults.set('simulateTransaction', ([transaction]) => {
      const { message } = readForeign(Buffer.from(transaction as string, 'base64'), []);
      tried.push(decode(`0x${message.toString('hex')}`).price);
      return { context: { slot: 1 }, value: node.simulation };
    });
    const { feeBound } = await client.prepare({ kind: 'first', intent: sol(5n), previous: [] });
    expect(tried).toEqual([0n]);
    expect(BigInt(feeBound)).toBeGreaterThan(50_000n);
  });

  it('what the node says an account would keep too little of counts by the fee that is paid', async () => {
    const short = (index: number) => ({ err: { InsufficientFundsForRent: { account_index: index } }, unitsConsumed: 10_000 });
    node.simulation = short(0);
    await client.prepare({ kind: 'first', intent: sol(999_994_880n), previous: [] });
    await expect(client.prepare({ kind: 'first', intent: sol(999_994_879n), previous: [] })).rejects.toMatchObject({
      ...{ code: 'would_revert', message: expect.stringContaining('would be left') },
    });
    node.simulation = short(1);
    await expect(client.prepare({ kind: 'first', intent: sol(890_879n, newcomer), previous: [] })).rejects.toMatchObject({
      ...{ code: 'would_revert', message: expect.stringContaining('has to get 890880 lamports') },
    });
    await expect(client.prepare({ kind: 'first', intent: sol(5n), previous: [] })).rejects.toMatchObject({
      ...{ code: 'would_revert', message: expect.stringContaining('would refuse') },
    });
  });

  it('everything, and enough to somebody new', async () => {
    await client.prepare({ kind: 'first', intent: sol(999_994_880n), previous: [] });
    await client.prepare({ kind: 'first', intent: sol(890_880n, newcomer), previous: [] });
  });

  it('while the node does not answer what it would take, and answers the rest: not estimated', async () => {
    node.silent.add('simulateTransaction');
    const both = new SolanaChainClient(solanaChain, [node.url, node.url]);
    const started = Date.now();
    await expect(both.prepare({ kind: 'first', intent: sol(5n), previous: [] })).rejects.toMatchObject({
      code: 'not_estimated',
      message: expect.stringContaining('none says what this transaction takes'),
    });
    expect(Date.now() - started).toBeLessThan(18_000);
  }, 30_000);

  it.each([1, 9, 14])('a token of Token-2022 with extension %d is refused', async (extension) => {
    const program = toBase58(programs.token2022);
    const withExtensions = (...types: number[]) =>
      Buffer.concat([mint(), Buffer.alloc(84), ...types.map((type) => Buffer.from([type, 0, 2, 0, 7, 7]))]);
    const account = { lamports: 1, owner: program };
    const own = toBase58(associatedTokenAccount(toBytes(from), toBytes(usdcMint), 'token-2022'));
    node.accounts.set(own, { ...tokenAccount(from), owner: program });
    node.accounts.set(usdcMint, { ...account, data: withExtensions(3, 18) });
    expect(await client.prepare({ kind: 'first', intent: usdc(5n), previous: [] })).toMatchObject({
      details: { token: { program: 'token-2022', creates: true } },
    });
    node.accounts.set(usdcMint, { ...account, data: withExtensions(3, extension) });
    await expect(client.prepare({ kind: 'first', intent: usdc(5n), previous: [] })).rejects.toMatchObject(reverted);
  });
});

describe('broadcast', () => {
  it('hands the bytes on, as often as wanted', async () => {
    const { bytes } = await make(sol(5n));
    expect(await client.broadcast(bytes)).toEqual({ outcome: 'accepted' });
    expect(await client.broadcast(bytes)).toEqual({ outcome: 'accepted' });
    expect(node.sent).toEqual([bytes.slice(2), bytes.slice(2)]);
  });

  it('leaves it to the node to send them to later leaders too', async () => {
    const { bytes, id } = await make(sol(5n));
    const asked: JsonValue[] = [];
    node.faults.set('sendTransaction', ([, options]) => {
      asked.push(options as JsonValue);
      return id;
    });
    await client.broadcast(bytes);
    expect(asked).toEqual([{ encoding: 'base64', skipPreflight: true }]);
  });

  it.each<[number, JsonObject | undefined, string]>([
    [-32_002, { err: 'AlreadyProcessed' }, 'accepted'],
    [-32_002, { err: 'BlockhashNotFound' }, 'waiting'],
    [-32_003, undefined, 'rejected'],
    [-32_602, undefined, 'rejected'],
  ])('error %d with %j: %s', async (code, data, outcome) => {
    const { bytes } = await make(sol(5n));
    node.faults.set('sendTransaction', () => {
      throw new StubError(code, data);
    });
    expect(await client.broadcast(bytes)).toMatchObject({ outcome });
  });

  const refuse = (code: number, message?: string, data?: JsonObject) =>
    node.faults.set('sendTransaction', () => {
      throw new StubError(code, data, message);
    });
  const unknown = (reason: string) => ({ outcome: 'waiting', reason, passing: 'unknown' });
  /** With a second endpoint, which does not answer. */
  const withSilent = () => new SolanaChainClient(solanaChain, [node.url, 'http://127.0.0.1:1']);

  it.each([-32_005, -32_601, -32_603, -32_016])(
    'error %d, which is a trouble of the node: it waits, also where another endpoint is silent',
    async (code) => {
      const { bytes } = await make(sol(5n));
      refuse(code, 'Node is behind by 42 slots');
      const reason = `refused by the node (code ${code}): Node is behind by slots`;
      expect(await client.broadcast(bytes)).toEqual(unknown(reason));
      expect(await withSilent().broadcast(bytes)).toEqual(unknown(`${reason}; not every endpoint answers`));
    },
  );

  it('error -32602, which may be about an option that one provider does not take: another node is asked', async () => {
    const { bytes } = await make(sol(5n));
    refuse(-32_602, 'Invalid params');
    const reason = 'the transaction was refused as malformed';
    expect(await withSilent().broadcast(bytes)).toEqual(unknown(reason));
    const both = new SolanaChainClient(solanaChain, [node.url, node.url]);
    expect(await both.broadcast(bytes)).toEqual({ outcome: 'rejected', reason });
  });

  it('a trial that fails for a reason which nobody knows is about the bytes: it waits', async () => {
    const { bytes } = await make(sol(5n));
    refuse(-32_002, 'Transaction simulation failed', { err: 'AccountNotFound' });
    const waits = unknown('refused by the node (code -32002): Transaction simulation failed');
    expect(await client.broadcast(bytes)).toEqual(waits);
    expect(await withSilent().broadcast(bytes)).toEqual(waits);
  });

  it.each([
    [-32_429, 'slow down'],
    [429, 'slow down'],
    [-32_003, 'daily request limit reached'],
    [-32_007, '15/second request limit reached'],
    [-32_603, 'Too many requests'],
  ])('error %d "%s" of an endpoint that limits requests says nothing', async (code, message) => {
    const { bytes } = await make(sol(5n));
    refuse(code, message);
    await expect(client.broadcast(bytes)).rejects.toMatchObject({ code: 'chain_unavailable' });
  });

  it('another id in place of its own: what has become of it its status shows', async () => {
    const { bytes } = await make(sol(5n));
    node.faults.set('sendTransaction', () => 'another id');
    const reason = 'no endpoint takes it; they answer: the answer is about another transaction';
    expect(await client.broadcast(bytes)).toEqual(unknown(reason));
    expect(await withSilent().broadcast(bytes)).toEqual(unknown(`${reason}; not every endpoint answers`));
  });
});

describe('status', () => {
  it('absent, pending, included', async () => {
    const made = await make(sol(5n));
    expect(await statusOf(made)).toEqual({ attempt: 1, state: 'absent' });
    node.states.set(made.id, { slot: 101, confirmationStatus: 'processed' });
    expect(await statusOf(made)).toEqual({ attempt: 1, state: 'pending', id: made.id });
    const block = node.mine(1, [executed(made.bytes, { [from]: -5_005, [to]: 5 })]);
    const effect = { blockNumber: block.slot, blockHash: block.blockhash, success: true, fee: 5_000n, debited: 5n, received: 5n };
    expect(await statusOf(made)).toEqual({ attempt: 1, state: 'included', id: made.id, depth: 1, effect });
    node.mine(2);
    expect(await statusOf(made)).toMatchObject({ depth: 3 });
    expect(await client.effects([made])).toEqual(new Map([[made.id, effect]]));
  });

  it('what a node shows of a block that is not final yet is no inclusion', async () => {
    const made = await make(sol(5n));
    const { slot } = node.mine(1, [executed(made.bytes, { [from]: -5_005, [to]: 5 })]);
    node.states.set(made.id, { slot, confirmationStatus: 'confirmed' });
    node.faults.set('getSlot', () => slot - 1);
    expect(await statusOf(made)).toEqual({ attempt: 1, state: 'pending', id: made.id });
    node.faults.clear();
    expect(await statusOf(made)).toMatchObject({ state: 'included', depth: 1 });
  });

  it('failed: the fee is gone, and nothing else', async () => {
    const made = await make(sol(5n));
    node.mine(1, [executed(made.bytes, { [from]: -5_000 }, { err: { InstructionError: [2, 'Custom'] } })]);
    expect(await statusOf(made)).toMatchObject({ effect: { success: false, fee: 5_000n, debited: null, received: null } });
  });

  it('a token: what both accounts say, and the rent in the fee', async () => {
    const made = await make(usdc(500n));
    const meta = {
      preTokenBalances: tokens(made.bytes, { [accountOf(from)]: [from, '900'] }),
      postTokenBalances: tokens(made.bytes, { [accountOf(from)]: [from, '400'], [accountOf(to)]: [to, '499'] }),
    };
    node.mine(1, [executed(made.bytes, { [from]: -2_044_280, [accountOf(to)]: 2_039_280 }, meta)]);
    expect(await statusOf(made)).toMatchObject({ effect: { success: true, fee: 2_044_280n, debited: 500n, received: 499n } });
  });

  it.each<[string, Record<string, [string, string]>, Record<string, [string, string]>]>([
    ['no balances', {}, {}],
    ['no balance of the payer before', {}, { [accountOf(from)]: [from, '400'], [accountOf(to)]: [to, '499'] }],
    ['no balance of the payer after', { [accountOf(from)]: [from, '900'] }, { [accountOf(to)]: [to, '499'] }],
    ['no balance of the recipient', { [accountOf(from)]: [from, '900'] }, { [accountOf(from)]: [from, '400'] }],
  ])('a token of which a node shows %s: not known to have moved, and no end of a transfer', async (_, before, after) => {
    const made = await make(usdc(500n));
    const [preTokenBalances, postTokenBalances] = [before, after].map((amounts) => tokens(made.bytes, amounts));
    const other = await StubNode.start();
    const whole = {
      preTokenBalances: tokens(made.bytes, { [accountOf(from)]: [from, '900'] }),
      postTokenBalances: tokens(made.bytes, { [accountOf(from)]: [from, '400'], [accountOf(to)]: [to, '499'] }),
    };
    try {
      node.mine(1, [executed(made.bytes, { [from]: -5_000 }, { preTokenBalances, postTokenBalances } as JsonObject)]);
      other.mine(1, [executed(made.bytes, { [from]: -5_000 }, whole)]);
      expect(await statusOf(made)).toMatchObject({ state: 'included' });
      expect((await client.effects([made])).get(made.id)).toMatchObject(
        after[accountOf(to)] ? { success: true, debited: null } : { success: true, received: null },
      );
      const asked = new SolanaChainClient(solanaChain, [node.url, other.url]);
      expect(await asked.effectAtEach(made)).toEqual([null, expect.objectContaining({ debited: 500n, received: 499n })]);
    } finally {
      await other.stop();
    }
  });

  it('impossible once no block that may hold it does, and as many more as watching goes deep', async () => {
    const start = node.head;
    const made = await make(sol(5n));
    node.mine(70);
    node.skip(30);
    node.mine(validBlocks - 70 + solanaChain.finalityDepth - 1);
    expect(await statusOf(made)).toEqual({ attempt: 1, state: 'absent' });
    expect(await client.proveImpossible(made.unsigned, null)).toBeNull();
    node.mine();
    const proof = {
      ...{ start_slot: start.slot, start_hash: start.blockhash, last_block_height: start.blockHeight + validBlocks },
      ...{ end_slot: start.slot + 30 + validBlocks + 1, end_hash: expect.any(String) },
    };
    expect(await statusOf(made)).toEqual({ attempt: 1, state: 'impossible', proof });
    expect(await client.proveImpossible(made.unsigned, null)).toMatchObject({
      block: { number: node.head.slot, hash: node.head.blockhash },
    });
  });

  it('not impossible while the node says that its block hash is good: a chain may change for how many blocks that is', async () => {
    const made = await make(sol(5n));
    node.mine(validBlocks + solanaChain.finalityDepth);
    node.faults.set('isBlockhashValid', () => ({ context: { slot: node.head.slot }, value: true }));
    expect(await statusOf(made)).toEqual({ attempt: 1, state: 'absent' });
    expect(await client.proveImpossible(made.unsigned, null)).toBeNull();
    node.faults.clear();
    expect(await statusOf(made)).toMatchObject({ state: 'impossible' });
  });

  it('not impossible where hashes are good for more blocks than were looked at, nor where the node does not say whether this one is', async () => {
    const made = await make(sol(5n));
    node.mine(validBlocks + solanaChain.finalityDepth);
    const { slot, blockhash, blockHeight } = node.head;
    const latest = (ahead: number) => () => ({
      context: { slot },
      value: { blockhash, lastValidBlockHeight: blockHeight + ahead },
    });
    node.faults.set('getLatestBlockhash', latest(validBlocks + 1));
    await expect(client.proveImpossible(made.unsigned, null)).rejects.toThrow(/no RPC endpoint/);
    node.faults.set('getLatestBlockhash', latest(validBlocks));
    expect(await client.proveImpossible(made.unsigned, null)).not.toBeNull();
    node.faults.set('isBlockhashValid', () => ({ context: { slot }, value: null }));
    await expect(client.proveImpossible(made.unsigned, null)).rejects.toThrow(/no RPC endpoint/);
  });

  it('found under another signature, that nobody here has seen', async () => {
    const made = await make(sol(5n));
    node.mine(validBlocks - 1);
    const other = `0x01${'42'.repeat(64)}${made.unsigned.slice(2)}` as const;
    const block = node.mine(1, [executed(other, { [from]: -5_005, [to]: 5 })]);
    node.mine(solanaChain.finalityDepth);
    const id = toBase58(Buffer.alloc(64, 0x42));
    expect(await statusOf(made)).toMatchObject({ state: 'included', id, effect: { blockNumber: block.slot, fee: 5_000n } });
    expect(await client.proveImpossible(made.unsigned, null)).toBeNull();
  });

  it('whole blocks are asked for only where the payer is named', async () => {
    const made = await make(sol(5n));
    const second = await make(sol(6n));
    node.mine(40);
    node.mine(1, [executed(second.bytes, {})]);
    node.mine(validBlocks + solanaChain.finalityDepth);
    node.blockCalls.length = 0;
    expect(await statusOf(made)).toMatchObject({ state: 'impossible' });
    expect(node.blockCalls.filter((it) => it === 'accounts')).toHaveLength(validBlocks);
    expect(node.blockCalls.filter((it) => it === 'full')).toHaveLength(1);
  });

  it('the proof of an attempt that began hours ago, by the time of blocks', async () => {
    const made = await make(sol(5n));
    node.timeOf = (slot) => 1_800_000_000 + slot;
    node.mine(10);
    node.blocks.forEach((block) => (block.blockTime = node.timeOf(block.slot)));
    node.mine(9_000);
    const begunAt = new Date((1_800_000_000 + 105) * 1_000);
    const expiry = { blockhash: made.prepared.expiry?.blockhash ?? '' };
    await expect(client.proveImpossible(made.unsigned, null)).rejects.toMatchObject({ code: 'chain_unavailable' });
    expect(await client.proveImpossible(made.unsigned, begunAt)).toMatchObject({ block: { number: node.head.slot } });
    expect(await statusOf(made, { expiry, begunAt })).toMatchObject({ state: 'impossible' });
  });

  it('the proof of an attempt that began a day ago, with slots of 200 ms', async () => {
    const made = await make(sol(5n));
    node.timeOf = (slot) => 1_800_000_000 + Math.floor(slot / 5);
    node.mine(600);
    node.skip(430_000);
    node.mine(10);
    node.blocks.forEach((block) => (block.blockTime = node.timeOf(block.slot)));
    const begunAt = new Date(node.blocks[0]!.blockTime! * 1_000);
    expect(await client.proveImpossible(made.unsigned, begunAt)).toMatchObject({ block: { number: node.head.slot } });
  });

  describe('of a message that somebody else has made, whose block is not known', () => {
    const hintsOf = (made: Made, notAfter = node.head.slot) => ({
      expiry: { blockhash: made.prepared.expiry?.blockhash ?? '', notAfter },
    });

    it('no block is asked for before there may be a proof', async () => {
      const made = await make(sol(5n));
      node.mine(3);
      const hints = hintsOf(made);
      node.mine(validBlocks + solanaChain.finalityDepth - 1);
      node.blockCalls.length = 0;
      expect(await statusOf(made, hints)).toEqual({ attempt: 1, state: 'absent' });
      expect(node.blockCalls).toEqual([]);
      node.mine();
      expect(await statusOf(made, hints)).toMatchObject({ state: 'impossible' });
    });

    it('it is searched for backwards from a block at which it was known', async () => {
      const made = await make(sol(5n));
      node.mine(15);
      const hints = hintsOf(made);
      // blocks show no time, by which it could be found
      node.mine(3_000);
      node.blockCalls.length = 0;
      expect(await statusOf(made, hints)).toMatchObject({ state: 'impossible' });
      expect(node.blockCalls.filter((it) => it === 'none').length).toBeLessThanOrEqual(21);
    });

    it('a proof for which there was no time is taken up where it was', async () => {
      const made = await make(sol(5n));
      node.mine(15);
      const hints = hintsOf(made);
      node.mine(validBlocks + solanaChain.finalityDepth);
      const shown = node.blocks.map((block) => ({ ...block, transactions: [] }));
      let left = 100;
      node.faults.set('getBlock', ([slot, options]) => {
        if ((options as JsonObject).transactionDetails === 'accounts' && (left -= 1) < 0) throw new StubError(-32_005);
        return shown.find((block) => block.slot === slot) ?? null;
      });
      await expect(statusOf(made, hints)).rejects.toMatchObject({ code: 'chain_unavailable' });
      node.blockCalls.length = 0;
      left = validBlocks;
      expect(await statusOf(made, hints)).toMatchObject({ state: 'impossible' });
      expect(node.blockCalls.filter((it) => it === 'accounts')).toHaveLength(validBlocks - 100);
      expect(node.blockCalls.filter((it) => it === 'none')).toHaveLength(2);
    });
  });

  it('no proof by another time than that of the attempt, nor where blocks show none', async () => {
    const made = await make(sol(5n));
    node.timeOf = (slot) => 1_800_000_000 + slot;
    // few blocks, each of which is asked for, in more slots than are searched
    for (let blocks = 0; blocks < 900; blocks += 1) {
      node.mine();
      node.skip(9);
    }
    for (const seconds of [1_800_000_000 + 8_000, 1_900_000_000])
      await expect(client.proveImpossible(made.unsigned, new Date(seconds * 1_000))).rejects.toMatchObject({
        code: 'chain_unavailable',
      });
    node.blocks.forEach((block) => (block.blockTime = null));
    await expect(client.proveImpossible(made.unsigned, new Date(1_800_000_105_000))).rejects.toMatchObject({
      code: 'chain_unavailable',
    });
  });

  describe('no proof', () => {
    const late = async () => {
      const made = await make(sol(5n));
      node.mine(validBlocks + solanaChain.finalityDepth + 1);
      return made;
    };
    const unproven = async (made: Made) => {
      expect(await statusOf(made)).toEqual({ attempt: 1, state: 'absent' });
      await expect(client.proveImpossible(made.unsigned, null)).rejects.toMatchObject({ code: 'chain_unavailable' });
    };

    it('where a block is left out', async () => {
      const made = await late();
      node.faults.set('getBlocks', ([first, last]) =>
        node.blocks
          .map(({ slot }) => slot)
          .filter((slot) => slot >= (first as number) && slot <= (last as number) && slot !== 120),
      );
      await unproven(made);
    });

    it('where a block is another one than the next says', async () => {
      const made = await late();
      const forged = node.blocks[30] as { blockhash: string };
      forged.blockhash = toBase58(Buffer.alloc(32, 9));
      await unproven(made);
    });

    it('where a whole block is not the one whose accounts were shown', async () => {
      const made = await make(sol(5n));
      const { slot } = node.mine(1, [executed((await make(sol(6n))).bytes, {})]);
      const named = readForeign(Buffer.from(made.bytes.slice(2), 'hex'), []).keys;
      node.mine(validBlocks + solanaChain.finalityDepth + 1);
      node.faults.set('getBlock', ([asked, options]) => {
        const full = (options as JsonObject).transactionDetails === 'full';
        const block = node.blocks.find((it) => it.slot === asked) as (typeof node.blocks)[number];
        const shown = { ...block, transactions: [] };
        if (asked !== slot) return shown;
        return full
          ? { ...shown, blockhash: toBase58(Buffer.alloc(32, 9)) }
          : { ...shown, transactions: [{ transaction: { accountKeys: named.map((pubkey) => ({ pubkey })) } }] };
      });
      await unproven(made);
    });

    it('where the first block is gone', async () => {
      const made = await late();
      node.blocks.shift();
      await unproven(made);
    });

    it('the first block is searched for where its slot is wrong or unknown', async () => {
      const made = await late();
      for (const slot of [105, 99_999])
        expect(await statusOf(made, { expiry: { ...made.prepared.expiry, slot }, messageKey: `${slot}` })).toMatchObject({
          state: 'impossible',
        });
    });

    it('while another endpoint has it', async () => {
      const made = await late();
      const other = await StubNode.start();
      other.mine(1, [executed(made.bytes, { [from]: -5_005, [to]: 5 })]);
      const both = new SolanaChainClient(solanaChain, [node.url, other.url]);
      const states = await both.status([known(made)]).finally(() => other.stop());
      expect(states).toMatchObject([{ state: 'included' }]);
    });

    it('while another endpoint has its message under a signature that nobody knows, nor while another one does not answer', async () => {
      const made = await make(sol(5n));
      const other = await StubNode.start();
      const signedAgain = Buffer.from(made.bytes.slice(2), 'hex').fill(7, 1, 65);
      other.mine(1, [executed(`0x${signedAgain.toString('hex')}`, { [from]: -5_005, [to]: 5 })]);
      for (const each of [node, other]) each.mine(validBlocks + solanaChain.finalityDepth + 1);
      const urls = [node.url, other.url];
      const status = () => new SolanaChainClient(solanaChain, urls).status([known(made)]);
      expect(await status()).toMatchObject([{ state: 'included', id: toBase58(Buffer.alloc(64, 7)) }]);
      await other.stop();
      expect(await status()).toEqual([{ attempt: 1, state: 'absent', isUnagreed: true }]);
    });
  });
});

describe.each([
  ['small', 0],
  ['large', 300_000],
])('scan, of %s blocks', (_size, paddingBytes) => {
  beforeEach(() => {
    node.paddingBytes = paddingBytes;
  });

  it('blocks with what they pay to the gateway, over slots without a block', async () => {
    const made = await make(sol(5n));
    const start = node.head.slot + 1;
    node.skip(2);
    const block = node.mine(1, [executed(made.bytes, { [from]: -5_005, [to]: 5 })]);
    const last = node.mine();
    const result = await client.scan(start, start + 49, ours(to));
    expect(result.scannedTo).toBe(last.slot);
    expect(result.blocks.map(({ number, parentHash }) => [number, parentHash])).toEqual([
      [block.slot, block.previousBlockhash],
      [last.slot, block.blockhash],
    ]);
    expect(result.blocks[0]).toMatchObject({
      transactions: [{ id: made.id, messageKey: null }],
      deposits: [
        {
          ...{ txHash: made.id, position: '1', fromAddress: from, toAddress: to, tokenContract: null, amount: 5n },
          ...{ blockNumber: block.slot, blockHash: block.blockhash },
        },
      ],
    });
    const own = await client.scan(start, start + 49, ours(from));
    expect(own.blocks[0]).toMatchObject({
      transactions: [{ id: made.id, messageKey: solanaCodec.messageKey(made.unsigned, from) }],
      deposits: [],
    });
  });

  it('whole blocks are asked for only where the gateway has signed something', async () => {
    const made = await make(sol(5n));
    const first = node.mine(1, [executed(made.bytes, { [from]: -5_005, [to]: 5 })]);
    const last = node.mine(9);
    const scan = async (address: string) => {
      node.blockCalls.length = 0;
      const { scannedTo } = await client.scan(first.slot, last.slot, ours(address));
      expect(scannedTo).toBe(last.slot);
      return ['accounts', 'full'].map((form) => node.blockCalls.filter((it) => it === form).length);
    };
    expect(await scan(to)).toEqual([10, 0]);
    expect(await scan(from)).toEqual([10, 1]);
  });

  it.each([
    ['is another one', { blockhash: toBase58(Buffer.alloc(32, 9)) }],
    ['lacks the transaction', { transactions: [] }],
  ])('nothing of a block whose whole form %s', async (_, changes) => {
    const made = await make(sol(5n));
    const { slot } = node.mine(1, [executed(made.bytes, { [from]: -5_005, [to]: 5 })]);
    await client.scan(slot, slot, ours(from));
    node.changeWhole = changes;
    await expect(client.scan(slot, slot, ours(from))).rejects.toMatchObject({ code: 'chain_unavailable' });
    expect((await client.scan(slot, slot, ours(to))).blocks[0]?.deposits).toHaveLength(1);
  });

  it('eight blocks at a time, and each address is looked up once', async () => {
    const made = await make(sol(5n));
    const { slot } = node.mine(1, [executed(made.bytes, { [from]: -5_005, [to]: 5 })]);
    node.mine(39, [executed(made.bytes, { [from]: -5_005, [to]: 5 })]);
    // a ninth one would be asked for meanwhile
    node.blocksAfterMs = 20;
    node.blocksTogether = 8;
    const asked: string[] = [];
    const { blocks } = await client.scan(slot, slot + 39, (keys) => {
      asked.push(...keys);
      return ours(to)(keys);
    });
    expect(blocks.map(({ number }) => number)).toEqual(Array.from({ length: 40 }, (_, index) => slot + index));
    expect(blocks.every(({ deposits }) => deposits.length === 1)).toBe(true);
    expect(node.mostBlocks).toBe(8);
    expect(asked.sort()).toEqual([from, to].map((it) => solanaCodec.parseAddress(it)?.key).sort());
  });

  it('a block in the middle that the node does not show: nothing is found, few blocks behind it are asked for, and a shorter range ends before it', async () => {
    const start = node.head.slot + 1;
    node.mine(40);
    node.blocksAfterMs = 5;
    node.failsAt = start + 12;
    node.blockCalls.length = 0;
    await expect(client.scan(start, start + 39, ours())).rejects.toMatchObject({ code: 'chain_unavailable' });
    expect(node.blockCalls.length).toBeLessThanOrEqual(12 + 8);
    expect((await client.scan(start, start + 11, ours())).scannedTo).toBe(start + 11);
    node.failsAt = null;
    expect((await client.scan(start + 12, start + 39, ours())).scannedTo).toBe(start + 39);
  });

  it('nothing of a block that names an account which is no address, where it is paid', async () => {
    const made = await make(sol(5n));
    const { slot } = node.mine(1, [executed(made.bytes, { [to]: 5 })]);
    node.changeKey = (key) => (key === to ? `${key}0` : key);
    await expect(client.scan(slot, slot, ours(to))).rejects.toMatchObject({ code: 'chain_unavailable' });
  });

  it('tokens, on associated accounts alone', async () => {
    const made = await make(usdc(500n));
    const { slot } = node.head;
    const pay = (account: string) =>
      executed(
        made.bytes,
        {},
        {
          preTokenBalances: tokens(made.bytes, { [accountOf(from)]: [from, '900'] }),
          postTokenBalances: tokens(made.bytes, { [accountOf(from)]: [from, '400'], [account]: [to, '500'] }),
        },
      );
    node.mine(1, [pay(accountOf(to)), pay(usdcMint)]);
    const { blocks } = await client.scan(slot + 1, slot + 1, ours(to));
    expect(blocks[0]?.deposits).toMatchObject([
      { fromAddress: from, toAddress: to, tokenContract: usdcMint, amount: 500n, position: expect.stringMatching(/^[12]$/) },
    ]);
  });

  it('of what an account has after a transaction, only what it has more than before, also where nodes leave out who it was of', async () => {
    const made = await make(usdc(500n));
    const { slot } = node.head;
    const [had, has] = ['100', '600'].map((amount) => tokens(made.bytes, { [accountOf(to)]: [to, amount] }) as JsonObject[]);
    const withoutOwner = had?.map(({ owner: _owner, ...balance }) => balance);
    node.mine(1, [
      executed(made.bytes, {}, { preTokenBalances: withoutOwner as JsonValue, postTokenBalances: has as JsonValue }),
    ]);
    const { blocks } = await client.scan(slot + 1, slot + 1, ours(to));
    expect(blocks[0]?.deposits).toMatchObject([{ toAddress: to, amount: 500n }]);
  });

  it.each([
    ['who got a registered token', { owner: null }],
    ['which of its accounts got a registered token', { accountIndex: 99 }],
  ])('nothing of a block that does not say %s', async (_, changes) => {
    const made = await make(usdc(500n));
    const [had, has] = ['100', '600'].map((amount) => tokens(made.bytes, { [accountOf(to)]: [to, amount] }) as JsonObject[]);
    const changed = has?.map((balance) => ({ ...balance, ...changes }));
    const meta = { preTokenBalances: had as JsonValue, postTokenBalances: changed as JsonValue };
    const { slot } = node.mine(1, [executed(made.bytes, {}, meta)]);
    await expect(client.scan(slot, slot, ours(to))).rejects.toMatchObject({ code: 'chain_unavailable' });
  });

  it('nothing of a block in which a text that is no address has paid a token', async () => {
    const made = await make(usdc(500n));
    const pay = (payer: string) =>
      executed(
        made.bytes,
        {},
        {
          preTokenBalances: tokens(made.bytes, { [accountOf(from)]: [payer, '900'] }),
          postTokenBalances: tokens(made.bytes, { [accountOf(from)]: [payer, '400'], [accountOf(to)]: [to, '500'] }),
        },
      );
    const { slot } = node.mine(1, [pay('<b>no address</b>')]);
    await expect(client.scan(slot, slot, ours(to))).rejects.toMatchObject({ code: 'chain_unavailable' });
    // nobody of the gateway is paid: it is not looked at
    expect((await client.scan(slot, slot, ours())).scannedTo).toBe(slot);
  });

  it('nothing of a block that shows tokens on one side of a transaction alone', async () => {
    const made = await make(usdc(500n));
    const shown = tokens(made.bytes, { [accountOf(to)]: [to, '600'] });
    const metas: JsonObject[] = [{ preTokenBalances: null, postTokenBalances: shown }, { postTokenBalances: shown }];
    for (const meta of metas) {
      const { slot } = node.mine(1, [executed(made.bytes, {}, meta)]);
      await expect(client.scan(slot, slot, ours(to))).rejects.toMatchObject({ code: 'chain_unavailable' });
    }
  });

  it('nothing of what has failed', async () => {
    const made = await make(sol(5n));
    const { slot } = node.mine(1, [executed(made.bytes, { [to]: 5 }, { err: 'x' })]);
    expect((await client.scan(slot, slot, ours(to))).blocks[0]?.deposits).toEqual([]);
  });

  it('a row of slots without a block is passed once a later block says so', async () => {
    const start = node.head.slot + 1;
    expect(await client.scan(start, start + 49, ours())).toEqual({ blocks: [], scannedTo: start - 1 });
    node.skip(500);
    node.mine();
    expect(await client.scan(start, start + 49, ours())).toEqual({ blocks: [], scannedTo: start + 49 });
  });

  it('a block that is left out is no slot without one', async () => {
    const start = node.head.slot + 1;
    node.mine(10);
    for (const gap of [start, start + 4]) {
      node.faults.set('getBlocks', ([first, last]) =>
        node.blocks
          .map(({ slot }) => slot)
          .filter((slot) => slot >= (first as number) && slot <= (last as number) && slot !== gap),
      );
      await expect(client.scan(start, start + 9, ours())).rejects.toMatchObject({ code: 'chain_unavailable' });
    }
  });

  it('a failure of the look-up is not one of the chain', async () => {
    const made = await make(sol(5n));
    const { slot } = node.mine(1, [executed(made.bytes, { [to]: 5 })]);
    const failing = () => Promise.reject(new Error('no database'));
    await expect(client.scan(slot, slot, failing)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

test('another genesis block is another chain', async () => {
  node.faults.set('getGenesisHash', () => to);
  const other = new SolanaChainClient({ ...solanaChain, genesisHash: from }, [node.url]);
  await expect(other.verifyIdentity()).rejects.toThrow('another genesis block');
  node.faults.set('getGenesisHash', () => from);
  await other.verifyIdentity();
});

test('a local chain is no public cluster', async () => {
  const local = new SolanaChainClient({ ...solanaChain, genesisHash: null }, [node.url]);
  await local.verifyIdentity();
  for (const hash of ['5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d', '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY']) {
    node.faults.set('getGenesisHash', () => hash);
    const other = new SolanaChainClient({ ...solanaChain, genesisHash: null }, [node.url]);
    await expect(other.verifyIdentity()).rejects.toThrow('serves a public cluster');
  }
});

test.each([
  ['https://host.example/v2/key?api-key=a&rate=5', {}, 'https://host.example/v2/key?api-key=a'],
  ['https://my%20key@host.example', { authorization: 'Bearer my key' }, 'https://host.example/'],
  ['https://x-token:my%20key@host.example', { 'x-token': 'my key' }, 'https://host.example/'],
])('%s: its key and what is sent', (url, headers, base) => {
  expect(parseEndpoint(url, 'entry 1', new Paces())).toMatchObject({ base, headers });
});

test.each(['https://secret@h.example/?rate=0', 'https://a%20b:secret@h.example'])('%s is refused, and not shown', (url) => {
  expect(() => parseEndpoint(url, 'entry 1', new Paces())).toThrow(/^entry 1 (?!.*secret)/);
});

test('a block by its slot, and the head', async () => {
  const { slot, blockhash, previousBlockhash } = node.mine(3);
  expect(await client.head()).toEqual({ number: slot });
  expect(await client.block(slot)).toEqual({ number: slot, hash: blockhash, parentHash: previousBlockhash });
  expect(await client.block(slot + 1)).toBeNull();
  node.skip(1);
  node.mine();
  expect(await client.block(slot + 1)).toBeNull();
});

describe('a balance', () => {
  const held = (owner: string, mintOf: string, amount: bigint) => {
    const stored = tokenAccount(owner);
    toBytes(mintOf).copy(stored.data as Buffer, 0);
    (stored.data as Buffer).writeBigUInt64LE(amount, 64);
    return stored;
  };
  const place = (program: 'token' | 'token-2022') => toBase58(associatedTokenAccount(toBytes(from), toBytes(usdcMint), program));

  test('is the lamports of an account, and none where there is no account', async () => {
    expect(await client.balance(from, null)).toBe(1_000_000_000n);
    expect(await client.balance(walletOf(Buffer.alloc(32, 0x33)), null)).toBe(0n);
  });

  test('of a token is that of the associated account alone, of this owner, mint and program', async () => {
    expect(await client.balance(to, usdcMint)).toBe(0n);
    node.accounts.set(place('token'), held(from, usdcMint, 7n));
    expect(await client.balance(from, usdcMint)).toBe(7n);
    // under the program that it is not of
    node.accounts.set(place('token-2022'), held(from, usdcMint, 8n));
    expect(await client.balance(from, usdcMint)).toBe(7n);
    for (const other of [
      held(to, usdcMint, 9n),
      held(from, to, 9n),
      { lamports: 9, owner: tokenProgram, data: Buffer.alloc(64) },
    ]) {
      node.accounts.set(place('token'), other);
      expect(await client.balance(from, usdcMint)).toBe(0n);
    }
  });
});
