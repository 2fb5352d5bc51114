import type { Hex } from 'viem';
import { evmCodec } from '../../../src/chains/evm/codec';
import { EvmChainClient } from '../../../src/chains/evm/client';
import { buildEvm, compact, digestOf, localPlan } from '../../evm';
import { localChain, rich, startAnvil, type Anvil } from './anvil';
import { startRpcProxy } from './rpc-proxy';

/** What becomes of a transaction that a node refuses, by the words of the nodes: geth, Nethermind, Erigon, Besu, Reth, Nitro. */

const [sender] = rich;
const recipient = '0x5bc2e97d04a8f61e3c7b90fd2a6548ec1f73d0e9';

let anvil: Anvil;
beforeAll(async () => {
  anvil = await startAnvil({ noMining: true });
}, 60_000);
afterAll(() => anvil.stop());

/** Never sent to the node: each has a nonce of its own, far above what was used. */
let nonce = 1000;
async function signed(): Promise<Hex> {
  const unsigned = buildEvm(localPlan((nonce += 1), sender.address, recipient));
  const signature = await sender.sign({ hash: digestOf(unsigned, sender.address) });
  return evmCodec.assemble(unsigned, [compact(signature)], sender.address).bytes;
}

/**
 * Endpoints that refuse with these words, one each, and count what they are sent; then, unless it is left out, one that takes it. `before`: so
 * many others are sent first. `silent`: a further endpoint does not answer.
 */
async function offered(refusals: { code?: number; message: string }[], { last = true, before = 0, silent = false } = {}) {
  const counts = refusals.map(() => 0);
  const proxies = await Promise.all(
    refusals.map(({ code = -32000, message }, index) =>
      startRpcProxy(
        anvil.url,
        () => undefined,
        ({ method }) => {
          if (method !== 'eth_sendRawTransaction') return Promise.resolve(undefined);
          counts[index] = (counts[index] ?? 0) + 1;
          return Promise.resolve({ error: { code, message } });
        },
      ),
    ),
  );
  const urls = [...proxies.map(({ url }) => url), ...(silent ? ['http://127.0.0.1:1'] : [])];
  try {
    const client = new EvmChainClient(localChain(), last ? [...urls, anvil.url] : urls);
    for (let sent = 0; sent < before; sent += 1) await client.broadcast(await signed());
    const outcome = await client.broadcast(await signed()).catch((error: unknown) => error);
    return { outcome, counts };
  } finally {
    for (const proxy of proxies) proxy.close();
  }
}

const passing = [
  'txpool is full',
  'Transaction pool is full',
  'account limit exceeded: pooled 16 txs',
  'transaction underpriced',
  'FeeTooLow, EffectivePriorityFeePerGas too low 1 < 2',
  'max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 2',
  'replacement transaction underpriced',
  'nonce too high: address 0x1, tx: 7 state: 3',
  'gapped-nonce tx from delegated accounts',
  'in-flight transaction limit reached for delegated accounts',
  'insufficient funds for gas * price + value: balance 0, tx cost 1',
  'InsufficientFunds, Account balance: 0, cumulative cost: 1',
  'NonceGap, Future nonce. Expected nonce: 5',
  'Transaction nonce is too distant from current sender nonce',
  'An invalid transaction with a lower nonce exists',
  'sequencer temporarily not available',
  'please retry transaction',
  'queue full',
  'failed to forward tx to sequencer, please try again. Error message: "timeout"',
  // by another transaction of the same nonce, as some nodes say it
  'transaction with the same nonce already exists',
];
test.each(passing)('"%s": the next endpoint takes it', async (message) => {
  expect(await offered([{ message }, { message }])).toEqual({ outcome: { outcome: 'accepted' }, counts: [1, 1] });
});
test.each(passing)('"%s", wherever it is offered: it waits', async (message) => {
  const { outcome } = await offered([{ message }, { message }], { last: false });
  expect(outcome).toEqual({ outcome: 'waiting', reason: expect.any(String), passing: expect.any(String) });
});

