import { createWalletClient, http, keccak256 } from 'viem';
import { EvmChainClient } from '../../../src/chains/evm/client';
import type { AttemptStatus } from '../../../src/chains/chain-client';
import { type EvmPlan, localPlan, toKnown } from '../../evm';
import { localChain, rich, startAnvil, type Anvil } from './anvil';
import { type Falsify, startRpcProxy } from './rpc-proxy';

const [sender, other] = rich;
const stranger = '0x5bc2e97d04a8f61e3c7b90fd2a6548ec1f73d0e9';
const gwei = 10n ** 9n;

let anvil: Anvil;
beforeAll(async () => {
  anvil = await startAnvil({ noMining: true });
}, 30_000);
afterAll(() => anvil.stop());

const plan = (nonce: number, amount: bigint): EvmPlan =>
  localPlan(nonce, sender.address, stranger, { amount, gasLimit: 21_000n });

type Changes = Partial<Parameters<ReturnType<typeof wallet>['sendTransaction']>[0]>;
const wallet = () => createWalletClient({ account: sender, transport: http(anvil.url) });

/** The sender's next nonce, used up for good by another transaction than the attempt's; and the attempt. */
async function usedUp(changes: Changes = {}) {
  const nonce = await anvil.client.getTransactionCount({ address: sender.address });
  const fees = changes.type === 'legacy' || changes.type === 'eip2930' ? {} : { maxPriorityFeePerGas: gwei };
  const request = { chain: null, nonce, to: stranger, value: 6n, gas: 100_000n, ...fees, ...changes };
  const usedBy = await wallet().sendTransaction(request as Parameters<ReturnType<typeof wallet>['sendTransaction']>[0]);
  await anvil.client.mine({ blocks: localChain().finalityDepth });
  return { usedBy, nonce, attempt: plan(nonce, 5n) };
}

const ask = async (urls: string[], attempt: EvmPlan, usedBy: string | null = null): Promise<AttemptStatus | undefined> => {
  const ordinal = BigInt(attempt.nonce);
  const reservation = {
    reservationId: '1',
    owner: sender.address.toLowerCase(),
    resource: String(ordinal),
    ordinal,
    usedBy,
    isInBlock: false,
  };
  const client = new EvmChainClient(localChain(), urls);
  return (await client.status([toKnown(attempt, [keccak256('0x01')])], [reservation]))[0];
};

/** As a node that keeps the newest state alone. */
const pruned: Falsify = ({ method, params }) =>
  method === 'eth_getTransactionCount' && params[1] !== 'latest'
    ? { error: { code: -32000, message: 'missing trie node' } }
    : undefined;

/** Every transaction of a block with other fields than it has. */
const withFields =
  (fields: object): Falsify =>
  ({ method, params }, result) => {
    if (method !== 'eth_getBlockByNumber' || params[1] !== true) return undefined;
    const block = result as { transactions: object[] };
    return { result: { ...block, transactions: block.transactions.map((transaction) => ({ ...transaction, ...fields })) } };
  };

async function withProxy<T>(falsify: Falsify, run: (url: string) => Promise<T>): Promise<T> {
  const proxy = await startRpcProxy(anvil.url, falsify);
  try {
    return await run(proxy.url);
  } finally {
    proxy.close();
  }
}

