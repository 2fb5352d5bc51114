import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { signedAnew, sol, TestChain, transferSol } from '../../solana-chain';

let chain: TestChain;
let alice: KeyPairSigner;
let bob: KeyPairSigner;
const lags = { confirmed: 2, finalized: 5, skipEvery: 0 };

beforeEach(async () => {
  chain = await TestChain.start(lags);
  alice = await chain.funded(sol(10));
  bob = await chain.funded(sol(1));
});
afterEach(() => TestChain.stopAll());

const pay = (amount: bigint, lifetime?: Awaited<ReturnType<TestChain['lifetime']>>) =>
  chain.sign(alice, [transferSol(alice.address, bob.address, amount)], lifetime);

test('commitments follow the blocks', async () => {
  const id = await chain.sendChecked(await pay(5n));
  expect(await chain.status(id)).toBeNull();
  await chain.mine();
  const seen = [await chain.status(id)];
  for (const blocks of [1, 1, 2, 1]) {
    await chain.mine(blocks);
    seen.push(await chain.status(id));
  }
  expect(seen.map((status) => status?.confirmationStatus)).toEqual([
    'processed',
    'processed',
    'confirmed',
    'confirmed',
    'finalized',
  ]);
  expect(seen.map((status) => status?.confirmations)).toEqual([0n, 1n, 2n, 4n, null]);
});

test('accounts are those of the commitment', async () => {
  await chain.mine(5);
  await chain.send(await pay(5n));
  await chain.mine();
  const all = async () =>
    Promise.all((['processed', 'confirmed', 'finalized'] as const).map((level) => chain.balance(bob.address, level)));
  expect(await all()).toEqual([sol(1) + 5n, sol(1), sol(1)]);
  await chain.mine(2);
  expect(await all()).toEqual([sol(1) + 5n, sol(1) + 5n, sol(1)]);
  await chain.mine(3);
  expect(await all()).toEqual([sol(1) + 5n, sol(1) + 5n, sol(1) + 5n]);
});

test('a transaction that is in a block is refused, or does nothing', async () => {
  const payment = await pay(5n);
  await chain.send(payment);
  await chain.mine();
  await chain.send(payment);
  await chain.mine();
  expect(await chain.balance(bob.address)).toBe(sol(1) + 5n);
  await expect(chain.sendChecked(payment)).rejects.toMatchObject({
    context: { __code: -32002, unitsConsumed: 0n },
    cause: { message: expect.stringContaining('already been processed') },
  });
});

test('another signature of a message that is in a block does nothing', async () => {
  const { secret, holder } = await chain.ownSigner(sol(3));
  const payment = await chain.sign(holder, [transferSol(holder.address, bob.address, 5n)]);
  const other = signedAnew(payment.wire, secret);
  const third = signedAnew(payment.wire, secret);
  expect(new Set([payment.id, other.id, third.id]).size).toBe(3);
  await chain.send(other);
  await chain.send(third);
  await chain.mine();
  await chain.send(payment);
  await chain.mine();
  const seen = await Promise.all([payment, other, third].map(({ id }) => chain.status(id)));
  expect(seen.map((status) => status?.confirmationStatus)).toEqual([undefined, 'processed', undefined]);
  expect(await chain.balance(bob.address)).toBe(sol(1) + 5n);
});

describe('expiry', () => {
  /** Sent so that it is in a block of this height. */
  async function sendFor(height: (last: bigint) => bigint) {
    const lifetime = await chain.lifetime();
    const payment = await pay(5n, lifetime);
    const before = await chain.rpc.getBlockHeight({ commitment: 'processed' }).send();
    await chain.mine(Number(height(lifetime.lastValidBlockHeight) - before) - 1);
    await chain.send(payment);
    await chain.mine();
    const status = await chain.status(payment.id);
    return { lifetime, block: status && (await chain.rpc.getBlockHeight({ commitment: 'processed' }).send()) };
  }

  test('lastValidBlockHeight is 150 blocks away', async () => {
    const height = await chain.rpc.getBlockHeight({ commitment: 'processed' }).send();
    expect((await chain.lifetime()).lastValidBlockHeight).toBe(height + 150n);
  });

  test('a blockhash is good until the block after lastValidBlockHeight', async () => {
    const { lifetime, block } = await sendFor((last) => last + 1n);
    expect(block).toBe(lifetime.lastValidBlockHeight + 1n);
  });

  test('and no longer', async () => {
    const { lifetime, block } = await sendFor((last) => last + 2n);
    expect(block).toBeNull();
    expect((await chain.rpc.isBlockhashValid(lifetime.blockhash, { commitment: 'processed' }).send()).value).toBe(false);
  });

  test('what waits expires on demand', async () => {
    const payment = await pay(5n);
    await chain.client.faults.delay();
    await chain.send(payment);
    expect((await chain.client.status()).pending).toBe(1);
    await chain.client.call('expire');
    expect((await chain.client.status()).pending).toBe(0);
    expect(await chain.status(payment.id)).toBeNull();
    await expect(chain.sendChecked(payment)).rejects.toMatchObject({
      cause: { message: expect.stringContaining('Blockhash not found') },
    });
  });
});

