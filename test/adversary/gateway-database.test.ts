import { randomBytes } from 'node:crypto';
import { ApiClient } from '../stack/api-client';
import { hashSecret } from '../../src/auth/service';
import type { SigningClaims } from '../../src/messages/order';
import { totpOwner } from '../../src/mfa/totp';
import { readConfig } from '../../src/platform/config';
import { SecretBox } from '../../src/platform/secret-box';
import { gateway, json } from '../e2e/gateway';
import { ledgerDifferences } from '../e2e/ledger';
import { call, transactionWhen } from '../e2e/support';
import { webhookSecretOwner } from '../../src/webhooks/secrets';
import { randomAddress, totpCode } from '../factories';
import { claimsOf } from '../orders';
import { stack, waitFor } from '../stack/client';
import { pids } from '../stack/pause';
import { environmentOf, gatewayQuery, refusal } from './processes';
import { rewrite, type Rewrite, toStatement, whileRewritten, withoutRules } from './rewrites';
import { blacklist, isConfirmed, Scene, withoutWorker } from './scene';
import { alter, type OrderedTransfer } from './transfers';

/** SECURITY.md, list “Gateway database, its owner or an administrator”: somebody is logged in as the owner of the schema. */

const scene = new Scene();

const integrity = '23000';
const dead = '0x000000000000000000000000000000000000dEaD';
const rewrites = {
  destination: { to_address: dead, to_address_key: dead.toLowerCase() },
  amount: { amount: '100000000000000000' },
};
const ofTransfer = (txId: string, to: Rewrite['to']): Rewrite => ({ table: 'transactions', id: txId, to });

