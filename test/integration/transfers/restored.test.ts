import type { DataSource } from 'typeorm';
import { createChainActivities } from '../../../activities/chain';
import { getFamily } from '../../../src/chains/families';
import { ChainRegistry } from '../../../src/chains/registry';
import type { Hex } from '../../../src/chains/types';
import { reconcile } from '../../../src/cli/reconcile-operations';
import { TransferOperations } from '../../../src/cli/transfer-operations';
import { verifyLedger } from '../../../src/ledger/verify';
import type { OrderClaims } from '../../../src/messages/order';
import { OrderKeys } from '../../../src/mpc/order-keys';
import type { SeenOrder } from '../../../src/mpc/seen-orders';
import { OrderComparison } from '../../../src/orders/comparison';
import type { AskForOrders } from '../../../src/orders/node-orders';
import { newId } from '../../../src/platform/ids';
import { getSignedType, typeOfOrder } from '../../../src/signed-types';
import { createLogger } from '../../../src/platform/logging';
import { acceptTransfer } from '../../../src/transfers/accept/accept';
import type { TransferRequest } from '../../../src/transfers/accept/request';
import { startTransferWorkflow } from '../../../src/transfers/start/workflows';
import { buildTransferRequest } from '../../factories';
import { acceptDependencies, createTestLedger } from '../../ledger';
import { claimsOf, deployment, orderKeys, signOrder } from '../../orders';
import { type Backup, backUp } from './backup';
import { ServedWorkflows, until } from './served';

/** Real workflows on a real chain over a restored database: what was paid since the backup ends as it did, and once. */

jest.setTimeout(120_000);

const served = new ServedWorkflows();
let backup: Backup;
let restored: DataSource | undefined;
afterEach(async () => {
  await restored?.destroy();
  restored = undefined;
  await backup.drop();
});

const transferOf = (symbol: string, amount: string): TransferRequest =>
  buildTransferRequest(served.fixture.alice, served.fixture.chain, {
    ...{ tokenSymbol: symbol, amount, toAddress: served.fixture.bob.address, idempotencyKey: newId() },
  });

/** Ordered, signed, sent and settled. */
async function paid(request: TransferRequest): Promise<string> {
  const { ledger, onChain, mine, follow, sign } = served.fixture;
  const { txId } = await ledger.lockTransfer(request);
  await sign(txId, 1);
  await onChain.broadcast({ txId, attempt: 1 });
  await ledger.markSubmitted({ txId, attempt: 1 });
  await mine(served.fixture.chain.confirmations);
  await follow();
  expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
  return txId;
}

/** Ordered; nobody has sent it. */
async function ordered(request: TransferRequest): Promise<string> {
  const { ledger, onChain } = served.fixture;
  const { txId } = await ledger.lockTransfer(request);
  const next = { txId, attempt: 1, kind: 'first' } as const;
  const begun = await ledger.beginAttempt({ ...next, prepared: await onChain.prepareAttempt(next) });
  expect(begun.outcome).toBe('begun');
  return txId;
}

/** All three nodes have acted on every order of the lost database. */
async function nodesThatSaw(lost: DataSource) {
  const rows = await lost.query<{ claims: OrderClaims; unsigned: Hex | null }[]>(
    'select claims, unsigned from orders left join transfer_attempts using (tx_id, attempt) order by seq',
  );
  const seen: SeenOrder[] = [];
  for (const { claims, unsigned } of rows) seen.push({ compact: await signOrder(claims), unsigned });
  const answerTo = (after: number | null) => {
    const orders = seen.filter(({ compact }) => after !== null && claimsOf<OrderClaims>(compact).seq > after);
    return { newest: seen.at(-1)?.compact ?? null, orders, is_complete: true };
  };
  const ask: AskForOrders = (after) =>
    Promise.resolve(([1, 2, 3] as const).map((node) => ({ node, answer: answerTo(after[node] ?? null) })));
  return ask;
}

test('transfers since the backup are found, rebuilt and confirmed; the same request finds its transfer, and nothing is paid twice', async () => {
  const { fixture } = served;
  const { chain, client, database: lost } = fixture;
  backup = await backUp(lost);
  const requests = [transferOf('USDC', '5'), transferOf('ETH', '0.25')] as const;
  const [paidId, orderedId] = [await paid(requests[0]), await ordered(requests[1])];
  const database = (restored = await backup.restore());
  const registry = new ChainRegistry([chain]);
  const ask = await nodesThatSaw(lost);
  const keys = await OrderKeys.create(orderKeys, 'ORDER_KEYS');
  const logger = createLogger('test', 'error');
  logger.level = 'silent';
  const comparison = new OrderComparison({ database, ask, keys, deployment, logger });
  expect(await comparison.run()).toBe('missing');
  await fixture.follow({ database });

  const ledger = createTestLedger({ database, registry, getFamily });
  const onChain = createChainActivities({ database, registry, logger, clients: new Map([[chain.name, client]]) } as never);
  await served.serve({ ledger, authoriser: ledger, chain: onChain });
  const start = (transfer: Parameters<typeof startTransferWorkflow>[1]) =>
    startTransferWorkflow(served.client, transfer, 'again');
  const options = {
    database,
    ask,
    keys,
    deployment,
    registry,
    getFamily,
    getSignedType,
    typeOfOrder,
    start,
    acceptMissing: [],
    twoNodes: false,
    countUsed: () => Promise.resolve(null),
  };
  expect(await reconcile({ ...options, apply: true })).toMatchObject({
    nodes: [1, 2, 3],
    rows: [
      { subject: paidId, result: 'rebuilt' },
      { subject: orderedId, result: 'rebuilt' },
    ],
    started: [paidId, orderedId],
    isOpen: true,
  });
  expect(await comparison.run()).toBe('compared');
  for (const [index, txId] of [paidId, orderedId].entries()) {
    const again = { ...(requests[index] as TransferRequest), txId: newId() };
    expect(await acceptTransfer(acceptDependencies(database, registry), again)).toMatchObject({ txId, replayed: true });
  }

  const operations = new TransferOperations(database, served.client);
  const statuses = async () =>
    (await database.query<{ status: string }[]>('select status from transactions where is_held')).map(({ status }) => status);
  await until('both are confirmed', async () => {
    await fixture.mine();
    await fixture.follow({ database });
    // the follower's message to a workflow is not part of this test
    for (const txId of [paidId, orderedId]) await operations.retry(txId).catch(() => undefined);
    return (await statuses()).join() === 'CONFIRMED,CONFIRMED';
  });
  expect(await fixture.anvil.client.getTransactionCount({ address: fixture.alice.address as Hex })).toBe(2);
  expect(await fixture.anvil.client.getBalance({ address: fixture.bob.address as Hex })).toBe(250_000_000_000_000_000n);
  expect(await verifyLedger(database.manager)).toEqual([]);
  expect(await verifyLedger(lost.manager)).toEqual([]);
});
