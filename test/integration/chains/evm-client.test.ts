import { createWalletClient, encodeFunctionData, erc20Abi, http, keccak256, pad, parseEther, type Hex } from 'viem';
import { evmCodec } from '../../../src/chains/evm/codec';
import { decodeLevels } from '../../../src/chains/evm/fees';
import { EvmChainClient } from '../../../src/chains/evm/client';
import type { RpcLog } from '../../../src/chains/evm/rpc-types';
import { bloomOf } from '../../../src/chains/evm/scan/bloom';
import { contractArtifacts } from '../../../dev/contracts';
import { buildEvm, compact, digestOf, type EvmPlan, localPlan, toIntent, toKnown } from '../../evm';
import { authorizationPlan, toSettlementIntent } from '../../evm-settlements';
import { localChain, rich, startAnvil, type Anvil } from './anvil';
import { startRpcProxy } from './rpc-proxy';

const [sender, other] = rich;
const stranger = '0x5Bc2e97D04a8F61e3C7B90fD2A6548eC1f73d0E9'.toLowerCase();
const nobody = () => Promise.resolve(new Set<string>());
const everybody = (keys: string[]) => Promise.resolve(new Set(keys));
const gwei = 10n ** 9n;

let anvil: Anvil;
let client: EvmChainClient;
let tokens: Record<string, Hex>;

beforeAll(async () => {
  anvil = await startAnvil({ noMining: true });
  tokens = {
    USDC: await anvil.deploy('TestUSDC'),
    USDT: await anvil.deploy('TestUSDT'),
    FEE: await anvil.deploy('FeeOnTransferToken'),
    RVT: await anvil.deploy('RevertingToken'),
    FLS: await anvil.deploy('FalseReturningToken'),
  };
  client = new EvmChainClient(localChain('ethereum', tokens), [anvil.url]);
  const { abi } = (await contractArtifacts()).TestUSDC;
  for (const token of Object.values(tokens)) {
    const wallet = createWalletClient({ account: other, transport: http(anvil.url) });
    await wallet.writeContract({
      chain: null,
      address: token,
      abi,
      functionName: 'mint',
      args: [sender.address, 1_000_000_000n],
    });
  }
  await anvil.client.mine({ blocks: 1 });
}, 60_000);
afterAll(() => anvil.stop());

async function signed(changes: Partial<EvmPlan> = {}) {
  const nonce = await anvil.client.getTransactionCount({ address: sender.address });
  const plan = localPlan(nonce, sender.address, stranger, changes);
  const unsigned = buildEvm(plan);
  const signature = await sender.sign({ hash: digestOf(unsigned, sender.address) });
  const { id, bytes } = evmCodec.assemble(unsigned, [compact(signature)], sender.address);
  return { plan, intent: toIntent(plan), id, bytes, unsigned };
}
type Signed = Awaited<ReturnType<typeof signed>>;

/** The states of attempts on the nonce of the first one. */
async function statesOf(...transactions: Pick<Signed, 'plan' | 'id'>[]) {
  const nonce = BigInt(transactions[0]?.plan.nonce ?? 0);
  const reservation = {
    reservationId: '1',
    owner: sender.address.toLowerCase(),
    resource: String(nonce),
    ordinal: nonce,
    usedBy: null,
    isInBlock: false,
  };
  return client.status(
    transactions.map(({ plan, id }, index) => toKnown(plan, [id], index + 1)),
    [reservation],
  );
}

/** r || s || v with v 27 or 28, to r || s || recovery id. */

async function executed(changes: Partial<EvmPlan>) {
  const transaction = await signed(changes);
  expect(await client.broadcast(transaction.bytes)).toEqual({ outcome: 'accepted' });
  await anvil.client.mine({ blocks: 1 });
  const effect = (await client.effects([transaction])).get(transaction.id);
  if (!effect) throw new Error('no effect');
  return { ...transaction, effect };
}