describe('faults', () => {
  test('transactions are dropped or come late', async () => {
    await chain.client.call('drop');
    await chain.client.call('delay', { blocks: 3 });
    const [dropped, late] = [await pay(5n), await pay(6n)];
    await chain.send(dropped);
    await chain.send(late);
    await chain.mine(3);
    expect([await chain.status(dropped.id), await chain.status(late.id)]).toEqual([null, null]);
    await chain.mine();
    expect((await chain.status(late.id))?.confirmationStatus).toBe('processed');
    // sent again, it is taken
    await chain.send(dropped);
    await chain.mine();
    expect((await chain.status(dropped.id))?.err).toBeNull();
  });

  test('a lost message is in no block, however often and by whatever signature it is sent', async () => {
    const { secret, holder } = await chain.ownSigner(sol(3));
    const payment = await chain.sign(holder, [transferSol(holder.address, bob.address, 5n)]);
    const send = async () => {
      await chain.send(payment);
      await chain.send(signedAnew(payment.wire, secret));
      await chain.mine();
    };
    await chain.client.call('lose', { percent: 100 });
    await send();
    await send();
    expect(await chain.balance(bob.address)).toBe(sol(1));
    await chain.client.call('lose', { percent: 0 });
    await send();
    expect(await chain.balance(bob.address)).toBe(sol(1) + 5n);
  });

  test('of many messages about as many are lost as are to be', async () => {
    await chain.client.call('lose', { percent: 10 });
    const payments = await Promise.all(Array.from({ length: 200 }, (_, at) => pay(BigInt(at + 1))));
    for (const payment of payments) await chain.send(payment);
    await chain.mine();
    const states = await Promise.all(payments.map(({ id }) => chain.status(id)));
    const lost = states.filter((state) => state === null).length;
    expect(lost).toBeGreaterThan(3);
    expect(lost).toBeLessThan(50);
  });

  test.each(['keep', 'drop'] as const)('a fork takes back what is only processed: %s', async (transactions) => {
    const before = await chain.balance(alice.address);
    const payment = await pay(5n);
    await chain.send(payment);
    await chain.mine(2);
    const { head, slot, head_id } = await chain.client.status();
    await chain.client.call('fork', { depth: 2, transactions });
    const after = await chain.client.status();
    expect(after).toMatchObject({ head, slot: slot + 2 });
    expect(after.head_id).not.toBe(head_id);
    const isKept = transactions === 'keep';
    expect((await chain.status(payment.id))?.confirmationStatus).toBe(isKept ? 'processed' : undefined);
    expect(await chain.balance(alice.address)).toBe(isKept ? before - 5_005n : before);
    await chain.mine(5);
    await expect(chain.rpc.getBlock(BigInt(slot), { maxSupportedTransactionVersion: 0 }).send()).rejects.toMatchObject({
      context: { __code: -32007 },
    });
  });

  test('what is confirmed is not taken back', async () => {
    await chain.mine(2);
    await expect(chain.client.faults.reorganise(3)).rejects.toThrow('only 2 blocks are processed and not confirmed');
  });

  test('a transaction that cannot be paid is tried until its blockhash expires', async () => {
    const poor = await generateKeyPairSigner();
    const payment = await chain.sign(poor, [transferSol(poor.address, bob.address, 1n)]);
    await chain.send(payment);
    await chain.mine(3);
    expect(await chain.status(payment.id)).toBeNull();
    await chain.client.fund(poor.address, sol(1));
    await chain.mine();
    expect((await chain.status(payment.id))?.err).toBeNull();
  });
});

test('slots pass by the clock, some of them without a block', async () => {
  const quick = await TestChain.start({ ...lags, isMining: true, slotMs: 10, skipEvery: 5 });
  const first = await quick.rpc.getFirstAvailableBlock().send();
  const deadline = Date.now() + 20_000;
  const slot = () => quick.rpc.getSlot().send();
  while ((await slot()) < first + 12n && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
  const blocks = await quick.rpc.getBlocks(first, first + 10n).send();
  expect(blocks).toHaveLength(9);
  expect(blocks.some((block) => block % 5n === 0n && block !== first)).toBe(false);
});
