import { secp256k1 } from '@noble/curves/secp256k1.js';
import { parseEther } from 'viem';
import { evmFamily } from '../../../src/chains/evm/family';
import type { ChainClient, BlockScan } from '../../../src/chains/chain-client';
import { findReservations } from '../../../src/chains/reservations';
import type { Hex } from '../../../src/chains/types';
import { verifyLedger } from '../../../src/ledger/verify';
import { digestOf } from '../../evm';
import { refuseAttempt } from '../../refusals';
import { startRpcProxy } from '../chains/rpc-proxy';
import { codeOf } from '../ledger/fixture';
import { createFollowFixture, type FollowFixture } from './fixture';

let fixture: FollowFixture;
beforeEach(async () => {
  fixture = await createFollowFixture();
}, 60_000);
afterEach(async () => {
  expect(await verifyLedger(fixture.database.manager)).toEqual([]);
  await fixture.close();
});

/** What a second session over the same bytes gives: another valid signature, and so another transaction id. */
function signAgain(unsigned: Hex): { id: string; bytes: Hex } {
  const { wallet, alice } = fixture;
  const { privateKey } = wallet.key.derive(alice.derivationPath);
  const digest = Buffer.from(digestOf(unsigned, alice.address).slice(2), 'hex');
  const options = { prehash: false, format: 'recovered', extraEntropy: true } as const;
  const [recovery, ...rs] = secp256k1.sign(digest, privateKey as Uint8Array, options);
  return evmFamily.assemble(unsigned, [`0x${Buffer.from([...rs, recovery as number]).toString('hex')}`], alice.address);
}

/** A transfer whose bytes are on the chain under a signature that the gateway has never seen. */
async function executedUnseen(): Promise<{ txId: string; ours: string; id: string }> {
  const { send, mine, follow, transfer, sign, client, attempts, alice, bob } = fixture;
  await send(alice, parseEther('1'));
  await mine(2);
  await follow();
  const txId = await transfer({ amount: '0.1', toAddress: bob.address });
  const { hash: ours } = await sign(txId, 1);
  const [row] = await attempts(txId);
  const { id, bytes } = signAgain(row?.unsigned as Hex);
  expect(id).not.toBe(ours);
  expect(await client.broadcast(bytes)).toEqual({ outcome: 'accepted' });
  return { txId, ours, id };
}

const knownIds = async (txId: string) =>
  (await fixture.database.query<{ id: string }[]>('select id from attempt_ids where tx_id = $1', [txId]))
    .map(({ id }) => id)
    .sort();

describe('a transaction under an id that was never seen', () => {
  it('is found by the follower and settled under that id', async () => {
    const { txId, ours, id } = await executedUnseen();
    await fixture.mine(2);
    await fixture.follow();
    expect((await fixture.attempts(txId))[0]).toMatchObject({ included_id: id, tx_hash: ours, success: true });
    expect(await knownIds(txId)).toEqual([id, ours].sort());
    expect(await fixture.database.query('select id from foreign_transactions')).toEqual([]);
    expect(fixture.signals.at(-1)).toMatchObject({ txId, observation: { state: 'confirmed', hash: id } });
    expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
    expect(await fixture.transaction(txId)).toMatchObject({ tx_hash: id });
  });

  it('is found by observe once its nonce is used up for good, and nothing is called impossible', async () => {
    const { txId, id } = await executedUnseen();
    await fixture.mine(fixture.chain.finalityDepth);
    expect(await fixture.onChain.observe({ txId })).toMatchObject({ state: 'confirmed', hash: id });
    expect((await fixture.attempts(txId))[0]).toMatchObject({ included_id: id, impossible_proof: null });
    await fixture.ledger.settleTransfer({ txId });
  });
});

