import { type Address, type Hex, parseTransaction } from 'viem';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { startRpcProxy } from '../chains/rpc-proxy';
import { createFollowFixture, type FollowFixture } from '../following/fixture';
import { booksAgree, ether, ServedChain, until } from './served';

/** Nodes that refuse for now what they take later: no operator is needed. */

jest.setTimeout(120_000);

/** What the node says to bytes before they reach it; null: nothing. */
let refuse: (raw: string) => Promise<string | null> = () => Promise.resolve(null);
let refused: string[] = [];
let proxy: Awaited<ReturnType<typeof startRpcProxy>>;

const served = new ServedChain<FollowFixture>(async () => {
  refuse = () => Promise.resolve(null);
  refused = [];
  const route = async (url: string) => {
    proxy = await startRpcProxy(
      url,
      () => undefined,
      async ({ method, params }) => {
        const message = method === 'eth_sendRawTransaction' ? await refuse(params[0] as string) : null;
        if (message === null) return undefined;
        refused.push(message);
        return { error: { code: -32000, message } };
      },
    );
    return proxy.url;
  };
  const fixture = await createFollowFixture({ stuckAfterMs: 600_000 }, route);
  await fixture.send(fixture.alice, ether);
  await fixture.mine(4);
  await fixture.follow();
  return fixture;
});
afterEach(() => proxy.close());

const submit = () => served.submit({ tokenSymbol: 'ETH', amount: '0.001', toAddress: served.fixture.bob.address });
const kinds = async (txId: string) => (await served.fixture.attempts(txId)).map(({ kind }) => kind);

// OpenZeppelin Relayer #836: there such transactions were given up, or sent twice
test('a sequencer without a pool takes only the next nonce: five transfers at once are executed in order, each signed once', async () => {
  const { fixture } = served;
  const { anvil, alice } = fixture;
  const nextNonce = () => anvil.client.getTransactionCount({ address: alice.address as Address });
  refuse = async (raw) => {
    const { nonce = 0 } = parseTransaction(raw as Hex);
    return nonce > (await nextNonce()) ? `nonce too high: address ${alice.address}, tx: ${nonce}` : null;
  };
  await served.serve();
  const txIds = await Promise.all(Array.from({ length: 5 }, submit));
  for (const txId of txIds) await served.ends(txId, 'CONFIRMED');
  for (const txId of txIds) expect(await kinds(txId)).toEqual(['first']);
  expect(refused.length).toBeGreaterThan(0);
  expect((await fixture.balance(fixture.alice, 'ETH')).locked).toBe(0n);
});

/** A transfer that its node refuses twice, and then takes. */
async function refusedForNow(message: string): Promise<string> {
  let isRefusing = true;
  refuse = () => Promise.resolve(isRefusing ? message : null);
  await served.serve();
  const txId = await submit();
  await until('refused twice', () => Promise.resolve(refused.length > 1));
  expect(await served.status(txId)).toBe('SIGNING');
  isRefusing = false;
  await served.ends(txId, 'CONFIRMED');
  expect(await kinds(txId)).toEqual(['first']);
  await booksAgree(served.fixture);
  return txId;
}

// OpenZeppelin Relayer #818 and #844: a refusal for now became a failure for good
test('a node whose pool is full is asked again until it takes the transaction', async () => {
  const txId = await refusedForNow('txpool is full');
  await served.record(transferWorkflowId(txId), 'transfer-confirmed-refused-for-now');
});
test.each(['insufficient funds for gas * price + value: balance 0', 'transaction underpriced'])(
  'so is one that says "%s" for a while',
  async (message) => void (await refusedForNow(message)),
);

test('a node that refuses for good is not asked again: an operator is', async () => {
  refuse = () => Promise.resolve('intrinsic gas too low: gas 100, minimum needed 21000');
  await served.serve();
  const txId = await submit();
  await until('parked', async () => (await served.status(txId)) === 'NEEDS_ATTENTION');
  expect(await served.fixture.transaction(txId)).toMatchObject({
    failure_code: 'broadcast_rejected',
    failure_message: 'gas limit refused',
  });
  refuse = () => Promise.resolve(null);
  await served.operations.retry(txId);
  await served.ends(txId, 'CONFIRMED');
});
