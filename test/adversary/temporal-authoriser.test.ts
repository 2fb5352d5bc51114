import { randomUUID } from 'node:crypto';
import { parseTransaction } from 'viem';
import type { Prepared } from '../../src/chains/types';
import { nodeIndexes } from '../../src/messages/nodes';
import { hashPage } from '../../src/platform/page-hash';
import type { BeginSigning } from '../../src/messages/transfer';
import { call, transactionWhen } from '../e2e/support';
import { gateway } from '../e2e/gateway';
import { randomAddress } from '../factories';
import { orderHead, signOrder } from '../orders';
import { stack } from '../stack/client';
import { nodeEnvironment } from './nodes';
import { gatewayQuery, query } from './processes';
import { blacklist, isConfirmed, Scene, withoutWorker } from './scene';
import type { Refused } from './temporal-client';
import { multiplyFee } from './transfers';

/** SECURITY.md, list “Temporal”: a client of Temporal schedules what it likes on the queues of nodes and authoriser. */

const scene = new Scene();

const ordersOf = (txId: string) =>
  gatewayQuery<{ kind: string; attempt: number }>('select kind, attempt from orders where tx_id = $1 order by seq', [txId]);

const kinds = ['first', 'replacement', 'reissue', 'cancellation', 'resume'] as const;
/** Asks for an order of every kind: what the authoriser answers, or the code of its refusal. */
async function askAll(txId: string, lastAttempt = 0): Promise<unknown[]> {
  const prepared = await scene.prepared();
  const requests = kinds.map((kind) => ({ txId, lastAttempt, kind, ...(kind !== 'resume' && { prepared }) }) as BeginSigning);
  return Promise.all(
    requests.map((request) => scene.temporal.beginSigning(request).catch((error: unknown) => (error as Refused).code)),
  );
}
/** Before there is a first attempt, no other kind can be asked for. */
const onlyFirst = (answer: unknown): unknown[] => kinds.map((kind) => (kind === 'first' ? answer : 'invalid_parameter'));
const every = (answer: unknown): unknown[] => kinds.map(() => answer);

test('can begin earlier what is due: the same attempt, which the workflow then goes on with', async () => {
  const { txId } = await withoutWorker(() => scene.order());
  await transactionWhen(txId, ['CONFIRMED'], 120_000);
  expect(new Set((await ordersOf(txId)).map(({ attempt }) => attempt))).toEqual(new Set([1]));
});

describe('gets no order for a transfer', () => {
  test('that waits for an approval, nor for one that its client has cancelled', async () => {
    const { client_id: clientId = '' } = stack().clients.find(({ name }) => name === 'demo') ?? {};
    expect(await gateway(['client', 'policy', clientId, '--whitelist', 'approve'])).toMatchObject({ code: 0 });
    try {
      const { txId } = await scene.accept();
      await transactionWhen(txId, ['AWAITING_APPROVAL']);
      expect(await askAll(txId)).toEqual(onlyFirst({ outcome: 'needs_approval' }));
      await call('POST', `/transactions/${txId}/cancel`);
      expect(await askAll(txId)).toEqual(every({ outcome: 'ended', status: 'CANCELLED' }));
      expect(await ordersOf(txId)).toEqual([]);
    } finally {
      await gateway(['client', 'policy', clientId, '--whitelist', 'off']);
    }
  });

  test('to an address that was blacklisted meanwhile, also once it is rejected', async () => {
    const to = randomAddress();
    const { txId } = await withoutWorker(async () => {
      const accepted = await scene.accept(to);
      await blacklist(accepted);
      expect(await askAll(accepted.txId)).toEqual(
        onlyFirst(expect.objectContaining({ outcome: 'refused', code: 'address_blacklisted' })),
      );
      return accepted;
    });
    await transactionWhen(txId, ['REJECTED']);
    expect(await askAll(txId)).toEqual(every({ outcome: 'ended', status: 'REJECTED' }));
    expect(await ordersOf(txId)).toEqual([]);
  });

  test('that is confirmed', async () => {
    const { txId } = await scene.accept();
    await transactionWhen(txId, ['CONFIRMED']);
    const before = await ordersOf(txId);
    expect(await askAll(txId, 1)).toEqual(every({ outcome: 'ended', status: 'CONFIRMED' }));
    expect(await ordersOf(txId)).toEqual(before);
  });
});