test.each([
  'invalid sender',
  'invalid chain id for signer: have 5 want 1',
  'invalid sender: invalid chain id for signer: have 5 want 1',
  'invalid chain id, expected: 1 got: 5',
  "transaction's chain ID does not match",
  'Invalid, InvalidTxChainId: Expected 1, got 5.',
  'Invalid, InvalidTxSignature: Signature is invalid.',
  'invalid transaction v, r, s values',
  'intrinsic gas too low: gas 100, minimum needed 21000',
  'Intrinsic gas exceeds gas limit',
])('"%s": no other endpoint is asked', async (message) => {
  const { outcome, counts } = await offered([{ message }, { message }]);
  expect(outcome).toEqual({ outcome: 'rejected', reason: expect.any(String) });
  expect(counts).toEqual([1, 0]);
});

describe.each([
  // the block that this node has seen last, or what its operator has set
  'exceeds block gas limit',
  'Transaction gas limit exceeds block gas limit',
  'GasLimitExceeded, Gas limit: 100, gas limit of rejected tx: 150',
  'transaction gas limit too high (cap: 16777216, tx: 21000000)',
  'intrinsic gas too high -- tx.gas_limit > env.block.gas_limit',
  'exceeds max transaction gas limit',
  // a proxy says it of its own address or of a signed request too
  'invalid chain ID',
  'Invalid signature',
  'Wrong chainId',
])('"%s"', (message) => {
  test('may be so at this node alone: the next one is asked', async () => {
    expect(await offered([{ message }, { message }])).toEqual({ outcome: { outcome: 'accepted' }, counts: [1, 1] });
  });

  test('of every node: refused', async () => {
    const { outcome } = await offered([{ message }, { message }], { last: false });
    expect(outcome).toEqual({ outcome: 'rejected', reason: expect.any(String) });
  });

  test('of one, while the others do not say: it is waited for', async () => {
    const waits = { outcome: 'waiting', passing: 'unknown' };
    expect((await offered([{ message }], { last: false, silent: true })).outcome).toMatchObject(waits);
    const trouble = { code: -32603, message: 'Internal error' };
    expect((await offered([{ message }, trouble], { last: false })).outcome).toMatchObject(waits);
  });
});

test.each([
  { code: -32603, message: 'could not resolve chainId from upstream' },
  { code: -32000, message: 'could not resolve chainId from upstream' },
  { code: -32000, message: 'rate limit: chain id 1 quota' },
  { code: -32000, message: 'gas limit reached' },
  { code: -32000, message: 'daily gas limit of sponsor reached' },
  { code: -32000, message: 'the sponsor has no intrinsic gas policy' },
  { code: -32000, message: 'invalid signature of the request' },
])(
  '$code "$message" is not about the bytes: the next endpoint takes it, and it is waited for where none does',
  async (refusal) => {
    expect(await offered([refusal, refusal])).toEqual({ outcome: { outcome: 'accepted' }, counts: [1, 1] });
    const { outcome } = await offered([refusal, refusal], { last: false });
    expect(outcome).not.toMatchObject({ outcome: 'rejected' });
  },
);

test('"nonce too low" is what one node has seen: the next endpoint is asked, and where none takes it the chain shows what has used it', async () => {
  const refusals = [{ message: 'nonce too low: next nonce 2000, tx nonce 1005' }, { message: 'OldNonce' }];
  expect(await offered(refusals)).toEqual({ outcome: { outcome: 'accepted' }, counts: [1, 1] });
  // the one that takes it may lag: it is not asked first for the next one, as it is after a full pool
  expect(await offered(refusals, { before: 1 })).toMatchObject({ counts: [2, 2] });
  expect(await offered([{ message: 'queue full' }, { message: 'queue full' }], { before: 1 })).toMatchObject({ counts: [1, 1] });
  const { outcome, counts } = await offered(refusals, { last: false });
  expect(outcome).toEqual({ outcome: 'waiting', reason: 'nonce too low: another transaction has used it', passing: 'unknown' });
  expect(counts).toEqual([1, 1]);
});

