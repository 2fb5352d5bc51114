import type { DataSource } from 'typeorm';
import { audit } from '../audit/log';
import { totpOwner } from '../mfa/totp';
import type { SecretBox } from '../platform/secret-box';
import { webhookSecretOwner } from '../webhooks/secrets';
import { currentOperator } from './operator';

const batch = 500;

/** Every column that holds sealed secrets for good; `id` names the row and, by `owner`, its purpose. */
const places = [
  { table: 'user_totp', id: 'user_id', column: 'secret', owner: totpOwner },
  { table: 'webhook_endpoints', id: 'webhook_id', column: 'secret', owner: webhookSecretOwner },
  { table: 'webhook_endpoints', id: 'webhook_id', column: 'previous_secret', owner: webhookSecretOwner },
] as const;

/**
 * Seals every secret of the database anew under the first key of SECRETS_KEY, so that the others can go. Answers of webhook requests
 * that are kept for repeated ones are not: they are gone after 24 hours. Returns how many there were.
 * @throws Error when one is sealed under a key that is not given.
 */
export async function resealSecrets(database: DataSource, box: SecretBox): Promise<number> {
  let resealed = 0;
  for (const place of places) resealed += await resealColumn(database, box, place);
  await audit(database.manager, {
    action: 'secrets.resealed',
    outcome: 'success',
    actor: currentOperator(),
    clientId: null,
    detail: { secrets: resealed },
  });
  return resealed;
}

async function resealColumn(
  database: DataSource,
  box: SecretBox,
  { table, id, column, owner }: (typeof places)[number],
): Promise<number> {
  let resealed = 0;
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const rows = await database.query<{ id: string; secret: Buffer }[]>(
      `select ${id} as id, ${column} as secret from ${table} where ${id} > $1 and ${column} is not null order by ${id} limit $2`,
      [after, batch],
    );
    for (const row of rows) {
      const sealed = box.seal(box.open(row.secret, owner(row.id)), owner(row.id));
      // one that was replaced meanwhile is left alone
      await database.query(`update ${table} set ${column} = $3 where ${id} = $1 and ${column} = $2`, [
        row.id,
        row.secret,
        sealed,
      ]);
    }
    resealed += rows.length;
    const last = rows.at(-1);
    if (!last) return resealed;
    after = last.id;
  }
}