describe('cannot cancel without a reason on record, nor choose attempts', () => {
  test('a cancellation that nobody has asked for, a second first attempt and a hasty replacement are not ordered', async () => {
    const { txId } = await withoutWorker(async () => {
      const real = await scene.order();
      const prepared = await scene.prepared();
      const ask = (kind: 'first' | 'replacement' | 'reissue' | 'cancellation', lastAttempt = 1) =>
        scene.temporal.beginSigning({ txId: real.txId, lastAttempt, kind, prepared });
      expect(await ask('cancellation')).toMatchObject({ outcome: 'refused', code: 'not_cancellable' });
      expect(await ask('replacement')).toMatchObject({ outcome: 'wait' });
      expect(await ask('reissue')).toMatchObject({ outcome: 'refused', code: 'business_error' });
      await expect(ask('first')).rejects.toMatchObject({ code: 'invalid_parameter' });
      expect(await ask('first', 0)).toMatchObject({ outcome: 'stale', attempt: 1 });
      expect(await ordersOf(real.txId)).toEqual([{ kind: 'transfer', attempt: 1 }]);
      return real;
    });
    await transactionWhen(txId, ['CONFIRMED'], 120_000);
  });

  test('replacements beside an abandonment: one cancellation is ordered, and nothing else any more', async () => {
    const txId = await withoutWorker(async () => {
      const real = await scene.order();
      const prepared = await scene.prepared();
      const { operator_url: operator } = stack().postgres;
      const request = `insert into operator_requests (tx_id, kind, attempt, operator) values ($1, 'abandon', 1, 'test')`;
      await query(operator, request, [real.txId]);
      const ask = (kind: 'replacement' | 'cancellation', lastAttempt: number) =>
        scene.temporal.beginSigning({ txId: real.txId, lastAttempt, kind, prepared });
      const raced = await Promise.all(
        Array.from({ length: 6 }, (_, at) => ask(at % 2 === 0 ? 'replacement' : 'cancellation', 1)),
      );
      expect(raced.filter(({ outcome }) => outcome === 'begun')).toMatchObject([{ kind: 'cancellation', attempt: 2 }]);
      for (const kind of ['replacement', 'cancellation'] as const) expect(await ask(kind, 2)).toMatchObject({ outcome: 'wait' });
      // the order over the first attempt is still valid; what it pays for is excluded by the nonce alone
      expect((await ordersOf(real.txId)).map(({ kind }) => kind)).toEqual(['transfer', 'cancellation']);
      return real.txId;
    });
    await transactionWhen(txId, ['FAILED'], 120_000);
    const before = await ordersOf(txId);
    expect(await askAll(txId, 2)).toEqual(every({ outcome: 'ended', status: 'FAILED' }));
    expect(await ordersOf(txId)).toEqual(before);
  });

  test('nonce and fee: the authoriser takes the next nonce, and no fee far above the usual', async () => {
    const begun = await withoutWorker(async () => {
      const { txId } = await scene.accept();
      const prepared = await scene.prepared();
      const details = prepared.details as Record<string, string>;
      const ask = (changes: Partial<Prepared>) =>
        scene.temporal.beginSigning({ txId, lastAttempt: 0, kind: 'first', prepared: { ...prepared, ...changes } });
      expect(await ask({ details: { ...details, minedNonce: 1_000 } })).toMatchObject({ outcome: 'wait' });
      expect(await ask(multiplyFee(prepared, 100n))).toMatchObject({ outcome: 'wait' });
      expect(await ask(multiplyFee(prepared, 10n ** 9n))).toMatchObject({ outcome: 'refused', code: 'fee_above_bound' });
      await expect(ask({ feeBound: '1' })).rejects.toMatchObject({ code: 'internal_error' });
      expect(await ordersOf(txId)).toEqual([]);
      const [row] = await gatewayQuery<{ next: number }>(
        'select max(ordinal)::int + 1 as next from reservations where owner = lower($1)',
        [scene.account.address],
      );
      const answer = await ask({ details: { ...details, nonce: 777, minedNonce: 0 } });
      if (answer.outcome !== 'begun') throw new Error(`the authoriser answered ${answer.outcome}`);
      expect(parseTransaction(answer.unsigned).nonce).toBe(row?.next);
      return { txId };
    });
    await isConfirmed(begun);
  });
});

test('cannot give a wallet another key than the one in use', async () => {
  const { walletId } = scene.account;
  for (const activity of ['orderKeyGeneration', 'orderKeyBinding'] as const)
    await expect(scene.temporal.authoriser(activity, { walletId, keyId: `${walletId}.99` })).rejects.toMatchObject({
      code: 'business_error',
    });
});

test('can ask for a key of its own for a wallet that has none: the wallet does not become active with it', async () => {
  const walletId = randomUUID();
  const keyId = `${walletId}.77`;
  const { client_id: clientId } = stack().clients.find(({ name }) => name === 'demo') ?? {};
  const insert = 'insert into wallets (wallet_id, client_id, wallet_name) values ($1, $2, $3)';
  await gatewayQuery(insert, [walletId, clientId, walletId]);
  const generation = await scene.temporal.authoriser('orderKeyGeneration', { walletId, keyId });
  await scene.temporal.node(1, 'generateKey', { order: generation.order });
  const binding = await scene.temporal.authoriser('orderKeyBinding', { walletId, keyId });
  for (const node of nodeIndexes) await scene.temporal.node(node, 'bindKey', { order: binding.order });
  const unusable = { status: 'PROGRESSING', key_status: 'GENERATING' };
  expect(await call('GET', `/wallets/${walletId}`)).toMatchObject({ status: 200, body: unusable });
  const create = await call('POST', '/accounts', { body: { wallet_id: walletId, chain: 'ethereum' } });
  expect(create).toMatchObject({ status: 400, body: { code: 'wallet_not_active' } });
});

test('cannot change the nodes’ blacklists: a page without an order, or other than ordered, is refused', async () => {
  const { client_id: clientId = '' } = stack().clients[0] ?? {};
  const changes = [{ chain: 'ethereum', addressKey: randomAddress().toLowerCase(), listed: false }];
  const facts = { kind: 'blacklist_page', client_id: clientId, after: 0, through: 1, sha256: hashPage(changes) } as const;
  const made = await signOrder({ ...orderHead({ dep: nodeEnvironment(1).MPC_NODE_DEPLOYMENT ?? '' }), ...facts });
  for (const node of nodeIndexes)
    await expect(scene.temporal.node(node, 'applyBlacklist', { order: made, changes })).rejects.toMatchObject({
      code: 'order_refused',
    });
  const page = await scene.temporal.authoriser('orderBlacklistPage', { clientId, after: 0 });
  if (!page) throw new Error('the blacklist has no entry');
  for (const node of nodeIndexes)
    await expect(scene.temporal.node(node, 'applyBlacklist', { order: page.order, changes })).rejects.toMatchObject({
      code: 'order_refused',
    });
});
