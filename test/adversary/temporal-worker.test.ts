import { gateway } from '../e2e/gateway';
import { addAsset, balances, call, ends, transactionWhen } from '../e2e/support';
import { randomAddress } from '../factories';
import { fund, waitFor } from '../stack/client';
import { gatewayQuery } from './processes';
import { isConfirmed, Scene, withoutWorker } from './scene';
import { chain } from './transfers';

/** SECURITY.md, list “Temporal”: its client ends the workflow of a transfer, and has the worker do steps of its own choice. */

const scene = new Scene();

const locked = async (symbol: string) => (await balances(scene.account.account_id, chain))[symbol]?.locked_balance;
const ordersOf = (txId: string) => gatewayQuery('select from orders where tx_id = $1', [txId]);
const goOn = async ({ txId }: { txId: string }) => expect(await gateway(['transfers', 'retry', txId])).toMatchObject({ code: 0 });

/** Nothing goes on with it by itself. */
const withoutWorkflow = <T extends { txId: string }>(accept: () => Promise<T>): Promise<T> =>
  withoutWorker(async () => {
    const transfer = await accept();
    await scene.temporal.endWorkflow(transfer.txId);
    return transfer;
  });

test('can park a transfer: nothing is unlocked or ordered, and it goes on once an operator says so', async () => {
  const accepted = await withoutWorkflow(() => scene.accept());
  const { txId } = accepted;
  const before = await locked('ETH');
  await scene.temporal.step('parkTransfer', { txId, code: 'stuck', reason: 'of the adversary' });
  expect(await transactionWhen(txId, ['NEEDS_ATTENTION'])).toMatchObject({ failure: { code: 'stuck' } });
  expect(await locked('ETH')).toBe(before);
  expect(await ordersOf(txId)).toEqual([]);
  await goOn(accepted);
  await isConfirmed(accepted);
});

test('cannot end a transfer that nothing has refused, whatever it says: nothing changes, and it goes on', async () => {
  const accepted = await withoutWorkflow(() => scene.accept());
  const { txId } = accepted;
  const before = await locked('ETH');
  const invented = { txId, status: 'REJECTED', code: 'address_blacklisted', reason: 'of the adversary' };
  expect(await scene.temporal.step('screenTransfer', { txId })).toEqual({ outcome: 'allowed' });
  await expect(scene.temporal.step('endTransfer', invented)).rejects.toMatchObject({ code: 'not_cancellable' });
  await expect(scene.temporal.step('failByProof', invented)).rejects.toMatchObject({ code: 'not_cancellable' });
  expect(await transactionWhen(txId, ['PENDING'])).toMatchObject({ failure: null });
  expect(await locked('ETH')).toBe(before);
  expect(await gatewayQuery('select from refusals where tx_id = $1', [txId])).toEqual([]);
  await goOn(accepted);
  await isConfirmed(accepted);
});

test('can end a transfer of which nothing is signed by a fee that nobody pays: it is unlocked, and nothing is ordered any more', async () => {
  const { txId } = await withoutWorkflow(() => scene.accept());
  const prepared = { ...(await scene.prepared()), feeBound: `1${'0'.repeat(30)}` };
  const request = { txId, lastAttempt: 0, kind: 'first', prepared } as const;
  expect(await scene.temporal.beginSigning(request)).toMatchObject({ outcome: 'refused', code: 'fee_above_bound' });
  await scene.temporal.step('endTransfer', { txId });
  expect(await transactionWhen(txId, ends)).toMatchObject({
    status: 'FAILED',
    tx_hash: null,
    failure: { code: 'fee_above_bound' },
  });
  expect(Number(await locked('ETH'))).toBe(0);
  expect(await scene.temporal.beginSigning(request)).toMatchObject({ outcome: 'ended' });
});

test('cannot end a transfer whose signing has begun, nor have it given up without a reason on record', async () => {
  const ordered = await withoutWorkflow(() => scene.order());
  const { txId } = ordered;
  for (const step of ['endTransfer', 'failByProof'] as const)
    await expect(scene.temporal.step(step, { txId })).rejects.toMatchObject({ code: 'not_cancellable' });
  await expect(scene.temporal.step('abandonTransfer', { txId })).rejects.toMatchObject({ code: 'internal_error' });
  await expect(scene.temporal.step('settleTransfer', { txId })).resolves.not.toMatchObject({ status: 'CONFIRMED' });
  const [row] = await gatewayQuery<{ status: string }>('select status from transactions where tx_id = $1', [txId]);
  expect(row).toEqual({ status: 'SIGNING' });
  await goOn(ordered);
  await isConfirmed(ordered);
});

test('can prepare a transfer with too little gas: it fails on the chain, costs its fee, and everything else is unlocked', async () => {
  const { account_id: accountId, address: from_address } = scene.account;
  await addAsset(accountId, 'USDC', chain);
  await fund(chain, 'USDC', from_address, '7');
  await waitFor(async () => (await balances(accountId, chain)).USDC?.balance === '7', { timeoutMs: 60_000 });
  const body = { from_address, to_address: randomAddress(), chain, token_symbol: 'USDC', amount: '7' };
  const accepted = await withoutWorkflow(async () => ({
    txId: (await call('POST', '/transfer', { body })).body.tx_id as string,
  }));
  const { txId } = accepted;
  const prepared = await scene.temporal.chain(chain, 'prepareAttempt', { txId, attempt: 1, kind: 'first' });
  const details = prepared.details as Record<string, string>;
  const gasLimit = '30000';
  const feeBound = (BigInt(gasLimit) * BigInt(details.maxFeePerGas ?? 0)).toString();
  const request = {
    txId,
    lastAttempt: 0,
    kind: 'first',
    prepared: { ...prepared, feeBound, details: { ...details, gasLimit } },
  } as const;
  expect(await scene.temporal.beginSigning(request)).toMatchObject({ outcome: 'begun' });
  await goOn(accepted);
  expect(await transactionWhen(txId, ends, 120_000)).toMatchObject({
    status: 'FAILED',
    failure: { code: 'reverted_on_chain' },
  });
  expect((await balances(accountId, chain)).USDC).toMatchObject({ balance: '7' });
  expect(Number(await locked('USDC'))).toBe(0);
});
