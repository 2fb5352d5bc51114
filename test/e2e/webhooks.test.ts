import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { DataSource } from 'typeorm';
import { ApiKeyEntity } from '../../src/auth/entity';
import { hashSecret } from '../../src/auth/service';
import { entities } from '../../src/entities';
import { ApiClient } from '../../src/main/demo/client';
import { devPaths } from '../../src/main/dev/paths';
import { createDatabase } from '../../src/platform/database';
import { newId } from '../../src/platform/ids';
import { SecretBox } from '../../src/platform/secret-box';
import { webhookWorkflowId } from '../../workflows/messages';
import { buildClient, buildTotp, buildUser, randomAddress, totpCode } from '../factories';
import { type Receiver, startReceiver, status, verify } from '../integration/webhooks/receiver';
import { killProcess, stack, waitFor } from '../stack/client';
import { recordHistory } from './histories';

const asked = 150;
const changed = 50;

let database: DataSource;
let receiver: Receiver;
beforeAll(async () => {
  database = createDatabase({ url: stack().postgres.url, poolSize: 5, applicationName: 'test', entities });
  await database.initialize();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await database.destroy();
});

/** A client of its own, with a second factor; the API is asked as anybody would. */
async function newClient(): Promise<{ api: ApiClient; clientId: string; userId: string; code: string }> {
  const folder = path.dirname(String(process.env.GATEWAY_TEST_STACK));
  const box = new SecretBox(readFileSync(path.join(devPaths(folder).secrets, 'secrets.kek'), 'utf8'));
  const client = await buildClient(database);
  const user = await buildUser(database, client);
  const [apiKey, apiSecret] = [`key_${newId()}`, randomBytes(32).toString('base64url')];
  const { clientId } = client;
  const { userId } = user;
  await database.manager.insert(ApiKeyEntity, { keyId: newId(), clientId, userId, apiKey, secretHash: hashSecret(apiSecret) });
  const code = totpCode(await buildTotp(database, box, user));
  return { api: new ApiClient(stack().base_url, { api_key: apiKey, api_secret: apiSecret }), clientId, userId, code };
}

/** The client's part: the same key until there is an answer. */
function insist<T>(api: ApiClient, url: string): Promise<T> {
  const headers = { 'idempotency-key': randomUUID() };
  return waitFor(
    async () => {
      const answer = await api.request<T>('POST', url, { headers });
      return answer.status === 200 ? answer.body : undefined;
    },
    { timeoutMs: 90_000, intervalMs: 300 },
  );
}

test(`kill -9 of worker and api during ${asked + changed} events: each arrives at least once, ids stay, none is invented`, async () => {
  const { api, clientId, userId, code } = await newClient();
  const created = await api.request<{ webhook_id: string; secret: string }>('POST', '/webhooks', {
    body: { url: receiver.url, mfa_code: code },
  });
  expect(created.status).toBe(201);
  const { webhook_id: webhookId, secret } = created.body;
  // now and then the receiver has its troubles too, with what it has not seen before
  const isNew = (id: string) => receiver.received.filter((one) => one.id === id).length === 1;
  for (let count = 0; count < 120; count += 1)
    receiver.replies.push((response, one) => status(count % 12 === 11 && isNew(one.id) ? 500 : 200)(response, one));

  let sending = true;
  const killing = (async () => {
    for (let round = 0; sending && round < 6; round += 1) {
      await killProcess(round % 2 === 0 ? 'worker' : 'api');
      await new Promise((resolve) => setTimeout(resolve, 1_500));
    }
  })();
  const remaining = Array.from({ length: asked }, (_, n) => n);
  const answered: { event_id: string; subject_id: string }[] = [];
  const askAll = async () => {
    while (remaining.pop() !== undefined) answered.push(await insist(api, `/webhooks/${webhookId}/test`));
  };
  await Promise.all([askAll(), askAll(), askAll(), askAll(), changeFactors(clientId, userId)]);
  sending = false;
  await killing;

  const written = await waitFor(
    async () => {
      const rows = await database.query<{ event_id: string; status: string; attempts: number; next_attempt_at: Date }[]>(
        'select event_id, status, attempts, next_attempt_at, undispatched_since from webhook_deliveries where webhook_id = $1',
        [webhookId],
      );
      const open = rows.filter((row) => row.status !== 'delivered');
      if (open.length > 0) throw new Error(`${open.length} are not delivered: ${JSON.stringify(open.slice(0, 5))}`);
      return rows.map(({ event_id }) => event_id);
    },
    { timeoutMs: 120_000, intervalMs: 500 },
  );
  expect(written).toHaveLength(asked + changed);
  const bodies = new Map<string, Set<string>>();
  for (const one of receiver.received) {
    verify(secret, one);
    bodies.set(one.id, (bodies.get(one.id) ?? new Set()).add(one.body));
  }
  expect([...bodies.keys()].sort()).toEqual([...written].sort());
  expect(answered.every(({ event_id }) => bodies.has(event_id))).toBe(true);
  expect([...bodies.values()].every((versions) => versions.size === 1)).toBe(true);

  const [retried] = await database.query<{ subject_id: string }[]>(
    'select subject_id from webhook_deliveries where webhook_id = $1 and attempts = 2 limit 1',
    [webhookId],
  );
  if (retried) recordHistory(webhookWorkflowId({ webhookId, subjectId: retried.subject_id }), 'deliver-webhooks');
}, 300_000);

/** State changes as the gateway makes them; every sixth is rolled back and must not be heard of. */
async function changeFactors(clientId: string, userId: string): Promise<void> {
  for (let count = 0; count < changed + changed / 5; count += 1) {
    const rolledBack = count % 6 === 5;
    const change = database.transaction(async (manager) => {
      await manager.query(
        `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, added_by)
         values ($1, $2, 'BLACKLIST', 'ethereum', $3, $3, $4)`,
        [newId(), clientId, randomAddress(), userId],
      );
      if (rolledBack) throw new Error('rolled back');
    });
    await (rolledBack ? expect(change).rejects.toThrow('rolled back') : change);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
