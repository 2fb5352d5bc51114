import type { Hex } from 'viem';
import { verifyLedger } from '../../../src/ledger/verify';
import { startRpcProxy } from '../chains/rpc-proxy';
import { randomAddress } from '../../factories';
import { createFollowFixture, type FollowFixture } from './fixture';

/** What a block ends as FAILED is unlocked: by what every configured endpoint shows of it when it is final. */

const ether = 10n ** 18n;

interface Receipt {
  status: Hex;
  logs: object[];
  logsBloom: Hex;
}

let fixture: FollowFixture;
/** Endpoints of the chain: the node, and one that shows receipts in another shape. */
let [node, odd]: string[] = [];
let shape: (receipt: Receipt) => object | null;
let close: () => void;
beforeEach(async () => {
  fixture = await createFollowFixture();
  node = fixture.anvil.url;
  shape = (receipt) => receipt;
  const proxy = await startRpcProxy(node, ({ method }, result) =>
    method === 'eth_getTransactionReceipt' && result ? { result: shape(result as Receipt) } : undefined,
  );
  odd = proxy.url;
  close = () => proxy.close();
  await fixture.send(fixture.alice, ether);
  await fixture.mint(fixture.alice, 1_000_000_000n);
  await fixture.mine(4);
  await fixture.follow();
}, 60_000);
afterEach(async () => {
  expect(await verifyLedger(fixture.database.manager)).toEqual([]);
  close();
  await fixture.close();
});

const noBloom: Hex = `0x${'0'.repeat(512)}`;
const bare = (receipt: Receipt) => ({ ...receipt, logs: [], logsBloom: noBloom });

/**
 * Follows by a gateway that has these endpoints and reads blocks from the first; the observation that workflows got last, and how the transfer
 * is settled then.
 */
async function end(txId: string, ...urls: string[]) {
  const activities = fixture.at(...urls);
  await fixture.follow({ client: fixture.clientAt(urls[0] as string), observe: (it) => activities.observe({ txId: it }) });
  const seen = fixture.signals.at(-1)?.observation.state;
  return { seen, settled: await fixture.ledger.settleTransfer({ txId }) };
}

/** A final block holds it. `token`: the code of USDC while it is executed; `to`: the code of the recipient of coins. */
async function final({ token, to }: { token?: Hex; to?: Hex }): Promise<string> {
  const { anvil, chain, transfer, sign, onChain, mine } = fixture;
  const toAddress = randomAddress();
  const txId = await transfer({ toAddress, ...(to ? { amount: '0.1' } : { tokenSymbol: 'USDC', amount: '5' }) });
  await sign(txId, 1);
  if (to) await anvil.client.setCode({ address: toAddress as Hex, bytecode: to });
  const address = chain.tokens.find(({ symbol }) => symbol === 'USDC')?.contract as Hex;
  const code = (await anvil.client.getCode({ address })) as Hex;
  if (token) await anvil.client.setCode({ address, bytecode: token });
  await onChain.broadcast({ txId, attempt: 1 });
  await mine(1);
  await anvil.client.setCode({ address, bytecode: code });
  await mine(chain.finalityDepth);
  return txId;
}
const reverting: Hex = '0x60006000fd';
/** Returns success and moves nothing. */
const idle: Hex = '0x600160005260206000f3';
const agreedBy = async (txId: string) => (await fixture.attempts(txId))[0]?.agreed_by;
const usdcOf = () => fixture.balance(fixture.alice, 'USDC');

test('reverted, as both show: FAILED, and the verdict is stored with the attempt', async () => {
  const txId = await final({ to: reverting });
  expect(await end(txId, node as string, odd as string)).toMatchObject({
    ...{ seen: 'confirmed', settled: { status: 'FAILED', code: 'reverted_on_chain' } },
  });
  expect(await agreedBy(txId)).toBe(2);
});