/** Two transfers, of which the first has its nonce used up by bytes that are not on record, as of an attacker who has the key. */
async function usedUpByAnother(amount = 7n) {
  const { send, mine, follow, transfer, sign, client, attempts, wallet, alice, bob, chain } = fixture;
  await send(alice, parseEther('1'));
  await mine(2);
  await follow();
  const [lost, other] = [await transfer({ amount: '0.1', toAddress: bob.address }), await transfer({ amount: '0.2' })];
  await sign(lost, 1);
  await sign(other, 1);
  const { unsigned, prepared } = (await attempts(lost))[0] as { unsigned: Hex; prepared: { details: object } };
  const outputs = [{ recipient: bob.address, tokenContract: null, amount }];
  const intent = { from: alice.address, outputs };
  const { resources } = evmFamily.describe(unsigned);
  const { privateKey } = wallet.key.derive(alice.derivationPath);
  const dearer = { ...prepared, details: { ...prepared.details, maxFeePerGas: '9000000000' } } as never;
  const theirs = evmFamily.build({ chain, intent, kind: 'first', prepared: dearer, resources });
  const digest = Buffer.from(digestOf(theirs, alice.address).slice(2), 'hex');
  const [recovery, ...rs] = secp256k1.sign(digest, privateKey as Uint8Array, { prehash: false, format: 'recovered' });
  const { id, bytes } = evmFamily.assemble(
    theirs,
    [`0x${Buffer.from([...rs, recovery as number]).toString('hex')}`],
    alice.address,
  );
  expect(await client.broadcast(bytes)).toEqual({ outcome: 'accepted' });
  return { lost, other, id, bytes };
}

