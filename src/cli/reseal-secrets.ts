import type { DataSource, EntityManager } from 'typeorm';
import { audit } from '../audit/log';
import { totpOwner } from '../mfa/totp';
import { ConfigError } from '../platform/config';
import { inTransaction } from '../platform/database';
import type { SecretBox, SecretKeyVariable } from '../platform/secret-box';
import { webhookSecretOwner } from '../webhooks/secrets';
import { withReason } from './confirmation';
import { currentOperator } from './operator';
import { CommandFailed } from './session';

/** Secrets of one database transaction. */
const batchSecrets = 500;

/** For each kind of permanently stored secrets. */
export type ResealedBoxes = Record<'totp' | 'webhooks', SecretBox>;

interface SealedColumn {
  table: string;
  id: string;
  column: string;
  box: keyof ResealedBoxes;
  counts: 'totp_secrets' | 'webhook_secrets';
  variable: SecretKeyVariable;
  /** Derives the SecretBox owner from `id`. */
  owner: (id: string) => string;
}

const endpoint = {
  table: 'webhook_endpoints',
  id: 'webhook_id',
  box: 'webhooks',
  counts: 'webhook_secrets',
  variable: 'WEBHOOK_SECRETS_KEY',
  owner: webhookSecretOwner,
} as const;

/** All columns with permanently stored secrets. */
const sealedColumns: SealedColumn[] = [
  {
    table: 'user_totp',
    id: 'user_id',
    column: 'secret',
    box: 'totp',
    counts: 'totp_secrets',
    variable: 'TOTP_SECRETS_KEY',
    owner: totpOwner,
  },
  { ...endpoint, column: 'secret' },
  { ...endpoint, column: 'previous_secret' },
];

/** Id of the key that a secret is sealed with, in hex, as SQL (the layout is in src/platform/secret-box.ts). */
const toKeyIdSql = (column: string): string => `encode(substring(${column} from 2 for 4), 'hex')`;

export interface ResealReport {
  /** By this run. */
  totp_secrets: number;
  webhook_secrets: number;
  /** Under the first key already. */
  unchanged: number;
}

interface ResealOptions {
  /** Of the operator, for the audit log. */
  reason?: string | undefined;
  batchSize?: number;
  /** Called after each committed batch. */
  onBatch?: () => void;
}

/**
 * Encrypts every secret of the database that another key has sealed with the first key of its box, so that the other keys can be
 * removed. Safe to interrupt and to run again. Answers stored for repeated requests are not included: they are deleted after 24 hours.
 * @throws ConfigError before anything is changed, when a secret needs a key that is not configured; CommandFailed when a
 * process has sealed one with another key meanwhile.
 */
export async function resealSecrets(
  database: DataSource,
  boxes: ResealedBoxes,
  options: ResealOptions = {},
): Promise<ResealReport> {
  for (const column of sealedColumns) await assertOpenable(database, boxes[column.box], column);
  const report: ResealReport = { totp_secrets: 0, webhook_secrets: 0, unchanged: await count(database, boxes, '=') };
  for (const column of sealedColumns) report[column.counts] += await resealColumn(database, boxes[column.box], column, options);
  const others = await count(database, boxes, '<>');
  if (others > 0)
    throw new CommandFailed(
      `${others} secrets were sealed with another key meanwhile: restart the processes with the new key first, then run this again`,
    );
  return report;
}

async function resealColumn(
  database: DataSource,
  box: SecretBox,
  column: SealedColumn,
  { reason, batchSize = batchSecrets, onBatch }: ResealOptions,
): Promise<number> {
  let resealed = 0;
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const batch = await inTransaction(database, (manager) => resealBatch(manager, box, column, { after, batchSize, reason }));
    if (batch.last === null) return resealed;
    resealed += batch.resealed;
    onBatch?.();
    after = batch.last;
  }
}

async function assertOpenable(database: DataSource, box: SecretBox, { table, column, variable }: SealedColumn): Promise<void> {
  const [others] = await database.query<{ count: string }[]>(
    `select count(*) from ${table} where ${column} is not null and ${toKeyIdSql(column)} <> all ($1::text[])`,
    [box.keyIds],
  );
  if (Number(others?.count) > 0)
    throw new ConfigError(`${others?.count} secrets in ${table} need a key that is not in ${variable}: nothing was changed`);
}

/** Secrets that the first key of their box has sealed (`=`), or another one. */
async function count(database: DataSource, boxes: ResealedBoxes, comparison: '=' | '<>'): Promise<number> {
  let counted = 0;
  for (const { table, column, box } of sealedColumns) {
    const [row] = await database.query<{ count: string }[]>(
      `select count(*) from ${table} where ${toKeyIdSql(column)} ${comparison} $1`,
      [boxes[box].currentKeyId],
    );
    counted += Number(row?.count);
  }
  return counted;
}

/** One database transaction, with its audit row. `last`: the id to continue after; null at the end. */
async function resealBatch(
  manager: EntityManager,
  box: SecretBox,
  { table, id, column, owner }: SealedColumn,
  { after, batchSize, reason }: { after: string; batchSize: number; reason: string | undefined },
): Promise<{ resealed: number; last: string | null }> {
  const rows = await manager.query<{ id: string; secret: Buffer }[]>(
    `select ${id} as id, ${column} as secret from ${table}
      where ${id} > $1 and ${toKeyIdSql(column)} <> $2 order by ${id} limit $3`,
    [after, box.currentKeyId, batchSize],
  );
  let resealed = 0;
  for (const row of rows) {
    const sealed = box.seal(box.open(row.secret, owner(row.id)), owner(row.id));
    // a secret that was replaced in the meantime stays unchanged
    const [, changed] = await manager.query<[unknown, number]>(
      `update ${table} set ${column} = $3 where ${id} = $1 and ${column} = $2`,
      [row.id, row.secret, sealed],
    );
    resealed += changed;
  }
  if (resealed > 0)
    await audit(manager, {
      action: 'secrets.resealed',
      outcome: 'success',
      actor: currentOperator(),
      clientId: null,
      detail: { table, secrets: resealed, ...withReason(reason) },
    });
  return { resealed, last: rows.at(-1)?.id ?? null };
}
