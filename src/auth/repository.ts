import type { DataSource } from 'typeorm';
import type { Caller } from '../http/context';

export interface Credential extends Caller {
  secretHash: Buffer;
  /** Why the key is not usable; null when it is. */
  disabled: 'key_revoked' | 'user_disabled' | 'client_disabled' | null;
}

interface CredentialRow {
  key_id: string;
  client_id: string;
  user_id: string;
  secret_hash: Buffer;
  disabled: Credential['disabled'];
}

/** Usable API keys: not revoked, of an active user of an active client. */
const usable = /* sql */ `
  from api_keys k
  join users u on u.user_id = k.user_id and u.client_id = k.client_id and u.status = 'ACTIVE'
  join clients c on c.client_id = k.client_id and c.status = 'ACTIVE'
 where k.revoked_at is null`;

export class CredentialRepository {
  constructor(private readonly database: DataSource) {}

  /** Also finds keys that are not usable: see `disabled`. */
  async findByApiKey(apiKey: string): Promise<Credential | null> {
    const [row] = await this.database.query<CredentialRow[]>(
      `select k.key_id, k.client_id, k.user_id, k.secret_hash,
              case when k.revoked_at is not null then 'key_revoked'
                   when u.status <> 'ACTIVE' then 'user_disabled'
                   when c.status <> 'ACTIVE' then 'client_disabled' end as disabled
         from api_keys k join users u using (user_id) join clients c on c.client_id = k.client_id
        where k.api_key = $1`,
      [apiKey],
    );
    if (!row) return null;
    const { key_id: keyId, client_id: clientId, user_id: userId, secret_hash: secretHash, disabled } = row;
    return { keyId, clientId, userId, secretHash, disabled };
  }

  /** Whether the key of a token exists for its user and client and is usable. */
  async isUsable({ keyId, clientId, userId }: Caller): Promise<boolean> {
    const rows = await this.database.query<unknown[]>(
      `select 1 ${usable} and k.key_id = $1 and k.client_id = $2 and k.user_id = $3`,
      [keyId, clientId, userId],
    );
    return rows.length > 0;
  }
}