describe('a nonce that a transaction of the sender has used up which is not on record', () => {
  it('ends the transfer once that is final and two endpoints show it: unlocked, with the proof on record and an alert', async () => {
    const { mine, follow, chain, ledger, balance, alice, anvil, attempts } = fixture;
    const { lost, id } = await usedUpByAnother();
    const activities = fixture.at(anvil.url, anvil.url);
    await mine(chain.finalityDepth - 1);
    await follow();
    expect(await activities.observe({ txId: lost })).toMatchObject({ state: 'absent' });
    expect(await codeOf(ledger.failByProof({ txId: lost }))).toBe('not_cancellable');
    await mine(1);
    await follow();
    expect(await activities.observe({ txId: lost })).toMatchObject({ state: 'impossible', ends: true, hash: id });
    expect((await attempts(lost))[0]).toMatchObject({ impossible_proof: { used_by: id, agreed_by: 2 } });
    const { locked } = await balance(alice, 'ETH');
    expect(await ledger.failByProof({ txId: lost })).toMatchObject({ status: 'FAILED', code: 'superseded' });
    expect((await balance(alice, 'ETH')).locked).toBeLessThan(locked);
  });

  it('ends a parked transfer too, which the follower asks about', async () => {
    const { mine, follow, chain, ledger, anvil } = fixture;
    const { lost } = await usedUpByAnother();
    await ledger.parkTransfer({ txId: lost, code: 'stuck', reason: 'not included in time' });
    const activities = fixture.at(anvil.url, anvil.url);
    await mine(chain.finalityDepth);
    await follow({ observe: (txId) => activities.observe({ txId }) });
    expect(fixture.signals.at(-1)).toMatchObject({ txId: lost, observation: { state: 'impossible', ends: true } });
    expect(await ledger.failByProof({ txId: lost })).toMatchObject({ status: 'FAILED', code: 'superseded' });
  });

  it('ends a parked transfer whose workflow was not told at first, although every proof is stored by then', async () => {
    const { mine, follow, chain, ledger, anvil } = fixture;
    const { lost } = await usedUpByAnother();
    await ledger.parkTransfer({ txId: lost, code: 'stuck', reason: 'not included in time' });
    const activities = fixture.at(anvil.url, anvil.url);
    const observe = (txId: string) => activities.observe({ txId });
    await mine(chain.finalityDepth);
    await follow({ observe, signalTransfer: () => Promise.reject(new Error('Temporal is away')) });
    expect((await fixture.attempts(lost))[0]).toMatchObject({ impossible_proof: { ends: true } });
    await mine(1);
    await follow({ observe });
    expect(fixture.signals.at(-1)).toMatchObject({ txId: lost, observation: { state: 'impossible', ends: true } });
  });

  it('ends a parked transfer that one endpoint had proven when no other was configured, once a second one is: the follower asks again', async () => {
    const { mine, follow, chain, ledger, anvil, onChain } = fixture;
    const { lost } = await usedUpByAnother();
    await mine(chain.finalityDepth);
    await follow();
    expect(await onChain.observe({ txId: lost })).toMatchObject({ state: 'impossible' });
    await ledger.parkTransfer({ txId: lost, code: 'stuck', reason: 'another transaction has used up its nonce' });
    const urls = [anvil.url, anvil.url];
    const asked: string[] = [];
    const observe = (txId: string) => {
      asked.push(txId);
      return fixture.at(...urls).observe({ txId });
    };
    await mine();
    await follow({ observe });
    expect(asked).toEqual([]);
    await mine();
    await follow({ observe, client: fixture.clientAt(...urls) });
    expect(asked).toEqual([lost]);
    expect(fixture.signals.at(-1)).toMatchObject({ txId: lost, observation: { state: 'impossible', ends: true } });
    expect(await ledger.failByProof({ txId: lost })).toMatchObject({ status: 'FAILED', code: 'superseded' });
  });

  it('proves nothing by one endpoint, once a second one that is configured later shows something else; agreed, it ends the transfer', async () => {
    const { mine, follow, chain, ledger, anvil, onChain, attempts } = fixture;
    const { lost, id } = await usedUpByAnother();
    await mine(chain.finalityDepth);
    await follow();
    expect(await onChain.observe({ txId: lost })).toMatchObject({ state: 'impossible' });
    const alone = (await attempts(lost))[0]?.impossible_proof as object;
    expect(alone).not.toHaveProperty('agreed_by');
    const other = await startRpcProxy(anvil.url, ({ method, params }) =>
      method === 'eth_getTransactionByHash' && params[0] === id ? { result: null } : undefined,
    );
    try {
      expect(await fixture.at(anvil.url, other.url).observe({ txId: lost })).toMatchObject({ state: 'absent' });
    } finally {
      other.close();
    }
    expect((await attempts(lost))[0]?.impossible_proof).toEqual(alone);
    const both = fixture.at(anvil.url, anvil.url);
    expect(await both.observe({ txId: lost })).toMatchObject({ state: 'impossible', ends: true, hash: id });
    const agreed = (await attempts(lost))[0]?.impossible_proof;
    expect(agreed).toEqual({ ...alone, agreed_by: 2, ends: true });
    // it stays
    expect(await fixture.at(anvil.url, anvil.url, anvil.url).observe({ txId: lost })).toMatchObject({ ends: true });
    expect((await attempts(lost))[0]?.impossible_proof).toEqual(agreed);
    expect(await ledger.failByProof({ txId: lost })).toMatchObject({ status: 'FAILED', code: 'superseded' });
  });

  it('proves nothing by one endpoint while a second one that is configured later has not come so far, nor is anything unlocked by it', async () => {
    const { mine, follow, chain, ledger, anvil, onChain, balance, alice } = fixture;
    const { lost } = await usedUpByAnother();
    await mine(chain.finalityDepth);
    await follow();
    expect(await onChain.observe({ txId: lost })).toMatchObject({ state: 'impossible' });
    await refuseAttempt(fixture.database, { txId: lost, attempt: 2 });
    const { locked } = await balance(alice, 'ETH');
    const behind = await startRpcProxy(anvil.url, ({ method }) => (method === 'eth_blockNumber' ? { result: '0x1' } : undefined));
    try {
      expect(await fixture.at(anvil.url, behind.url).observe({ txId: lost })).toMatchObject({ state: 'absent' });
    } finally {
      behind.close();
    }
    // the follower has noted that several are configured
    await follow({ client: fixture.clientAt(anvil.url, anvil.url) });
    expect(await codeOf(ledger.failByProof({ txId: lost }))).toBe('not_cancellable');
    expect((await balance(alice, 'ETH')).locked).toBe(locked);
    expect(await fixture.at(anvil.url, anvil.url).observe({ txId: lost })).toMatchObject({ state: 'impossible', ends: true });
    expect(await ledger.failByProof({ txId: lost })).toMatchObject({ status: 'FAILED' });
  });

  it('settles one that this transaction has carried out: its attempt is missing on record', async () => {
    const { mine, follow, chain, ledger, alice, balance, onChain } = fixture;
    const { lost, id } = await usedUpByAnother(parseEther('0.1'));
    await mine(chain.confirmations);
    await follow();
    expect(await onChain.observe({ txId: lost })).toMatchObject({ state: 'confirmed', hash: id });
    const { available, locked } = await balance(alice, 'ETH');
    expect(await ledger.settleTransfer({ txId: lost })).toMatchObject({ status: 'CONFIRMED' });
    expect(await fixture.transaction(lost)).toMatchObject({ tx_hash: id });
    const after = await balance(alice, 'ETH');
    expect(available + locked - after.available - after.locked).toBeGreaterThan(parseEther('0.1'));
    expect(await knownIds(lost)).toContain(id);
  });
});

