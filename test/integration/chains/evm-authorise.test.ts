import { randomBytes } from 'node:crypto';
import { concat, createWalletClient, encodeFunctionData, type Hex, http, toHex } from 'viem';
import { sendNative } from '../../../dev/chain';
import { contractArtifacts } from '../../../dev/contracts';
import { allowanceResource } from '../../../src/chains/evm/authorise/codec';
import { EvmChainClient } from '../../../src/chains/evm/client';
import { evmFamily } from '../../../src/chains/evm/family';
import { encodeSettlement } from '../../../src/chains/evm/payments/calldata';
import { uptoProxyAddress } from '../../../src/chains/evm/payments/contracts';
import type { KnownAttempt } from '../../../src/chains/chain-client';
import { loadRegistry } from '../../../src/chains/registry';
import type { AuthorisationAction, ChainDefinition, TransactionIntent } from '../../../src/chains/types';
import { randomAddress } from '../../factories';
import { startRpcProxy } from './rpc-proxy';
import { account, type Payers, startPayers } from '../dev/payers';

/** What a chain shows about payments that an account has authorised, whoever has sent them and in whatever way. */

const chain: ChainDefinition = { ...loadRegistry('local', ['base']).get('base'), finalityDepth: 4, confirmations: 2 };
const domain = { name: 'USD Coin', version: '2' };
const facilitator = account('facilitator');
const multicall3Address: Hex = '0xcA11bde05977b3631167028862bE2a173976CA11';
let payers: Payers;
let client: EvmChainClient;
let payTo: Hex;

beforeAll(async () => {
  payers = await startPayers();
  client = new EvmChainClient(chain, [payers.anvil.rpc]);
  await sendNative(payers.anvil.chain, facilitator.address, 10n ** 18n);
}, 120_000);
afterAll(() => payers.anvil.stop());
beforeEach(() => {
  payTo = randomAddress() as Hex;
});

interface Signed {
  attempt: KnownAttempt;
  /** The call that carries it out. */
  call: (taken?: bigint) => { to: Hex; data: Hex };
}

const ask = (changes: Partial<AuthorisationAction> = {}, amount = 100n): TransactionIntent => ({
  from: payers.payer.address,
  outputs: [{ recipient: payTo, tokenContract: payers.usdc, amount }],
  action: {
    ...{ type: 'authorisation', method: 'permit2_upto', nonce: toHex(randomBytes(32)), seconds: 600 },
    ...{ facilitator: facilitator.address, domain, withAllowance: false },
    ...changes,
  },
});

/** Prepared by the client, and signed by the payer's key. */
async function sign(intent: TransactionIntent): Promise<Signed> {
  const action = intent.action as AuthorisationAction;
  const prepared = await client.prepare({ kind: 'first', intent, previous: [] });
  const resources = action.method === 'eip3009' ? [] : [allowanceResource(payers.usdc, BigInt(action.nonce))];
  const unsigned = evmFamily.build({ chain, intent, kind: 'first', prepared, resources });
  const { validAfter, validBefore } = prepared.details as { validAfter: string; validBefore: string };
  const [payload] = evmFamily.signingPayloads(unsigned, intent.from);
  const signature = await payers.payer.sign({ hash: payload?.digest as Hex });
  const [output] = intent.outputs;
  const authorised = output?.amount ?? 0n;
  const call = (taken = authorised) =>
    encodeSettlement(
      {
        ...{ method: action.method as 'eip3009', payer: intent.from, payTo, authorised, signature },
        nonce: action.method === 'eip3009' ? action.nonce : BigInt(action.nonce).toString(),
        ...{ validAfter: BigInt(validAfter), validBefore: BigInt(validBefore), facilitator: action.facilitator },
        ...{ sponsoring: { type: 'none' }, token: { contract: payers.usdc } },
      },
      taken,
    );
  const messageKey = evmFamily.messageKey(unsigned, intent.from);
  const known = { attempt: 1, kind: 'first', intent, unsigned, messageKey, ids: [], expiry: null, begunAt: new Date() } as const;
  return { attempt: { ...known, ids: [] }, call };
}

const stateOf = async ({ attempt }: Signed) => (await client.status([attempt], []))[0];
const paid = (amount: bigint) => ({
  state: 'included',
  effect: { success: true, fee: 0n, debited: amount, received: amount },
});

async function send({ to, data }: { to: Hex; data: Hex }, from = facilitator): Promise<void> {
  expect(await payers.send(to, data, from)).toBe('success');
}

test('of payments to one recipient each has what was taken of it', async () => {
  const [small, large] = [await sign(ask()), await sign(ask())];
  expect(await stateOf(small)).toMatchObject({ state: 'absent' });
  await send(small.call(1n));
  // as official facilitators do, with something after the call
  const { to, data } = large.call(90n);
  await send({ to, data: concat([data, '0x0a1b2c3d']) });
  expect(await stateOf(small)).toMatchObject(paid(1n));
  expect(await stateOf(large)).toMatchObject(paid(90n));
});

