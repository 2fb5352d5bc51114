import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { DataSource } from 'typeorm';
import { secretsKey } from '../../dev/credentials';
import { ApiClient } from '../stack/api-client';
import { devPaths } from '../../dev/paths';
import { ApiKeyEntity } from '../../src/auth/entity';
import { hashSecret } from '../../src/auth/service';
import { newId } from '../../src/platform/ids';
import { SecretBox } from '../../src/platform/secret-box';
import { buildClient, buildTotp, buildUser, totpCode } from '../factories';
import { dataFolder, stack } from '../stack/client';

/** Users with a second factor, which a test adds and takes away. */

export interface TestUser {
  api: ApiClient;
  clientId: string;
  userId: string;
  /** Good once, as the next one. */
  code: string;
  nextCode: () => string;
}

/** A code is good from one step before its time on. */
const stepMs = 30_000;
const stepNow = (): number => Math.floor(Date.now() / stepMs);

const users: string[] = [];

/** Of a new client unless one is given; requests go through the API. */
export async function newUser(database: DataSource, ofClient?: string): Promise<TestUser> {
  const box = new SecretBox(
    readFileSync(secretsKey(devPaths(dataFolder()).secrets, 'TOTP_SECRETS_KEY'), 'utf8'),
    'TOTP_SECRETS_KEY',
  );
  const client = ofClient === undefined ? await buildClient(database) : { clientId: ofClient };
  const user = await buildUser(database, client);
  const [apiKey, apiSecret] = [`key_${newId()}`, randomBytes(32).toString('base64url')];
  const { clientId } = client;
  const { userId } = user;
  users.push(userId);
  await database.manager.insert(ApiKeyEntity, { keyId: newId(), clientId, userId, apiKey, secretHash: hashSecret(apiSecret) });
  const secret = await buildTotp(database, box, user);
  const api = new ApiClient(stack().base_url, { api_key: apiKey, api_secret: apiSecret });
  const usedAt = stepNow();
  return { api, clientId, userId, code: totpCode(secret), nextCode: () => totpCode(secret, stepNow() > usedAt ? 0 : 1) };
}

/** A client with a second approver does not let requesters approve, as other tests do. */
export const forgetUsers = (database: DataSource): Promise<unknown> =>
  database.query('delete from user_totp where user_id = any($1)', [users]);

/** With the user's code. */
export async function newWebhook({ api, code }: TestUser, url: string, events: string[] | null) {
  const { status: answered, body } = await api.request<{ webhook_id: string; secret: string }>('POST', '/webhooks', {
    body: { url, events, mfa_code: code },
  });
  expect(answered).toBe(201);
  return { webhookId: body.webhook_id, secret: body.secret };
}

/** From events of other tests; in the database, since a second factor would have to wait for its next code. */
export const unsubscribe = (database: DataSource, url: string): Promise<unknown> =>
  database.query(
    `update webhook_endpoints set status = 'disabled', disabled_reason = 'client', disabled_at = now() where url = $1`,
    [url],
  );
