import type { Client } from 'pg';
import { gateway, json } from '../e2e/gateway';
import { ledgerDifferences } from '../e2e/ledger';
import { call, transactionWhen } from '../e2e/support';
import { randomAddress } from '../factories';
import { claimsOf } from '../orders';
import { stack } from '../stack/client';
import { gatewayQuery, refusal, withDatabase } from './processes';
import { isConfirmed, Scene, withoutWorker } from './scene';
import { alter } from './transfers';

/** SECURITY.md, row `gateway database, its owner or an administrator`: somebody is logged in as the owner of the schema. */

const scene = new Scene();

const integrity = '23000';
const rewrites = {
  destination: `to_address = '0x000000000000000000000000000000000000dEaD', to_address_key = '0x000000000000000000000000000000000000dead'`,
  amount: 'amount = amount * 10',
};
const rewrite = (txId: string, to: string) => `update transactions set ${to} where tx_id = '${txId}'`;

/** Statements while the rules of a table that are triggers are switched off. */
const withoutRules = (table: string, work: (database: Client) => Promise<unknown>): Promise<void> =>
  withDatabase(stack().postgres.url, async (database) => {
    await database.query('begin');
    await database.query(`alter table ${table} disable trigger user`);
    await work(database);
    await database.query(`alter table ${table} enable trigger user`);
    await database.query('commit');
  });

/** Rewrites a transfer, and writes what it was when the work is done. */
async function whileRewritten<T>(txId: string, to: string, work: () => Promise<T>): Promise<T> {
  const [was] = await gatewayQuery<{ to_address: string; to_address_key: string; amount: string }>(
    'select to_address, to_address_key, amount from transactions where tx_id = $1',
    [txId],
  );
  await withoutRules('transactions', (database) => database.query(rewrite(txId, to)));
  try {
    return await work();
  } finally {
    const back = 'update transactions set to_address = $2, to_address_key = $3, amount = $4 where tx_id = $1';
    const values = [txId, was?.to_address, was?.to_address_key, was?.amount];
    await withoutRules('transactions', (database) => database.query(back, values));
  }
}

describe('can change intents only by switching off rules', () => {
  test.each(Object.entries(rewrites))('a %s is not rewritten while they are on', async (_, to) => {
    const { txId } = await withoutWorker(async () => {
      const accepted = await scene.accept();
      expect(await refusal(stack().postgres.url, rewrite(accepted.txId, to))).toBe(integrity);
      return accepted;
    });
    await isConfirmed({ txId });
  });

  test('a rewritten amount of a PENDING transfer shows in the verification of the ledger', async () => {
    const { txId } = await withoutWorker(async () => {
      const accepted = await scene.accept();
      await whileRewritten(accepted.txId, rewrites.amount, async () => expect(await ledgerDifferences()).not.toEqual([]));
      expect(await ledgerDifferences()).toEqual([]);
      return accepted;
    });
    await isConfirmed({ txId });
  });

  test('a rewritten destination of a PENDING transfer is ordered: the audit log, which is chained, keeps the client’s own', async () => {
    const accepted = await withoutWorker(async () => {
      const transfer = await scene.accept();
      const [event] = await json('audit', 'list', '--subject', transfer.txId, '--action', 'transfer.accepted');
      expect(event).toMatchObject({ detail: { to_address: transfer.to } });
      const request = { txId: transfer.txId, lastAttempt: 0, kind: 'first', prepared: await scene.prepared() } as const;
      const begun = await whileRewritten(transfer.txId, rewrites.destination, () => scene.temporal.beginSigning(request));
      if (begun.outcome !== 'begun') throw new Error(`the authoriser answered ${begun.outcome}`);
      const [paid] = claimsOf(begun.order).recipients;
      expect(paid?.address).not.toBe(transfer.to);
      expect((await gateway(['audit', 'verify'])).code).toBe(0);
      // the row has its own destination again: the begun attempt is not what it gives
      await expect(scene.temporal.beginSigning({ txId: transfer.txId, lastAttempt: 1, kind: 'resume' })).rejects.toMatchObject({
        code: 'internal_error',
      });
      await withoutRules('transactions', (database) => database.query(rewrite(transfer.txId, rewrites.destination)));
      return transfer;
    });
    await isConfirmed(accepted);
  });
});

describe('cannot have anything else signed once an attempt has begun', () => {
  test.each(Object.entries(rewrites))(
    'a %s rewritten in SIGNING: no further order, and the nodes sign the ordered bytes alone',
    async (_, to) => {
      const ordered = await withoutWorker(async () => {
        const real = await scene.order();
        await whileRewritten(real.txId, to, async () => {
          await expect(scene.temporal.beginSigning({ txId: real.txId, lastAttempt: 1, kind: 'resume' })).rejects.toMatchObject({
            code: 'internal_error',
          });
          const other = alter(real.unsigned, { value: 10n ** 17n });
          await expect(scene.temporal.sign({ ...real, unsigned: other }, { initiator: 1, peer: 2 })).rejects.toMatchObject({
            code: 'intent_mismatch',
          });
        });
        return real;
      });
      await isConfirmed(ordered);
    },
  );

  test('an order that is inserted into the database is signed by nobody', async () => {
    const ordered = await withoutWorker(async () => {
      const real = await scene.order();
      const recipients = real.claims.recipients.map((paid) => ({ ...paid, address: randomAddress() }));
      const claims = { ...real.claims, jti: crypto.randomUUID(), seq: real.claims.seq + 1_000_000, recipients };
      await gatewayQuery('insert into orders (jti, seq, kind, tx_id, attempt, claims) values ($1, $2, $3, $4, 1, $5)', [
        ...[claims.jti, claims.seq, claims.kind, real.txId],
        JSON.stringify(claims),
      ]);
      const again = await scene.temporal.beginSigning({ txId: real.txId, lastAttempt: 1, kind: 'resume' });
      if (again.outcome !== 'begun') throw new Error(`the authoriser answered ${again.outcome}`);
      expect(claimsOf(again.order).recipients).toEqual(real.claims.recipients);
      return real;
    });
    await isConfirmed(ordered);
  });
});

test('can change policies, which alone releases no transfer that waits for an approval', async () => {
  expect(await gateway(['client', 'policy', 'demo', '--whitelist', 'approve'])).toMatchObject({ code: 0 });
  let txId = '';
  try {
    ({ txId } = await scene.accept());
    await transactionWhen(txId, ['AWAITING_APPROVAL']);
  } finally {
    await gatewayQuery(`update clients set whitelist_mode = 'off' where name = 'demo'`);
  }
  const request = { txId, lastAttempt: 0, kind: 'first', prepared: await scene.prepared() } as const;
  expect(await scene.temporal.beginSigning(request)).toEqual({ outcome: 'needs_approval' });
  await call('POST', `/transactions/${txId}/cancel`);
  expect(await transactionWhen(txId, ['CANCELLED'])).toMatchObject({ tx_hash: null });
});