it('another transaction with the nonce is a proof: the transfer fails and everything is unlocked', async () => {
  const { mine, follow, client, attempts, alice, chain, onChain, ledger, balance, anvil } = fixture;
  const { lost, id, bytes } = await usedUpByAnother();
  const snapshot = await anvil.client.snapshot();
  await mine(1);
  await follow();
  expect(await onChain.observe({ txId: lost })).toMatchObject({ state: 'absent' });
  const seen = () => fixture.database.query('select owner, ordinal, id from foreign_transactions');
  expect(await seen()).toEqual([{ owner: alice.addressKey, ordinal: '0', id }]);
  // a reorganisation takes it back, and another block holds it
  await anvil.client.revert({ id: snapshot });
  await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_234_567_890n });
  await anvil.client.dropTransaction({ hash: id as Hex });
  await mine(1);
  await follow();
  expect(await seen()).toEqual([]);
  expect(await client.broadcast(bytes)).toEqual({ outcome: 'accepted' });
  await mine(1);
  await follow();
  expect(await seen()).toHaveLength(1);
  expect(await findReservations(fixture.database.manager, lost)).toMatchObject([{ ordinal: 0n, usedBy: id }]);
  await mine(chain.finalityDepth);
  expect(await onChain.observe({ txId: lost })).toMatchObject({ state: 'impossible', hash: id });
  expect((await attempts(lost))[0]).toMatchObject({ impossible_proof: { used_by: id, sender: alice.addressKey } });
  const { locked } = await balance(alice, 'ETH');
  await refuseAttempt(fixture.database, { txId: lost, attempt: 2 });
  expect(await ledger.failByProof({ txId: lost })).toMatchObject({
    status: 'FAILED',
    code: 'stuck',
  });
  expect((await balance(alice, 'ETH')).locked).toBeLessThan(locked);
  expect(await fixture.database.query('select released_at from reservations where tx_id = $1', [lost])).toEqual([
    { released_at: null },
  ]);
});

/** The same chain with every other number skipped. */
function skippingOdd(client: ChainClient): ChainClient {
  const widen = <T extends { number: number }>(block: T): T => ({ ...block, number: block.number * 2 });
  const widenScan = (block: BlockScan): BlockScan => ({
    ...widen(block),
    deposits: block.deposits.map((deposit) => ({ ...deposit, blockNumber: deposit.blockNumber * 2 })),
  });
  return Object.assign(Object.create(client) as ChainClient, {
    head: async () => widen(await client.head()),
    block: async (number: number) => {
      const block = number % 2 === 0 ? await client.block(number / 2) : null;
      return block && widen(block);
    },
    effects: async (items: Parameters<ChainClient['effects']>[0]) => {
      const effects = await client.effects(items);
      return new Map([...effects].map(([id, effect]) => [id, effect && { ...effect, blockNumber: effect.blockNumber * 2 }]));
    },
    scan: async (from: number, to: number, isOurs: Parameters<ChainClient['scan']>[2]) => {
      const [first, last] = [Math.ceil(from / 2), Math.floor(to / 2)];
      if (first > last) return { blocks: [], scannedTo: to };
      const { blocks, scannedTo } = await client.scan(first, last, isOurs);
      return { blocks: blocks.map(widenScan), scannedTo: Math.min(to, scannedTo * 2 + 1) };
    },
  });
}

it('a chain that skips block numbers is followed, also through a reorganisation', async () => {
  const { anvil, send, mine, balance, attempts, transfer, sign, onChain, client, alice, bob } = fixture;
  const skipping = skippingOdd(client);
  const follow = async () => {
    const stop = new AbortController();
    const { number: head } = await skipping.head();
    let beats = 0;
    const heartbeat = ({ nextBlock }: { nextBlock: number }) => {
      if (nextBlock > head && (beats += 1) > 2) stop.abort();
    };
    return fixture.follow({ client: skipping, signal: stop.signal, heartbeat });
  };
  await send(alice, parseEther('1'));
  await mine(3);
  await follow();
  expect((await balance(alice, 'ETH')).available).toBe(parseEther('1'));
  const numbers = await fixture.database.query<{ number: string }[]>('select number from chain_blocks');
  expect(numbers.every(({ number }) => Number(number) % 2 === 0)).toBe(true);

  const txId = await transfer({ amount: '0.1', toAddress: bob.address });
  await sign(txId, 1);
  await onChain.broadcast({ txId, attempt: 1 });
  await mine(1);
  await follow();
  const included = (await attempts(txId))[0];
  expect(included?.block_number).not.toBeNull();
  await anvil.client.request({ method: 'anvil_reorg', params: [1, []] } as never);
  await follow();
  expect((await attempts(txId))[0]?.block_number).toBeNull();
  await onChain.observe({ txId });
  await mine(2);
  await follow();
  expect((await attempts(txId))[0]).toMatchObject({ success: true });
});
