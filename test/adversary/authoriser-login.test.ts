import { getChains } from '../../src/chains/registry/data';
import type { SigningClaims } from '../../src/messages/order';
import { ends, transactionWhen } from '../e2e/support';
import { insertAttemptRows } from '../inserted-attempts';
import { signOrder } from '../orders';
import { stack } from '../stack/client';
import { openDatabase } from '../stack/database';
import { signingPairs } from './nodes';
import { gatewayQuery, loginOf, query } from './processes';
import { isConfirmed, Scene, withoutWorker } from './scene';
import { chain } from './transfers';

/**
 * SECURITY.md, list “The authoriser's login without its key”: somebody writes what the authoriser may write, and has Temporal ask for
 * orders. More of it, on a database alone: test/integration/transfers/inserted-attempts.test.ts.
 */

const scene = new Scene();

test('cannot sign an order: what it signs itself is refused by every node', async () => {
  const ordered = await withoutWorker(() => scene.order());
  // it reads the claims of real orders
  const [stored] = await query<{ claims: SigningClaims }>(
    loginOf('gateway_authoriser'),
    'select claims from orders where tx_id = $1',
    [ordered.txId],
  );
  expect(stored?.claims.signers).toEqual(ordered.claims.signers);
  const order = await signOrder(stored?.claims as SigningClaims);
  for (const pair of signingPairs)
    await expect(scene.temporal.sign({ order, unsigned: ordered.unsigned }, pair)).rejects.toMatchObject({
      code: 'order_refused',
    });
  await isConfirmed(ordered);
});

test('cannot have a transfer cancelled that nobody has given up, and an operator decides what becomes of it', async () => {
  const [definition] = getChains('local').filter(({ name }) => name === chain);
  if (!definition) throw new Error(`there is no chain ${chain}`);
  const ordered = await withoutWorker(async () => {
    const real = await scene.order();
    const login = await openDatabase(loginOf('gateway_authoriser'));
    try {
      // within what the transfer has locked
      const prepared = await scene.prepared();
      await insertAttemptRows(login, definition, { txId: real.txId, attempt: 2, kind: 'cancellation', prepared });
    } finally {
      await login.destroy();
    }
    const refused = { outcome: 'refused', code: 'not_cancellable' };
    const resume = () => scene.temporal.beginSigning({ txId: real.txId, lastAttempt: 2, kind: 'resume' });
    expect(await resume()).toMatchObject(refused);
    expect(await gatewayQuery('select kind from orders where tx_id = $1', [real.txId])).toEqual([{ kind: 'transfer' }]);
    const request = `insert into operator_requests (tx_id, kind, attempt, operator) values ($1, 'abandon', 2, 'test')`;
    await query(stack().postgres.operator_url, request, [real.txId]);
    expect(await resume()).toMatchObject({ outcome: 'begun', kind: 'cancellation' });
    return real;
  });
  expect((await transactionWhen(ordered.txId, ends, 120_000)).status).toBe('FAILED');
  await isConfirmed(await scene.accept());
});