test.each<[string, (receipt: Receipt) => object | null]>([
  ['that it was executed', (receipt) => ({ ...receipt, status: '0x1' })],
  [
    'a receipt that contradicts itself',
    (receipt) => ({ ...receipt, logs: [{ address: randomAddress(), topics: [], data: '0x' }] }),
  ],
  ['another fee', (receipt) => ({ ...receipt, gasUsed: '0x5209' })],
  ['none', () => null],
])(
  'reverted, as one shows, while the other shows %s: nothing is unlocked, with an alarm, until both show it',
  async (_, other) => {
    const txId = await final({ to: reverting });
    shape = other;
    const alarm = jest.spyOn(fixture.options.logger, 'error');
    const { locked } = await fixture.balance(fixture.alice, 'ETH');
    for (const urls of [
      [node, odd],
      [node, node, odd],
    ] as string[][])
      expect(await end(txId, ...urls)).toMatchObject({ seen: 'included', settled: { status: 'WAITING' } });
    expect(await agreedBy(txId)).toBeNull();
    expect((await fixture.balance(fixture.alice, 'ETH')).locked).toBe(locked);
    expect(alarm).toHaveBeenCalledWith(
      expect.objectContaining({ alert: 'endpoints_not_agreed', tx_id: txId }),
      expect.any(String),
    );
    shape = (receipt) => receipt;
    expect(await end(txId, node as string, odd as string)).toMatchObject({ settled: { status: 'FAILED' } });
  },
);

test('while the endpoints do not answer for what was reverted, blocks are followed all the same', async () => {
  await final({ to: reverting });
  const asked: string[] = [];
  const observe = (txId: string) => new Promise<never>(() => void asked.push(txId));
  const before = await fixture.balance(fixture.alice, 'ETH');
  await fixture.follow({ observe });
  expect(asked).toHaveLength(1);
  await fixture.send(fixture.alice, ether);
  await fixture.mine(fixture.chain.confirmations);
  await fixture.follow({ observe });
  const { available } = await fixture.balance(fixture.alice, 'ETH');
  expect(available).toBe(before.available + ether);
});

test('executed without moving anything, as both show: FAILED and unlocked', async () => {
  const before = await usdcOf();
  const txId = await final({ token: idle });
  const failed = { status: 'FAILED', code: 'transfer_not_observed' };
  expect(await end(txId, node as string, odd as string)).toMatchObject({ settled: failed });
  expect(await usdcOf()).toEqual(before);
});

test('executed without moving anything, as the only endpoint shows: parked, and FAILED once a second one shows it', async () => {
  const before = await usdcOf();
  const txId = await final({ token: idle });
  expect(await end(txId, node as string)).toMatchObject({
    settled: { status: 'NEEDS_ATTENTION', code: 'transfer_not_observed' },
  });
  expect((await usdcOf()).locked).toBe(5_000_000n);
  expect(await end(txId, node as string, odd as string)).toMatchObject({ settled: { status: 'FAILED' } });
  expect(await usdcOf()).toEqual(before);
});

test.each<[string, (receipt: Receipt) => object]>([
  ['no logs, and no bloom filter', bare],
  ['no logs', (receipt) => ({ ...receipt, logs: [] })],
  ['no logs, and the bloom filter is missing', ({ logsBloom: _, ...receipt }) => ({ ...receipt, logs: [] })],
])('paid, and one endpoint shows %s: what the other shows counts', async (_, other) => {
  const before = await usdcOf();
  const txId = await final({});
  shape = other;
  expect(await end(txId, odd as string, node as string)).toMatchObject({ seen: 'confirmed', settled: { status: 'CONFIRMED' } });
  expect((await usdcOf()).available).toBe(before.available - 5_000_000n);
});

test('paid, and every endpoint leaves out the logs: nothing is unlocked', async () => {
  const txId = await final({});
  shape = (receipt) => ({ ...receipt, logs: [] });
  const { number: head } = await fixture.client.head();
  expect(await end(txId, odd as string, odd as string)).toMatchObject({ seen: 'included', settled: { status: 'WAITING' } });
  // the scan goes on
  const [{ next_block: next }] = await fixture.database.query<[{ next_block: string }]>('select next_block from chain_cursors');
  expect(Number(next)).toBe(head + 1);
  expect((await fixture.attempts(txId))[0]).toMatchObject({ success: true, debited: null, agreed_by: null });
  expect((await usdcOf()).locked).toBe(5_000_000n);
});
