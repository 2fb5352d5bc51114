import type { DataSource } from 'typeorm';
import { audit } from '../audit/log';
import { totpOwner } from '../mfa/totp';
import type { SecretBox } from '../platform/secret-box';
import { webhookSecretOwner } from '../webhooks/secrets';
import { currentOperator } from './operator';

const batchSize = 500;

/** For each kind of permanently stored secrets. */
export type ResealedBoxes = Record<'totp' | 'webhooks', SecretBox>;

/** All columns with permanently stored secrets; `owner` derives the SecretBox owner from `id`. */
const sealedColumns = [
  { table: 'user_totp', id: 'user_id', column: 'secret', box: 'totp', owner: totpOwner },
  { table: 'webhook_endpoints', id: 'webhook_id', column: 'secret', box: 'webhooks', owner: webhookSecretOwner },
  { table: 'webhook_endpoints', id: 'webhook_id', column: 'previous_secret', box: 'webhooks', owner: webhookSecretOwner },
] as const;

/**
 * Encrypts every secret of the database again with the first key of its box, so that the other keys can be removed. Answers stored for
 * repeated webhook requests are not included: they are deleted after 24 hours. Returns the number of secrets.
 * @throws Error when a secret needs a key that is not configured.
 */
export async function resealSecrets(database: DataSource, boxes: ResealedBoxes): Promise<number> {
  let resealed = 0;
  for (const column of sealedColumns) resealed += await resealColumn(database, boxes[column.box], column);
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
  { table, id, column, owner }: (typeof sealedColumns)[number],
): Promise<number> {
  let resealed = 0;
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const rows = await database.query<{ id: string; secret: Buffer }[]>(
      `select ${id} as id, ${column} as secret from ${table} where ${id} > $1 and ${column} is not null order by ${id} limit $2`,
      [after, batchSize],
    );
    for (const row of rows) {
      const sealed = box.seal(box.open(row.secret, owner(row.id)), owner(row.id));
      // a secret that was replaced in the meantime stays unchanged
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