/** A wallet of somebody, whose owner has it send calls. */
async function walletOf(owner: typeof facilitator) {
  const { TestWallet, TestMulticall3 } = await contractArtifacts();
  const wallet = createWalletClient({ account: owner, transport: http(payers.anvil.rpc) });
  const hash = await wallet.deployContract({ ...TestWallet, args: [owner.address], chain: null });
  const { contractAddress } = await payers.anvil.chain.waitForTransactionReceipt({ hash, pollingInterval: 100 });
  const address = contractAddress as Hex;
  const toCall = ({ to, data }: { to: Hex; data: Hex }) =>
    encodeFunctionData({ abi: TestWallet.abi, functionName: 'execute', args: [to, data] });
  const toAll = (calls: { to: Hex; data: Hex }[]) =>
    calls.map((call) => ({ target: address, allowFailure: false, callData: toCall(call) }));
  return {
    address,
    execute: (call: { to: Hex; data: Hex }) => send({ to: address, data: toCall(call) }, owner),
    /** In one transaction. */
    executeAll: (calls: { to: Hex; data: Hex }[]) =>
      send({
        to: multicall3Address,
        data: encodeFunctionData({ abi: TestMulticall3.abi, functionName: 'aggregate3', args: [toAll(calls)] }),
      }),
  };
}

describe('by way of a contract', () => {
  test('found by the block before which its nonce was free', async () => {
    const wallet = await walletOf(facilitator);
    const [first, second] = [await sign(ask({ facilitator: wallet.address })), await sign(ask({ facilitator: wallet.address }))];
    await wallet.execute(first.call(7n));
    expect(await stateOf(second)).toMatchObject({ state: 'absent' });
    await wallet.execute(second.call(8n));
    expect(await stateOf(first)).toMatchObject(paid(7n));
    expect(await stateOf(second)).toMatchObject(paid(8n));
  });

  test('a transaction of the payer itself is not taken for the payment: somebody has to look', async () => {
    const wallet = await walletOf(payers.payer);
    const payment = await sign(ask({ facilitator: wallet.address }));
    await wallet.execute(payment.call(7n));
    await expect(stateOf(payment)).rejects.toMatchObject({ code: 'chain_unavailable' });
  });
});

test('a transfer of the same amount by the account itself is no payment', async () => {
  const payment = await sign(ask({ method: 'permit2_exact', facilitator: null }, 55n));
  const { TestUSDC } = await contractArtifacts();
  const data = encodeFunctionData({ abi: TestUSDC.abi, functionName: 'transfer', args: [payTo, 55n] });
  await send({ to: payers.usdc, data }, payers.payer);
  expect(await stateOf(payment)).toMatchObject({ state: 'absent' });
  await send(payment.call());
  expect(await stateOf(payment)).toMatchObject(paid(55n));
});

test('an authorisation of the token, in either form of its signature', async () => {
  const payment = await sign(ask({ method: 'eip3009', facilitator: null }, 33n));
  const { data } = payment.call();
  await send({ to: payers.usdc, data });
  const state = await stateOf(payment);
  expect(state).toMatchObject(paid(33n));
  // the scan names it as well
  const { number } = await client.head();
  const { blocks } = await client.scan(number, number, (keys) => Promise.resolve(new Set(keys)));
  const keys = blocks.flatMap(({ transactions }) => transactions.map(({ messageKey }) => messageKey));
  expect(keys).toContain(payment.attempt.messageKey);
});

test('a transaction that does something else, or was reverted, has no effect on it', async () => {
  const [payment, other] = [await sign(ask({ method: 'eip3009', facilitator: null })), await sign(ask())];
  await send(other.call(5n));
  const { id } = (await stateOf(other)) as { id: string };
  const { intent, unsigned } = payment.attempt;
  expect(await client.effects([{ id, intent, unsigned }])).toEqual(new Map([[id, null]]));
  expect((await client.effects([{ id, intent: other.attempt.intent, unsigned }])).get(id)).toMatchObject({ debited: 5n });
});

test('unused after its time: impossible once a later block is final', async () => {
  const payment = await sign(ask({ seconds: 20 }));
  await payers.anvil.chain.increaseTime({ seconds: 60 });
  await payers.anvil.chain.mine({ blocks: 1 });
  expect(await stateOf(payment)).toMatchObject({ state: 'absent' });
  await payers.anvil.chain.mine({ blocks: 4 });
  expect(await stateOf(payment)).toMatchObject({ state: 'impossible', proof: { block_hash: expect.stringMatching(/^0x/) } });
});