const unknown = (reason: string) => ({ outcome: 'waiting', reason, passing: 'unknown' });

describe('words that nobody knows', () => {
  const refusal = { message: 'a sentence that nobody knows' };

  test('the next endpoint is asked, and it is waited for where none takes it', async () => {
    expect(await offered([refusal, refusal])).toEqual({ outcome: { outcome: 'accepted' }, counts: [1, 1] });
    expect(await offered([refusal, refusal], { last: false })).toEqual({
      outcome: unknown('refused by the node (code -32000): a sentence that nobody knows'),
      counts: [1, 1],
    });
  });

  test('of another endpoint’s words those count that are known', async () => {
    const full = { message: 'txpool is full' };
    const known = { outcome: 'waiting', reason: 'the pool of the node is full', passing: 'price' };
    expect((await offered([refusal, full], { last: false })).outcome).toEqual(known);
    expect((await offered([full, refusal], { last: false })).outcome).toEqual(known);
    const final = { outcome: 'rejected', reason: 'signature or chain id refused' };
    expect((await offered([refusal, { message: 'invalid sender' }], { last: false })).outcome).toEqual(final);
  });

  test('no more is kept of a message than plain words', async () => {
    const message = `Oops, 0xf86c8085 from https://node.example/v1/abcdef?key=secret (key_1a2B): said <b>no</b>. ${'calm '.repeat(50)}`;
    const { outcome } = await offered([{ code: -32055, message }], { last: false });
    expect(outcome).toEqual(unknown(`refused by the node (code -32055): Oops, from said ${'calm '.repeat(9).trim()}`));
    expect((await offered([{ message: '0x1234' }], { last: false })).outcome).toEqual(
      unknown('refused by the node (code -32000)'),
    );
  });
});

test.each([
  { code: -32005, message: 'daily request count exceeded' },
  { code: 429, message: 'Too Many Requests' },
  { code: 429, message: 'Your app has exceeded its compute units per second capacity' },
  { code: -32016, message: 'over rate limit' },
  { code: -32000, message: 'rate limit exceeded' },
])('$code "$message": the endpoint has not taken it, another one may', async (refusal) => {
  expect((await offered([refusal])).outcome).toEqual({ outcome: 'accepted' });
  expect((await offered([refusal], { last: false })).outcome).toMatchObject({ code: 'chain_unavailable' });
});

test('a trouble of its own, of each endpoint: another one may take it; where none does and each has answered, it waits', async () => {
  const [internal, missing] = [
    { code: -32603, message: 'Internal error' },
    { code: -32601, message: 'the method does not exist' },
  ];
  expect((await offered([internal, missing])).outcome).toEqual({ outcome: 'accepted' });
  expect(await offered([internal, missing], { last: false })).toEqual({
    outcome: { outcome: 'waiting', reason: 'refused by the node (code -32603): Internal error', passing: 'unknown' },
    counts: [1, 1],
  });
});

test('a trouble of one endpoint, while another one is silent: it waits; nobody is told while all are silent', async () => {
  const internal = { code: -32603, message: 'Internal error' };
  expect((await offered([internal], { last: false, silent: true })).outcome).toEqual(
    unknown('refused by the node (code -32603): Internal error; not every endpoint answers'),
  );
  expect((await offered([], { last: false, silent: true })).outcome).toMatchObject({ code: 'chain_unavailable' });
});

test('what one endpoint calls passing and another for good is refused for good', async () => {
  const { outcome } = await offered([{ message: 'txpool is full' }, { message: 'invalid sender' }]);
  expect(outcome).toEqual({ outcome: 'rejected', reason: 'signature or chain id refused' });
});