describe('can change intents only by switching off rules', () => {
  test.each(Object.entries(rewrites))('a %s is not rewritten while they are on', async (_, to) => {
    const { txId } = await withoutWorker(async () => {
      const accepted = await scene.accept();
      const { text, values } = toStatement(ofTransfer(accepted.txId, to));
      expect(await refusal(stack().postgres.url, text, values)).toBe(integrity);
      return accepted;
    });
    await isConfirmed({ txId });
  });

  test('a rewritten amount of a PENDING transfer shows in the verification of the ledger', async () => {
    const { txId } = await withoutWorker(async () => {
      const accepted = await scene.accept();
      await whileRewritten(ofTransfer(accepted.txId, rewrites.amount), async () =>
        expect(await ledgerDifferences()).not.toEqual([]),
      );
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
      const rewritten = ofTransfer(transfer.txId, rewrites.destination);
      const begun = await whileRewritten(rewritten, () => scene.temporal.beginSigning(request));
      if (begun.outcome !== 'begun') throw new Error(`the authoriser answered ${begun.outcome}`);
      const [paid] = claimsOf(begun.order).recipients;
      expect(paid?.address).toBe(dead);
      expect((await gateway(['audit', 'verify'])).code).toBe(0);
      // the row has its own destination again: the begun attempt is not what it gives
      await expect(scene.temporal.beginSigning({ txId: transfer.txId, lastAttempt: 1, kind: 'resume' })).rejects.toMatchObject({
        code: 'internal_error',
      });
      await rewrite(rewritten);
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
        await whileRewritten(ofTransfer(real.txId, to), async () => {
          await expect(scene.temporal.beginSigning({ txId: real.txId, lastAttempt: 1, kind: 'resume' })).rejects.toMatchObject({
            code: 'internal_error',
          });
          expect(await gatewayQuery('select from orders where tx_id = $1', [real.txId])).toHaveLength(1);
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

  test('a destination rewritten together with the bytes of its attempt is not ordered', async () => {
    const ordered = await withoutWorker(async () => {
      const real = await scene.order();
      const unsigned = alter(real.unsigned, { to: dead });
      const bytes: Rewrite = { table: 'transfer_attempts', id: real.txId, to: { unsigned } };
      await whileRewritten(ofTransfer(real.txId, rewrites.destination), () =>
        whileRewritten(bytes, () =>
          expect(scene.temporal.beginSigning({ txId: real.txId, lastAttempt: 1, kind: 'resume' })).rejects.toMatchObject({
            code: 'intent_mismatch',
          }),
        ),
      );
      expect(await gatewayQuery('select from orders where tx_id = $1', [real.txId])).toHaveLength(1);
      return real;
    });
    await isConfirmed(ordered);
  });

  test.each<[string, (real: OrderedTransfer) => Partial<SigningClaims>]>([
    ['other recipients', ({ claims }) => ({ recipients: claims.recipients.map((it) => ({ ...it, address: randomAddress() })) })],
    ['a number that was never issued', () => ({ seq: Number.MAX_SAFE_INTEGER })],
  ])('an order with %s that is inserted into the database is signed by nobody', async (_, changes) => {
    const ordered = await withoutWorker(async () => {
      const real = await scene.order();
      const [{ seq }] = (await gatewayQuery<{ seq: string }>(`select nextval('order_numbers') as seq`)) as [{ seq: string }];
      const claims = { ...real.claims, jti: crypto.randomUUID(), seq: Number(seq), ...changes(real) };
      await gatewayQuery('insert into orders (jti, seq, kind, tx_id, attempt, claims) values ($1, $2, $3, $4, 1, $5)', [
        ...[claims.jti, claims.seq, claims.kind, real.txId],
        JSON.stringify(claims),
      ]);
      const again = await scene.temporal.beginSigning({ txId: real.txId, lastAttempt: 1, kind: 'resume' });
      if (again.outcome !== 'begun') throw new Error(`the authoriser answered ${again.outcome}`);
      const { recipients, jti } = claimsOf(again.order);
      expect(recipients).toEqual(real.claims.recipients);
      expect(jti).not.toBe(claims.jti);
      return real;
    });
    await isConfirmed(ordered);
  });
});

test('can change blacklists: an address that it takes off is paid', async () => {
  const to = randomAddress();
  const accepted = await withoutWorker(async () => {
    const first = await scene.accept(to);
    await blacklist(first);
    await call('POST', `/transactions/${first.txId}/cancel`);
    await expect(scene.accept(to)).rejects.toThrow('address_blacklisted');
    await gatewayQuery(`update security_factors set status = 'inactive' where address_key = $1`, [to.toLowerCase()]);
    return scene.accept(to);
  });
  await isConfirmed(accepted);
});

test('can add a user with an API key of its own, which then acts for the client', async () => {
  const { client_id: clientId } = stack().clients.find(({ name }) => name === 'demo') ?? {};
  const [userId, apiKey, secret] = [crypto.randomUUID(), `key_${crypto.randomUUID()}`, randomBytes(32).toString('base64url')];
  await gatewayQuery('insert into users (user_id, client_id, name) values ($1, $2, $3)', [userId, clientId, userId]);
  await gatewayQuery(
    'insert into api_keys (key_id, client_id, user_id, api_key, secret_hash) values (gen_random_uuid(), $1, $2, $3, $4)',
    [clientId, userId, apiKey, hashSecret(secret)],
  );
  const stranger = new ApiClient(stack().base_url, { api_key: apiKey, api_secret: secret });
  expect(await stranger.request('GET', `/wallets/${scene.account.walletId}`)).toMatchObject({ status: 200 });
  await gatewayQuery(`update users set status = 'DISABLED' where user_id = $1`, [userId]);
});

test('cannot change the audit log unnoticed, nor while its rules are off', async () => {
  const [row] = await gatewayQuery<{ audit_id: string; actor_id: string }>(
    `select audit_id, actor_id from audit_events where audit_id not in (select audit_id from audit_pending) order by audit_id limit 1`,
  );
  const change = (actor?: string) =>
    withoutRules('audit_events', (database) =>
      database.query('update audit_events set actor_id = $2 where audit_id = $1', [row?.audit_id, actor]),
    );
  await change('mallory');
  const { code, out } = await gateway(['audit', 'verify']);
  await change(row?.actor_id);
  expect(code).toBe(1);
  expect(out).toContain(row?.audit_id);
  expect((await gateway(['audit', 'verify'])).code).toBe(0);
});

test('cannot open TOTP secrets: what it has is sealed for one user, with a key of the API', async () => {
  const { user_id: userId = '', totp_secret: secret } = stack().clients.find(({ name }) => name === 'demo') ?? {};
  const [row] = await gatewayQuery<{ secret: Buffer }>('select secret from user_totp where user_id = $1', [userId]);
  if (!row || !secret) throw new Error('the user has no second factor');
  expect(row.secret.toString('latin1')).not.toContain(secret);
  const { TOTP_SECRETS_KEY } = readConfig(['TOTP_SECRETS_KEY'], environmentOf(pids('api')[0] ?? 0));
  const box = new SecretBox(TOTP_SECRETS_KEY, 'TOTP_SECRETS_KEY');
  expect(box.open(row.secret, totpOwner(userId))).toBe(secret);
  // nor has it the API use a secret that it knows for another user
  expect(() => box.open(row.secret, totpOwner(crypto.randomUUID()))).toThrow();
});

test('cannot open webhook secrets: what it has is sealed for one endpoint, with a key of API and worker', async () => {
  const totp = stack().clients.find(({ name }) => name === 'demo')?.totp_secret ?? '';
  // a code is valid once: another test may have used this one
  const created = await waitFor(
    async () => {
      const body = { url: 'http://127.0.0.1:9/none', events: ['wallet.active'], mfa_code: totpCode(totp) };
      const { status, body: answer } = await call('POST', '/webhooks', { body });
      return status === 201 ? (answer as { webhook_id: string; secret: string }) : undefined;
    },
    { timeoutMs: 60_000, intervalMs: 5_000 },
  );
  const [row] = await gatewayQuery<{ secret: Buffer }>('select secret from webhook_endpoints where webhook_id = $1', [
    created.webhook_id,
  ]);
  if (!row) throw new Error('the endpoint is not stored');
  expect(row.secret.toString('latin1')).not.toContain(created.secret);
  const { WEBHOOK_SECRETS_KEY } = readConfig(['WEBHOOK_SECRETS_KEY'], environmentOf(pids('worker')[0] ?? 0));
  const box = new SecretBox(WEBHOOK_SECRETS_KEY, 'WEBHOOK_SECRETS_KEY');
  expect(box.open(row.secret, webhookSecretOwner(created.webhook_id))).toBe(created.secret);
  // nor has it requests of another endpoint signed by a secret that it knows
  expect(() => box.open(row.secret, webhookSecretOwner(crypto.randomUUID()))).toThrow();
});

test('can change policies, which alone releases no transfer that waits for an approval', async () => {
  expect(await gateway(['client', 'policy', 'demo', '--whitelist', 'approve'])).toMatchObject({ code: 0 });
  let txId = '';
  try {
    ({ txId } = await scene.accept());
    // it is AWAITING_APPROVAL before its workflow starts, which applies the policy of then
    await waitFor(async () => {
      const { live } = (await call('GET', `/transactions/${txId}`)).body as { live: { detail: string } | null };
      return live?.detail.includes('approve');
    });
  } finally {
    await gatewayQuery(`update clients set whitelist_mode = 'off' where name = 'demo'`);
  }
  const request = { txId, lastAttempt: 0, kind: 'first', prepared: await scene.prepared() } as const;
  expect(await scene.temporal.beginSigning(request)).toEqual({ outcome: 'needs_approval' });
  await call('POST', `/transactions/${txId}/cancel`);
  expect(await transactionWhen(txId, ['CANCELLED'])).toMatchObject({ tx_hash: null });
});