test('unused after its time, as one endpoint shows, while the other says that it was used: nothing is unlocked', async () => {
  const payment = await sign(ask({ seconds: 20 }));
  await payers.anvil.chain.increaseTime({ seconds: 60 });
  await payers.anvil.chain.mine({ blocks: 5 });
  const used = await startRpcProxy(payers.anvil.rpc, ({ method }) =>
    method === 'eth_call' ? { result: `0x${'f'.repeat(64)}` } : undefined,
  );
  const statusAt = async (...urls: string[]) => (await new EvmChainClient(chain, urls).status([payment.attempt], []))[0];
  try {
    expect(await statusAt(payers.anvil.rpc, used.url)).toEqual({ attempt: 1, state: 'absent', isUnagreed: true });
    expect(await statusAt(payers.anvil.rpc, payers.anvil.rpc)).toMatchObject({ state: 'impossible', proof: { agreed_by: 2 } });
  } finally {
    used.close();
  }
});

test('a receipt that lacks its logs is no end of a payment that was carried out', async () => {
  const payment = await sign(ask({ method: 'eip3009', facilitator: null }, 33n));
  const { to, data } = payment.call();
  await send({ to, data });
  const lacking = await startRpcProxy(payers.anvil.rpc, ({ method }, result) =>
    method === 'eth_getTransactionReceipt' && result ? { result: { ...result, logs: [] } } : undefined,
  );
  const asked = new EvmChainClient(chain, [lacking.url, payers.anvil.rpc]);
  try {
    const state = (await asked.status([payment.attempt], []))[0];
    expect(state).toMatchObject({ state: 'included', effect: { success: true, debited: null } });
    const { intent, unsigned } = payment.attempt;
    const { id } = state as { id: string };
    expect(await asked.effectAtEach({ id, intent, unsigned })).toEqual([null, expect.objectContaining({ debited: 33n })]);
  } finally {
    lacking.close();
  }
});

describe('carried out for 0, which the deployed proxies refuse', () => {
  beforeAll(async () => {
    const { OddUptoProxy } = await contractArtifacts();
    await payers.anvil.chain.setCode({ address: uptoProxyAddress, bytecode: OddUptoProxy.deployedBytecode });
  });
  afterAll(async () => {
    const { TestUptoProxy } = await contractArtifacts();
    await payers.anvil.chain.setCode({ address: uptoProxyAddress, bytecode: TestUptoProxy.deployedBytecode });
  });

  /** Nothing of it is seen until its block is final, not even by the follower; then it can never move anything. */
  async function expectUsedUp(payment: Signed): Promise<void> {
    const { number } = await client.head();
    const { blocks } = await client.scan(number, number, (keys) => Promise.resolve(new Set(keys)));
    const [transaction] = blocks.flatMap(({ transactions }) => transactions);
    const { intent, unsigned } = payment.attempt;
    const id = String(transaction?.id);
    expect(await client.effects([{ id, intent, unsigned }])).toEqual(new Map([[id, null]]));
    for (let depth = 1; depth < chain.finalityDepth; depth += 1) {
      expect(await stateOf(payment)).toMatchObject({ state: 'absent' });
      await payers.anvil.chain.mine({ blocks: 1 });
    }
    expect(await stateOf(payment)).toMatchObject({ state: 'impossible', proof: { used_up_by: id, block_number: number } });
  }

  test('it is impossible once that block is final', async () => {
    const payment = await sign(ask());
    await send(payment.call(0n));
    await expectUsedUp(payment);
  });

  test('also by way of a contract', async () => {
    const wallet = await walletOf(facilitator);
    const payment = await sign(ask({ facilitator: wallet.address }));
    await wallet.execute(payment.call(0n));
    await expectUsedUp(payment);
  });

  test('not where the same transaction has moved money from the payer to the recipient', async () => {
    const wallet = await walletOf(facilitator);
    const [nothing, paying] = [
      await sign(ask({ facilitator: wallet.address })),
      await sign(ask({ facilitator: wallet.address })),
    ];
    await wallet.executeAll([nothing.call(0n), paying.call(9n)]);
    await payers.anvil.chain.mine({ blocks: chain.finalityDepth });
    for (const payment of [nothing, paying]) await expect(stateOf(payment)).rejects.toMatchObject({ code: 'chain_unavailable' });
  });
});

test('what nobody could carry out is refused', async () => {
  const refused = { code: 'would_revert' };
  const prepare = (intent: TransactionIntent) => client.prepare({ kind: 'first', intent, previous: [] });
  await expect(prepare(ask({}, 10n ** 12n))).rejects.toMatchObject(refused);
  await expect(prepare(ask({ method: 'eip3009', domain: { name: 'Other', version: '2' } }))).rejects.toMatchObject(refused);
  const poor = account(`without allowance ${Date.now()}`).address;
  await expect(prepare({ ...ask(), from: poor })).rejects.toMatchObject(refused);
});