describe('effects', () => {
  it('native: the value and the fee', async () => {
    const { effect, id } = await executed({ amount: parseEther('1') });
    const receipt = await anvil.client.getTransactionReceipt({ hash: id as Hex });
    expect(effect).toEqual({
      blockNumber: Number(receipt.blockNumber),
      blockHash: receipt.blockHash,
      success: true,
      fee: receipt.gasUsed * receipt.effectiveGasPrice,
      debited: parseEther('1'),
      received: parseEther('1'),
    });
  });

  it('legacy transactions alike', async () => {
    expect((await executed({ maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: 5n * gwei })).effect).toMatchObject({
      success: true,
      debited: 5n,
    });
  });

  it.each([
    ['USDC', { success: true, debited: 1_000n, received: 1_000n }],
    ['USDT', { success: true, debited: 1_000n, received: 1_000n }],
    ['FEE', { success: true, debited: 1_000n, received: 990n }],
    ['FLS', { success: true, debited: null, received: null }],
    ['RVT', { success: false, debited: null, received: null }],
  ])('token %s by its events', async (symbol, expected) => {
    const { effect } = await executed({ tokenContract: tokens[symbol], amount: 1_000n });
    expect(effect).toMatchObject(expected);
    expect(effect.fee).toBeGreaterThan(0n);
  });

  const noBloom = `0x${'0'.repeat(512)}`;
  it.each<[string, string, (receipt: { logs: object[]; logsBloom: string }) => object]>([
    ['without its logs', 'FEE', (receipt) => ({ ...receipt, logs: [] })],
    ['with a part of its logs', 'FEE', ({ logs, ...receipt }) => ({ ...receipt, logs: logs.slice(1) })],
    ['without bloom filter', 'FEE', ({ logsBloom: _, ...receipt }) => receipt],
    ['with an empty bloom filter', 'FEE', (receipt) => ({ ...receipt, logsBloom: noBloom })],
    ['of another transaction', 'FEE', (receipt) => ({ ...receipt, transactionHash: keccak256('0x02') })],
    ['as reverted, with logs', 'FEE', (receipt) => ({ ...receipt, status: '0x0' })],
    ['without its status', 'RVT', (receipt) => ({ ...receipt, status: undefined })],
  ])('a receipt %s is none for the end of a transfer, and does not stop the scan of its block', async (_, symbol, shape) => {
    const { effect, ...transaction } = await executed({ tokenContract: tokens[symbol], amount: 1_000n });
    const odd = await startRpcProxy(anvil.url, ({ method }, result) =>
      method === 'eth_getTransactionReceipt' ? { result: shape(result as { logs: object[]; logsBloom: string }) } : undefined,
    );
    const asked = new EvmChainClient(client.chain, [odd.url, anvil.url]);
    try {
      expect(await asked.effectAtEach(transaction)).toEqual([null, effect]);
      expect((await asked.effects([transaction])).has(transaction.id)).toBe(true);
    } finally {
      odd.close();
    }
  });

  describe('the log that Bor adds of the fee, on polygon', () => {
    const address: Hex = '0x0000000000000000000000000000000000001010';
    /** LogFeeTransfer(address indexed token, address indexed from, address indexed to, …) */
    const logFeeTransfer: Hex = '0x4dfe1bbbcf077ddc3e01291eea2d5c70c2b422b415d95645b9adcfd678cb1d63';
    const topics = [logFeeTransfer, ...[address, sender.address, stranger].map((value) => pad(value as Hex))];
    const feeLog = { address, topics, data: `0x${'01'.repeat(160)}`, removed: false };
    const shownOnBor = async (changes: Partial<EvmPlan>) => {
      const { effect, ...transaction } = await executed(changes);
      const bor = await startRpcProxy(anvil.url, ({ method }, result) => {
        if (method !== 'eth_getTransactionReceipt') return undefined;
        const receipt = result as { logs: Pick<RpcLog, 'address' | 'topics'>[] };
        const logs = [...receipt.logs, feeLog];
        return { result: { ...receipt, logs, logsBloom: bloomOf(logs) } };
      });
      try {
        return { effect, onBor: await new EvmChainClient(client.chain, [bor.url]).effectAtEach(transaction) };
      } finally {
        bor.close();
      }
    };

    it.each(['RVT', 'FEE'])('is no log of the transaction: %s, reverted or not', async (symbol) => {
      const { effect, onBor } = await shownOnBor({ tokenContract: tokens[symbol], amount: 1_000n });
      expect(effect.success).toBe(symbol !== 'RVT');
      expect(onBor).toEqual([effect]);
    });

    it('moves nothing, of the token at its address', async () => {
      const { onBor } = await shownOnBor({ tokenContract: address, amount: 1_000n });
      expect(onBor).toEqual([expect.objectContaining({ success: true, debited: null, received: null })]);
    });
  });

  it('for the end of a transfer every endpoint is asked; one that does not answer says nothing', async () => {
    const { effect, ...transaction } = await executed({ tokenContract: tokens.FLS, amount: 1_000n });
    const empty = await startRpcProxy(anvil.url, ({ method }) =>
      method === 'eth_getTransactionReceipt' ? { result: null } : undefined,
    );
    try {
      const asked = new EvmChainClient(client.chain, [anvil.url, empty.url, 'http://127.0.0.1:1', anvil.url]);
      expect(await asked.effectAtEach(transaction)).toEqual([effect, null, null, effect]);
    } finally {
      empty.close();
    }
  });

  it('leaves out unknown and pending hashes', async () => {
    const pending = await signed();
    await client.broadcast(pending.bytes);
    expect(await client.effects([pending, { ...pending, id: keccak256('0x01') }])).toEqual(new Map());
    expect(await statesOf(pending)).toEqual([{ attempt: 1, state: 'pending', id: pending.id }]);
    await anvil.client.mine({ blocks: 1 });
  });
});

