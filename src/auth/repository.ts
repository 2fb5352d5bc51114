import type { DataSource } from 'typeorm';
import type { Caller } from '../http/context';

export interface Credential extends Caller {
  secretHash: Buffer;
}

interface CredentialRow {
  key_id: string;
  client_id: string;
  user_id: string;
  secret_hash: Buffer;
}

/** API keys that count: not revoked, of an active user of an active client. */
const usable = /* sql */ `
  from api_keys k
  join users u on u.user_id = k.user_id and u.client_id = k.client_id and u.status = 'ACTIVE'
  join clients c on c.client_id = k.client_id and c.status = 'ACTIVE'
 where k.revoked_at is null`;

export class CredentialRepository {
  constructor(private readonly database: DataSource) {}

  async findByApiKey(apiKey: string): Promise<Credential | null> {
    const [row] = await this.database.query<CredentialRow[]>(
      `select k.key_id, k.client_id, k.user_id, k.secret_hash ${usable} and k.api_key = $1`,
      [apiKey],
    );
    return row ? { keyId: row.key_id, clientId: row.client_id, userId: row.user_id, secretHash: row.secret_hash } : null;
  }

  /** Whether what a token says of its key, user and client still holds. */
  async isUsable({ keyId, clientId, userId }: Caller): Promise<boolean> {
    const rows = await this.database.query<unknown[]>(
      `select 1 ${usable} and k.key_id = $1 and k.client_id = $2 and k.user_id = $3`,
      [keyId, clientId, userId],
    );
    return rows.length > 0;
  }
}
