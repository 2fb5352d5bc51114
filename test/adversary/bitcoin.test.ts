import { decode, encode, sum, type UnsignedTransaction } from '../../src/chains/bitcoin/codec/transaction';
import { createRpcCall } from '../../src/chains/bitcoin/rpc';
import type { Hex } from '../../src/chains/types';
import type { OrderClaims } from '../../src/messages/order';
import { nodeIndexes } from '../../src/messages/nodes';
import type { OrderSigner } from '../../src/orders/signer';
import { bitcoinCodec, coin } from '../bitcoin';
import { json } from '../e2e/gateway';
import { transactionWhen } from '../e2e/support';
import { isInStack } from '../families';
import { bitcoinFixture } from '../families/bitcoin';
import { orderHead } from '../orders';
import { stack } from '../stack/client';
import { executedOnChains } from './executed';
import { alarms, nodeQuery, signingPairs } from './nodes';
import { authoriserSigner, loginOf, withDatabase } from './processes';
import { acceptMissing, closedForMissing } from './reconcile';
import { isConfirmed, Scene, withoutWorker } from './scene';
import type { OrderedTransfer } from './transfers';

/** What Temporal, the authoriser and the worker can try with transactions that spend outputs. */

const scriptOf = (address: string): Uint8Array =>
  Uint8Array.from(Buffer.from(bitcoinCodec.parseAddress(address)?.key ?? '', 'hex'));
const foreign = (): Uint8Array => scriptOf(bitcoinFixture.newAddress());

/** The same transaction with changes. */
const alter = (unsigned: Hex, change: (transaction: UnsignedTransaction) => Partial<UnsignedTransaction>): Hex => {
  const transaction = decode(unsigned);
  return encode({ ...transaction, ...change(transaction) });
};
const entries = ({ txId }: { txId: string }) =>
  Promise.all(nodeIndexes.map((node) => nodeQuery(node, 'select from journal where tx_id = $1', [txId])));
const none = nodeIndexes.map(() => []);

