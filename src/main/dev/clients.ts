import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import type { DataSource } from 'typeorm';
import { newId } from '../../platform/ids';
import { readJson, rememberedSecret } from './files';

/** As stack.json shows it. */
export interface DevClient {
  name: string;
  client_id: string;
  user_id: string;
  api_key: string;
  api_secret: string;
  /** null until TOTP exists. */
  totp_secret: string | null;
}

const names = ['demo', 'other'];

/** Two clients, one to work with and one to see that tenants do not meet. Made once; their secrets stay in the data folder. */
export async function seedClients(database: DataSource, secrets: string): Promise<DevClient[]> {
  rememberedSecret(secrets, 'clients.json', () => JSON.stringify(names.map(newClient), null, 2));
  const clients = readJson<DevClient[]>(path.join(secrets, 'clients.json'));
  if (!clients) throw new Error(`${path.join(secrets, 'clients.json')} is unreadable: \`npm run dev -- --reset\` starts empty`);
  await database.transaction(async (manager) => {
    for (const { name, client_id, user_id, api_key, api_secret } of clients) {
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
    }
  });
  return clients;
}

function newClient(name: string): DevClient {
  return {
    name,
    client_id: newId(),
    user_id: newId(),
    api_key: `gk_${randomBytes(16).toString('hex')}`,
    api_secret: randomBytes(32).toString('base64url'),
    totp_secret: null,
  };
}