describe('broadcast', () => {
  it('a transaction that the node already has is accepted, pending or mined', async () => {
    const transaction = await signed();
    expect(await client.broadcast(transaction.bytes)).toEqual({ outcome: 'accepted' });
    expect(await client.broadcast(transaction.bytes)).toEqual({ outcome: 'accepted' });
    await anvil.client.mine({ blocks: 1 });
    expect(await client.broadcast(transaction.bytes)).toEqual({ outcome: 'accepted' });
  });

  it('a nonce that another transaction used', async () => {
    const { plan } = await executed({});
    const late = await signed({ nonce: plan.nonce, amount: 6n });
    const waits = { outcome: 'waiting', passing: 'unknown', reason: expect.stringMatching(/nonce too low/) };
    expect(await client.broadcast(late.bytes)).toEqual(waits);
  });

  it('a replacement needs a higher fee; then only one of the two is included', async () => {
    const first = await signed();
    await client.broadcast(first.bytes);
    const same = await signed({ nonce: first.plan.nonce, amount: 6n });
    expect(await client.broadcast(same.bytes)).toMatchObject({
      outcome: 'waiting',
      reason: 'replacement transaction underpriced',
    });
    const better = await signed({ nonce: first.plan.nonce, maxFeePerGas: 30n * gwei, maxPriorityFeePerGas: 2n * gwei });
    expect(await client.broadcast(better.bytes)).toEqual({ outcome: 'accepted' });
    await anvil.client.mine({ blocks: 1 });
    expect(await statesOf(first, better)).toMatchObject([
      { attempt: 1, state: 'absent' },
      { attempt: 2, state: 'included', id: better.id, depth: 1 },
    ]);
  });

  it('insufficient funds', async () => {
    const transaction = await signed({ amount: parseEther('1000000') });
    expect(await client.broadcast(transaction.bytes)).toMatchObject({
      outcome: 'waiting',
      reason: 'insufficient funds for value and gas',
    });
  });
});

describe('status', () => {
  it('absent after the node forgot it, pending again after a re-broadcast', async () => {
    const transaction = await signed();
    const ask = async () => (await statesOf(transaction))[0];
    expect(await ask()).toEqual({ attempt: 1, state: 'absent' });
    await client.broadcast(transaction.bytes);
    await anvil.client.dropTransaction({ hash: transaction.id as Hex });
    expect(await ask()).toEqual({ attempt: 1, state: 'absent' });
    expect(await client.broadcast(transaction.bytes)).toEqual({ outcome: 'accepted' });
    expect(await ask()).toMatchObject({ state: 'pending' });
    await anvil.client.mine({ blocks: 3 });
    expect(await ask()).toMatchObject({ state: 'included', depth: 3 });
  });

  it('impossible only once another transaction has the nonce at finality depth', async () => {
    const never = await signed({ amount: 77n });
    const ask = async () => (await statesOf(never))[0];
    const used = await executed({ nonce: never.plan.nonce, amount: 78n });
    expect(await ask()).toEqual({ attempt: 1, state: 'absent' });
    await anvil.client.mine({ blocks: client.chain.finalityDepth - 2 });
    expect(await ask()).toEqual({ attempt: 1, state: 'absent' });
    await anvil.client.mine({ blocks: 1 });
    expect(await ask()).toMatchObject({ state: 'impossible', proof: { used_by: used.id, nonce: never.plan.nonce } });
    // the same bytes with an unknown signature
    expect(await statesOf({ plan: used.plan, id: keccak256('0x02') }, never)).toMatchObject([
      { attempt: 1, state: 'included', id: used.id },
      { attempt: 2, state: 'impossible' },
    ]);
  });

  it('included under an id not seen before, as soon as a block has it; another attempt is not impossible by that', async () => {
    const used = await executed({ amount: 81n });
    const other = await signed({ nonce: used.plan.nonce, amount: 82n });
    expect(await statesOf({ plan: used.plan, id: keccak256('0x03') }, other)).toMatchObject([
      { attempt: 1, state: 'included', id: used.id, depth: 1 },
      { attempt: 2, state: 'absent' },
    ]);
  });
});

