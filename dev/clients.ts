import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { DataSource } from 'typeorm';
import type { ChainDefinition } from '../src/chains/types';
import { newTotpSecret, totpOwner } from '../src/mfa/totp';
import { newId } from '../src/platform/ids';
import { SecretBox } from '../src/platform/secret-box';
import { secretsKey } from './credentials';
import { readJson, getOrCreateSecret, writeJson } from './files';
import { walletFactory } from './wallet-factory';

/** Format of stack.json. */
export interface DevClient {
  name: string;
  client_id: string;
  user_id: string;
  api_key: string;
  api_secret: string;
  /** Base32; null: the user has no second factor. */
  totp_secret: string | null;
}

const names = ['demo', 'other'];
/** The user of the other client has no second factor, to test that case. */
const withTotp = 'demo';

/**
 * Two clients: one for normal use, one to test the separation of tenants. Created once; their secrets are in the data folder.
 * `totpKey`: TOTP_SECRETS_KEY of the API, by default that of the data folder.
 */
export async function seedClients(
  database: DataSource,
  secrets: string,
  totpKey = readFileSync(secretsKey(secrets, 'TOTP_SECRETS_KEY'), 'utf8'),
): Promise<DevClient[]> {
  const clients = loadOrCreateClients(secrets);
  const box = new SecretBox(totpKey, 'TOTP_SECRETS_KEY');
  await database.transaction(async (manager) => {
    for (const { name, client_id, user_id, api_key, api_secret, totp_secret } of clients) {
      await manager.query('insert into clients (client_id, name) values ($1, $2) on conflict (client_id) do nothing', [
        client_id,
        name,
      ]);
      await manager.query('insert into users (user_id, client_id, name) values ($1, $2, $3) on conflict (user_id) do nothing', [
        user_id,
        client_id,
        `${name}-user`,
      ]);
      await manager.query(
        'insert into api_keys (key_id, client_id, user_id, api_key, secret_hash) values ($1, $2, $3, $4, $5) on conflict (api_key) do nothing',
        [newId(), client_id, user_id, api_key, createHash('sha256').update(api_secret).digest()],
      );
      if (totp_secret !== null)
        await manager.query(
          'insert into user_totp (user_id, secret, confirmed_at) values ($1, $2, now()) on conflict (user_id) do nothing',
          [user_id, box.seal(totp_secret, totpOwner(user_id))],
        );
    }
  });
  return clients;
}

/** What the house pays for the client with a second factor, unless somebody has said something else: everything. */
export async function seedPolicies(
  database: DataSource,
  clients: DevClient[],
  chains: readonly ChainDefinition[],
): Promise<void> {
  const client = clients.find(({ name }) => name === withTotp);
  await database.query(
    `insert into x402_policies (client_id, chain, is_enabled, sponsors_permit, sponsors_approval, top_up_per_day, wallet_factories)
     select $1, name, true, true, true, 10 ^ 18, case when is_evm then array[$4] else '{}' end
       from unnest($2::text[], $3::boolean[]) as chains (name, is_evm) on conflict (client_id, chain) do nothing`,
    [client?.client_id, chains.map(({ name }) => name), chains.map(({ family }) => family === 'evm'), walletFactory],
  );
}

function loadOrCreateClients(secrets: string): DevClient[] {
  const file = path.join(secrets, 'clients.json');
  getOrCreateSecret(secrets, 'clients.json', () => JSON.stringify(names.map(newClient), null, 2));
  const clients = readJson<DevClient[]>(file);
  if (!clients) throw new Error(`${file} is unreadable: \`npm run dev -- --reset\` starts empty`);
  // data folders created before second factors existed
  const incomplete = clients.find(({ name, totp_secret }) => name === withTotp && totp_secret === null);
  if (incomplete) {
    incomplete.totp_secret = newTotpSecret();
    writeJson(file, clients);
  }
  return clients;
}

function newClient(name: string): DevClient {
  return {
    name,
    client_id: newId(),
    user_id: newId(),
    api_key: `gk_${randomBytes(16).toString('hex')}`,
    api_secret: randomBytes(32).toString('base64url'),
    totp_secret: name === withTotp ? newTotpSecret() : null,
  };
}