// skipped: this machine has no package or build of the chain's local node
(isInStack(bitcoinFixture) ? describe : describe.skip)('on Bitcoin', () => {
  const scene = new Scene({ fixture: bitcoinFixture, deposits: ['0.2', '0.2', '0.2', '0.2', '0.2'] });

  const refusedByAll = async (made: { order: string; unsigned: Hex }, reason: string) => {
    for (const pair of signingPairs)
      await expect(scene.temporal.sign(made, pair)).rejects.toMatchObject({
        code: 'intent_mismatch',
        message: expect.stringContaining(reason) as string,
      });
  };

  test('a real order with other bytes is refused by every pair; the ordered bytes are signed afterwards', async () => {
    const ordered = await withoutWorker(async () => {
      const real = await scene.order();
      const others: Record<string, (transaction: UnsignedTransaction) => Partial<UnsignedTransaction>> = {
        'another recipient': ({ payments }) => ({ payments: payments.map((payment) => ({ ...payment, script: foreign() })) }),
        'another amount': ({ payments, change }) => ({
          payments: payments.map((payment) => ({ ...payment, amount: payment.amount + 1n })),
          change: change - 1n,
        }),
        'change to somebody else': ({ payments, change }) => ({
          payments: [...payments, { script: foreign(), amount: change }],
          change: 0n,
        }),
        'a part of the change to somebody else': ({ payments, change }) => ({
          payments: [...payments, { script: foreign(), amount: 1_000n }],
          change: change - 1_000n,
        }),
        'a higher fee': ({ change }) => ({ change: change - 1n }),
        'no change': () => ({ change: 0n }),
        'another input': ({ coins: [first, ...rest] }) => ({ coins: [coin(1, first?.amount ?? 0n), ...rest] }),
        'an input more': ({ coins, change }) => ({ coins: [...coins, coin(2, 5_000n)], change: change + 5_000n }),
        'an input that is worth more, as it says': ({ coins, change }) => ({
          coins: coins.map((spent) => ({ ...spent, amount: spent.amount + 1_000n })),
          change: change + 1_000n * BigInt(coins.length),
        }),
        'an input that is worth less, which would hide a fee': ({ coins, change }) => ({
          coins: coins.map((spent) => ({ ...spent, amount: spent.amount - 1_000n })),
          change: change - 1_000n * BigInt(coins.length),
        }),
      };
      for (const [what, change] of Object.entries(others)) {
        const made = { order: real.order, unsigned: alter(real.unsigned, change) };
        for (const pair of signingPairs)
          expect([what, await scene.temporal.sign(made, pair).catch((error: { code?: string }) => error.code)]).toEqual([
            what,
            'intent_mismatch',
          ]);
      }
      expect(await entries(real)).toEqual(none);
      return real;
    });
    await isConfirmed(ordered);
    // each input is found on the chain, by the digest that was ordered
    const executed: (string | null)[] = [];
    for await (const { digest } of executedOnChains()) executed.push(digest);
    for (const { digests } of ordered.claims.signers) for (const digest of digests) expect(executed).toContain(digest);
  });

  describe('with the order key', () => {
    let signer: OrderSigner;
    /** A transfer that nodes 1 and 2 have signed, and that is confirmed. */
    let ordered: OrderedTransfer;
    beforeAll(async () => {
      signer = await authoriserSigner();
      ordered = await withoutWorker(async () => {
        const real = await scene.order();
        await scene.temporal.sign(real, { initiator: 1, peer: 2 });
        return real;
      });
      await isConfirmed(ordered);
    });

    /** An order over these bytes, of which it says what `changes` do, and otherwise what that of the transfer does. */
    async function orderOver(
      change: (transaction: UnsignedTransaction) => Partial<UnsignedTransaction>,
      changes: Partial<OrderedTransfer['claims']> = {},
    ) {
      const { claims } = ordered;
      const unsigned = alter(ordered.unsigned, change);
      const digests = bitcoinCodec.signingPayloads(unsigned, claims.from).map(({ digest }) => digest);
      const signers = claims.signers.map((one) => ({ ...one, digests }));
      const max_fee = bitcoinCodec.describe(unsigned).maxNetworkFee.toString();
      // the number of a real one: a higher one would tell that the gateway's database has lost orders
      const head = orderHead({ dep: claims.dep, seq: claims.seq });
      const order = await signer.sign({ ...claims, ...head, signers, max_fee, ...changes } as OrderClaims);
      return { order, unsigned };
    }
    const another = { tx_id: crypto.randomUUID() };
    /** Not those of the confirmed transfer. */
    const fresh = ({ coins }: UnsignedTransaction, seed: number) => coins.map(({ amount }, at) => coin(seed + at, amount));

    test('change to a foreign address is a recipient that the order has to name', async () => {
      const made = await orderOver(
        (transaction) => ({
          coins: fresh(transaction, 10),
          payments: [...transaction.payments, { script: foreign(), amount: transaction.change }],
          change: 0n,
        }),
        another,
      );
      await refusedByAll(made, 'recipients');
    });

    test('a fee above the cap of the chain is refused, whatever the order allows', async () => {
      const made = await orderOver(
        (transaction) => ({ coins: fresh(transaction, 20), change: transaction.change - 3_000_000n }),
        another,
      );
      await refusedByAll(made, 'max_fee');
    });

    test('other amounts of the inputs for the attempt that was signed: an alarm at the nodes that signed', async () => {
      const made = await orderOver(({ coins, change }) => ({
        coins: coins.map((spent) => ({ ...spent, amount: spent.amount - 1_000n })),
        change: change - 1_000n * BigInt(coins.length),
      }));
      await refusedByAll(made, 'digests');
      for (const node of [1, 2] as const)
        expect(alarms(node)).toContainEqual(expect.objectContaining({ alert: 'journal_contradicted', tx_id: ordered.txId }));
    });

    test('a later attempt that spends other inputs could be executed beside the first', async () => {
      const made = await orderOver((transaction) => ({ coins: fresh(transaction, 30), change: transaction.change - 500n }), {
        attempt: 2,
        kind: 'replacement',
      });
      await refusedByAll(made, 'resources');
    });

    test('the node that knew no order of the transfer has kept the false one: it closes the gateway, until an operator has looked at it', async () => {
      await closedForMissing();
      await expect(scene.accept()).rejects.toThrow('reconcile_required');
      expect(await acceptMissing()).toContainEqual(expect.objectContaining({ subject: ordered.txId }));
      await isConfirmed(await scene.accept());
    });
  });

  test('the worker can say that an output is worth more than it is: what is signed for that, the chain does not execute', async () => {
    const { txId } = await withoutWorker(async () => {
      const owner = bitcoinCodec.parseAddress(scene.account.address)?.key ?? '';
      const undo = await exaggerate(owner);
      const ordered = await scene.order();
      expect(sum(decode(ordered.unsigned).coins)).toBeGreaterThan(await worthOf(ordered.unsigned));
      const { signatures } = await scene.temporal.sign(ordered, { initiator: 1, peer: 2 });
      const { bytes } = bitcoinCodec.assemble(ordered.unsigned, signatures, ordered.claims.from);
      const send = createRpcCall(stack().chains.bitcoin?.rpc ?? '')('sendrawtransaction', [bytes.slice(2)]);
      await expect(send).rejects.toMatchObject({ name: 'NodeRefusal' });
      await undo();
      return ordered;
    });
    const parked = await transactionWhen(txId, ['NEEDS_ATTENTION'], 120_000);
    expect(parked.failure.code).toBe('broadcast_rejected');
    expect(await json('transfers', 'abandon', txId, '--yes')).toMatchObject({ status: 'abandoning' });
    expect(await transactionWhen(txId, ['FAILED'], 120_000)).toMatchObject({ failure: { code: 'abandoned' } });
  });
});

/** With the worker's login: each output of an account that is not spent is replaced by one that is worth more. Returns what undoes it. */
async function exaggerate(owner: string): Promise<() => Promise<unknown>> {
  const replace = (change: string) =>
    withDatabase(loginOf('gateway_worker'), async (database) => {
      await database.query('begin');
      const { rows } = await database.query<{ row: object }>(
        `delete from chain_outputs o where owner = $1 and spent_by is null returning to_jsonb(o) as row`,
        [owner],
      );
      await database.query(
        `insert into chain_outputs select (jsonb_populate_record(null::chain_outputs, row ||
           jsonb_build_object('amount', (row ->> 'amount')::numeric ${change}))).* from jsonb_array_elements($1::jsonb) row`,
        [JSON.stringify(rows.map(({ row }) => row))],
      );
      await database.query('commit');
    });
  await replace('+ 100000');
  return () => replace('- 100000');
}

/** What the chain says. */
async function worthOf(unsigned: Hex): Promise<bigint> {
  const call = createRpcCall(stack().chains.bitcoin?.rpc ?? '');
  const worth = await Promise.all(
    decode(unsigned).coins.map(async ({ resource }) => {
      const [id, vout] = resource.split(':');
      const { value } = await call<{ value: number }>('gettxout', [id, Number(vout), true]);
      return BigInt(Math.round(value * 1e8));
    }),
  );
  return worth.reduce((total, amount) => total + amount, 0n);
}