describe('fees', () => {
  it('levels, estimates, and a transfer that would revert', async () => {
    const levels = decodeLevels(await client.feeLevels());
    expect(levels.baseFee).toBeGreaterThan(0n);
    expect(levels.priorityFee).not.toBeNull();
    expect(levels.l1DataFee).toBe(0n);
    expect(await client.estimateGas(toIntent({ from: sender.address, to: stranger, tokenContract: null, amount: 1n }))).toBe(
      21_000n,
    );
    expect(
      await client.estimateGas(toIntent({ from: sender.address, to: stranger, tokenContract: tokens.USDC as Hex, amount: 1n })),
    ).toBeGreaterThan(21_000n);
    const refused = client.estimateGas(
      toIntent({ from: sender.address, to: stranger, tokenContract: tokens.RVT as Hex, amount: 1n }),
    );
    await expect(refused).rejects.toMatchObject({ code: 'would_revert' });
  });

  it('a transfer that would revert, by a node that gives it the code of a trouble of its own', async () => {
    const proxy = await startRpcProxy(anvil.url, ({ method }) =>
      method === 'eth_estimateGas' ? { error: { code: -32603, message: 'execution reverted' } } : undefined,
    );
    try {
      const asked = new EvmChainClient(client.chain, [proxy.url]);
      const intent = toIntent({ from: sender.address, to: stranger, tokenContract: tokens.RVT as Hex, amount: 1n });
      await expect(asked.estimateGas(intent)).rejects.toMatchObject({ code: 'would_revert' });
    } finally {
      proxy.close();
    }
  });

  describe('an estimate that is not answered', () => {
    const intent = () => toIntent({ from: sender.address, to: stranger, tokenContract: null, amount: 1n });
    const prepareAt = async (withhold: Parameters<typeof startRpcProxy>[2], count: number) => {
      const proxies = await Promise.all(Array.from({ length: count }, () => startRpcProxy(anvil.url, () => undefined, withhold)));
      try {
        const asked = new EvmChainClient(
          client.chain,
          proxies.map(({ url }) => url),
        );
        const started = Date.now();
        const failure: unknown = await asked
          .prepare({ kind: 'first', intent: intent(), previous: [] })
          .catch((error: unknown) => error);
        return { failure, tookMs: Date.now() - started };
      } finally {
        for (const proxy of proxies) proxy.close();
      }
    };
    const unestimated = { code: 'not_estimated', message: expect.stringContaining('none says what this transaction takes') };
    const never = new Promise<never>(() => undefined);

    it('while the endpoint answers everything else: the chain is not away', async () => {
      const { failure } = await prepareAt(
        ({ method }) => (method === 'eth_estimateGas' ? Promise.reject(new Error('cut')) : Promise.resolve(undefined)),
        2,
      );
      expect(failure).toMatchObject(unestimated);
    });

    it('in no time, by any of them: within that of the step that asks', async () => {
      const { failure, tookMs } = await prepareAt(
        ({ method }) => (method === 'eth_estimateGas' ? never : Promise.resolve(undefined)),
        2,
      );
      expect(failure).toMatchObject(unestimated);
      expect(tookMs).toBeLessThan(18_000);
    }, 30_000);

    it('as nothing is: the chain is waited for', async () => {
      const { failure } = await prepareAt(
        ({ method }) =>
          method === 'eth_chainId' || /version|Number$/.test(method)
            ? Promise.resolve(undefined)
            : Promise.reject(new Error('cut')),
        1,
      );
      expect(failure).toMatchObject({ code: 'chain_unavailable' });
    });
  });

  describe('of a settlement', () => {
    const token = '0x00000000000000000000000000000000000b0111';
    /** The token needs about 26 gas for each round: it counts down to zero. */
    const prepare = async (rounds: number) => {
      await anvil.client.setCode({
        address: token,
        bytecode: (`0x62${rounds.toString(16).padStart(6, '0')}5b6001900380600457` + '00') as Hex,
      });
      const intent = toSettlementIntent({ ...authorizationPlan, from: sender.address, token });
      return client.prepare({ kind: 'first', intent, previous: [] });
    };

    it('have less margin where it would take the gas limit above the highest', async () => {
      expect(await prepare(1_000)).toMatchObject({ details: { gasLimit: expect.not.stringMatching('500000') as string } });
      expect(await prepare(16_000)).toMatchObject({ details: { gasLimit: '500000' } });
    });

    it('are refused if it needs more than that', async () => {
      await expect(prepare(20_000)).rejects.toMatchObject({ code: 'would_revert' });
    });
  });

  it('L1 data fee on OP-stack chains', async () => {
    const { deployedBytecode } = (await contractArtifacts()).TestGasPriceOracle;
    const base = await startAnvil({ chainId: 8453 });
    try {
      const onBase = new EvmChainClient(localChain('base'), [base.url]);
      const { bytes } = await signed();
      expect(await onBase.l1DataFee(bytes)).toBe(0n);
      await base.client.setCode({ address: '0x420000000000000000000000000000000000000F', bytecode: deployedBytecode });
      expect(await onBase.l1DataFee(bytes)).toBeGreaterThan(0n);
      expect((await onBase.levels()).l1DataFee).toBeGreaterThan(0n);
    } finally {
      await base.stop();
    }
  });
});