describe('the proof that an attempt is impossible', () => {
  test('is given by the next endpoint where the first has pruned its states', async () => {
    const { usedBy, attempt } = await usedUp();
    await withProxy(pruned, async (url) => {
      expect(await ask([url], attempt)).toEqual({ attempt: 1, state: 'absent' });
      expect(await ask([url, anvil.url], attempt)).toMatchObject({ state: 'impossible', proof: { used_by: usedBy } });
      expect(await ask([url, 'http://127.0.0.1:1'], attempt)).toEqual({ attempt: 1, state: 'absent' });
    });
  });

  test('is given without states for a transaction that a scanned block has shown: who has used the nonce up, and in which block', async () => {
    const { usedBy, nonce, attempt } = await usedUp();
    const { blockHash, blockNumber } = await anvil.client.getTransaction({ hash: usedBy });
    await withProxy(pruned, async (url) => {
      const proof = {
        used_by: usedBy,
        sender: sender.address.toLowerCase(),
        nonce,
        block_number: Number(blockNumber),
        block_hash: blockHash,
      };
      expect(await ask([url], attempt, usedBy)).toEqual({ attempt: 1, state: 'impossible', proof });
    });
  });

  test('is not taken from what the follower has seen where the chain does not show it: of another nonce or sender, not final, or with other fields', async () => {
    const earlier = await usedUp();
    const { usedBy, attempt, nonce: used } = await usedUp();
    await anvil.client.setNonce({ address: other.address, nonce: used });
    const byOther = await createWalletClient({ account: other, transport: http(anvil.url) }).sendTransaction({
      ...{ chain: null, nonce: used, to: stranger, value: 6n },
    });
    await anvil.client.mine({ blocks: localChain().finalityDepth });
    const alone =
      (falsify: Falsify): Falsify =>
      (request, result) =>
        pruned(request, result) ?? falsify(request, result);
    const shown = (fields: object): Falsify =>
      alone(({ method }, result) =>
        method === 'eth_getTransactionByHash'
          ? { result: result === null ? null : { ...(result as object), ...fields } }
          : undefined,
      );
    await withProxy(pruned, async (url) => {
      for (const id of [earlier.usedBy, byOther]) expect(await ask([url], attempt, id)).toEqual({ attempt: 1, state: 'absent' });
    });
    for (const fields of [{ value: '0x7' }, { blockHash: `0x${'ab'.repeat(32)}` }, { blockNumber: null }])
      await withProxy(shown(fields), async (url) => {
        expect(await ask([url], attempt, usedBy)).toEqual({ attempt: 1, state: 'absent' });
      });
    const nonce = await anvil.client.getTransactionCount({ address: sender.address });
    const fresh = await wallet().sendTransaction({ chain: null, nonce, to: stranger, value: 7n });
    await anvil.client.mine({ blocks: localChain().finalityDepth - 1 });
    await withProxy(pruned, async (url) => {
      expect(await ask([url], plan(nonce, 5n), fresh)).toEqual({ attempt: 1, state: 'absent' });
      await anvil.client.mine({ blocks: 1 });
      expect(await ask([url], plan(nonce, 5n), fresh)).toMatchObject({ state: 'impossible' });
    });
  });

  test.each([
    ['legacy', {}],
    ['eip2930', { accessList: [{ address: stranger, storageKeys: [`0x${'01'.repeat(32)}`] }] }],
    ['eip1559', { accessList: [{ address: stranger, storageKeys: [] }] }],
    ['eip1559', { to: undefined, data: '0x00' }],
  ] as const)('is found in a transaction of the type %s: %j', async (type, changes) => {
    const { usedBy, attempt } = await usedUp({ type, ...changes } as Changes);
    expect(await ask([anvil.url], attempt)).toMatchObject({ state: 'impossible', proof: { used_by: usedBy } });
  });

  test.each([
    ['another amount', { value: '0x7' }],
    ['another hash', { hash: `0x${'ab'.repeat(32)}` }],
    ['another signature', { r: `0x${'12'.repeat(32)}` }],
    ['another chain', { chainId: '0x2' }],
    ['an unknown type', { type: '0x6a' }],
  ])('is not taken from a transaction shown with %s', async (_, fields) => {
    const { attempt } = await usedUp();
    await withProxy(withFields(fields), async (url) => {
      expect(await ask([url], attempt)).toEqual({ attempt: 1, state: 'absent' });
      expect(await ask([url, anvil.url], attempt)).toMatchObject({ state: 'impossible' });
    });
  });

  test('is not taken from a block that the endpoint does not have', async () => {
    const { attempt } = await usedUp();
    const withoutBlocks: Falsify = ({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[1] === true ? { result: null } : undefined;
    await withProxy(withoutBlocks, async (url) => {
      expect(await ask([url], attempt)).toEqual({ attempt: 1, state: 'absent' });
      expect(await ask([url, anvil.url], attempt)).toMatchObject({ state: 'impossible' });
    });
  });
});

describe('the end of a transfer by what every endpoint shows', () => {
  const shown =
    (fields: object): Falsify =>
    ({ method }, result) =>
      method === 'eth_getTransactionByHash' && result !== null ? { result: { ...(result as object), ...fields } } : undefined;

  test('two of them show who has used up the nonce: nothing that was signed for the transfer can be executed', async () => {
    const { usedBy, attempt } = await usedUp();
    const proof = { used_by: usedBy, agreed_by: 2, ends: true };
    expect(await ask([anvil.url, anvil.url], attempt)).toMatchObject({ state: 'impossible', proof });
    expect(await ask([anvil.url, anvil.url], attempt, usedBy)).toMatchObject({ state: 'impossible', proof });
    const alone = await ask([anvil.url], attempt);
    expect(alone).toMatchObject({ state: 'impossible', proof: { used_by: usedBy } });
    expect(alone).not.toMatchObject({ proof: { ends: true } });
  });

  test.each<[string, Falsify]>([
    ['another signature', shown({ r: `0x${'12'.repeat(32)}` })],
    ['another block', shown({ blockHash: `0x${'ab'.repeat(32)}` })],
    ['no such transaction', ({ method }) => (method === 'eth_getTransactionByHash' ? { result: null } : undefined)],
    ['nothing', ({ method }) => (method === 'eth_blockNumber' ? { error: { code: -32005, message: 'limit' } } : undefined)],
  ])('is not made while one of them shows %s', async (_, falsify) => {
    const { attempt } = await usedUp();
    await withProxy(falsify, async (url) => {
      const unagreed = { attempt: 1, state: 'absent', isUnagreed: true };
      expect(await ask([anvil.url, url], attempt)).toEqual(unagreed);
      expect(await ask([anvil.url, anvil.url, url], attempt)).toEqual(unagreed);
    });
  });

  test('waits for one whose final block is an earlier one, which is no disagreement', async () => {
    const { attempt } = await usedUp();
    const behind: Falsify = ({ method }, result) =>
      method === 'eth_blockNumber' ? { result: `0x${(Number(result) - 1).toString(16)}` } : undefined;
    await withProxy(behind, async (url) => {
      expect(await ask([anvil.url, url], attempt)).toEqual({ attempt: 1, state: 'absent' });
    });
  });

  test('is not made by a transaction that does what the transfer is to do: that is an attempt which is not on record', async () => {
    const { usedBy, attempt } = await usedUp({ value: 5n });
    for (const urls of [[anvil.url], [anvil.url, anvil.url]])
      expect(await ask(urls, attempt)).toMatchObject({ state: 'included', id: usedBy, effect: { success: true, debited: 5n } });
  });
});

describe('the final count of an address', () => {
  const count = (urls: string[], address: string) => new EvmChainClient(localChain(), urls).usedOrdinals(address);
  const send = (nonce: number) => wallet().sendTransaction({ chain: null, nonce, to: stranger, value: 1n });

  test('does not contain what is mined and not final', async () => {
    await anvil.client.mine({ blocks: localChain().finalityDepth });
    const before = await anvil.client.getTransactionCount({ address: sender.address });
    await send(before);
    await anvil.client.mine({ blocks: localChain().finalityDepth - 1 });
    expect(await anvil.client.getTransactionCount({ address: sender.address })).toBe(before + 1);
    expect(await count([anvil.url], sender.address)).toBe(BigInt(before));
    await anvil.client.mine({ blocks: 1 });
    expect(await count([anvil.url], sender.address)).toBe(BigInt(before) + 1n);
    expect(await count([anvil.url], stranger)).toBe(0n);
  });

  test('is given by the next endpoint where the first has pruned its states', async () => {
    const final = await count([anvil.url], sender.address);
    await withProxy(pruned, async (url) => {
      expect(await count([url, anvil.url], sender.address)).toBe(final);
      await expect(count([url], sender.address)).rejects.toMatchObject({ code: 'chain_unavailable' });
    });
  });
});