describe('scan', () => {
  const head = async () => (await client.head()).number;

  it('finds native, token and internal deposits, each with its position', async () => {
    const from = (await head()) + 1;
    // forwards the value it receives to the address in its calldata: an internal transfer
    const forwarder = '0x00000000000000000000000000000000000f0123';
    await anvil.client.setCode({ address: forwarder, bytecode: '0x5f5f5f5f345f355af100' });
    const wallet = createWalletClient({ account: other, transport: http(anvil.url) });
    const native = await wallet.sendTransaction({ chain: null, to: stranger as Hex, value: 11n });
    const token = await wallet.writeContract({
      chain: null,
      address: tokens.USDC as Hex,
      abi: (await contractArtifacts()).TestUSDC.abi,
      functionName: 'mint',
      args: [stranger, 22n],
    });
    const nothing = await wallet.sendTransaction({
      chain: null,
      to: tokens.USDC as Hex,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [stranger as Hex, 0n] }),
    });
    const internal = await wallet.sendTransaction({ chain: null, to: forwarder, value: 33n, data: pad(stranger as Hex) });
    const toSelf = await wallet.sendTransaction({ chain: null, to: other.address, value: 44n });
    const failing = await wallet.sendTransaction({ chain: null, to: tokens.RVT as Hex, value: 55n, gas: 100_000n });
    await anvil.client.mine({ blocks: 2 });

    const { blocks: scans } = await client.scan(from, await head(), (keys) =>
      Promise.resolve(new Set(keys.filter((key) => key !== forwarder))),
    );
    const deposits = scans
      .flatMap((scan) => scan.deposits)
      .map(({ txHash, position, amount, tokenContract }) => ({ txHash, position, amount, tokenContract }));
    expect(deposits).toHaveLength(3);
    expect(deposits).toEqual(
      expect.arrayContaining([
        { txHash: native, position: '0', amount: 11n, tokenContract: null },
        { txHash: token, position: '1', amount: 22n, tokenContract: tokens.USDC },
        { txHash: internal, position: '1000001', amount: 33n, tokenContract: null },
      ]),
    );
    const hashes = scans.flatMap(({ transactions }) => transactions.map(({ id }) => id));
    expect(hashes).toEqual(expect.arrayContaining([native, token, nothing, internal, toSelf, failing]));
    expect(scans[1]?.parentHash).toBe(scans[0]?.hash);
  });

  it('finds nothing without addresses, and stops at the head', async () => {
    const last = await head();
    const { blocks: scans, scannedTo } = await client.scan(last - 1, last + 5, nobody);
    expect(scannedTo).toBe(last);
    expect(scans.map(({ number }) => number)).toEqual([last - 1, last]);
    expect(scans.flatMap(({ deposits }) => deposits)).toEqual([]);
    expect(await client.scan(last + 1, last + 2, everybody)).toEqual({ blocks: [], scannedTo: last });
    await expect(async () => client.scan(0, 50, nobody)).rejects.toThrow(RangeError);
  });

  it('returns the message key of the gateway’s own transactions only', async () => {
    const from = (await head()) + 1;
    const [modern, token] = [await executed({}), await executed({ tokenContract: tokens.USDC })];
    const legacy = await executed({ maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: 30n * gwei });
    const keysOf = async (isOurs: typeof everybody) => {
      const { blocks } = await client.scan(from, await head(), isOurs);
      return blocks.flatMap(({ transactions }) => transactions.map(({ messageKey }) => messageKey));
    };
    const expected = [modern, token, legacy].map(({ unsigned }) => evmCodec.messageKey(unsigned, sender.address));
    expect(await keysOf(everybody)).toEqual(expected);
    expect(await keysOf(nobody)).toEqual([null, null, null]);
  });

  it('reports a failure of the database as such, not as one of the chain', async () => {
    const failing = client.scan(0, 1, () => Promise.reject(new Error('connection lost')));
    await expect(failing).rejects.toMatchObject({ code: 'unavailable' });
  });
});
