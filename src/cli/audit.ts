import { type Command, InvalidArgumentError, Option } from 'commander';
import { type AuditHead, genesisHash } from '../audit/chain';
import { type AuditFilter, type AuditRow, listAuditLog } from '../audit/list';
import { auditActions } from '../audit/log';
import { auditHead } from '../audit/reader';
import { type AuditFinding, type AuditReport, verifyAuditLog } from '../audit/verify';
import { ClientOperations } from './client-operations';
import type { Run } from './run';
import { toLimit } from './options';
import { formatRows, print, printRow, printRows } from './output';
import { CommandFailed, type Session } from './session';

const findingRow = ({ auditId, seal, problem }: AuditFinding) => ({ audit_id: auditId, seal, problem });

/** audit */
export function addAuditCommands(program: Command, run: Run): void {
  const audit = program.command('audit').description('the audit log and the hash chain that seals it');
  audit
    .command('list')
    .description('list audit events, newest first')
    .option('--client <client>', 'only events of this client, by id or name')
    .addOption(new Option('--action <action>', 'only events with this action').choices(auditActions))
    .option('--actor <id>', 'only events of this user or operator')
    .option('--subject <id>', 'only events about this wallet, transaction, key …')
    .addOption(new Option('--outcome <outcome>', 'only events with this outcome').choices(['success', 'refused']))
    .option('--since <time>', 'only events at or after this time, such as 2025-01-31 or 2025-01-31T08:00:00Z', toTime)
    .option('--until <time>', 'only events before this time', toTime)
    .option('--limit <number>', 'maximum number of events', toLimit, 50)
    .action(run(list));
  audit
    .command('verify')
    .description('recompute the hash chain from the rows; exit code 1 if rows were changed, removed, inserted or reordered')
    .option(
      '--head <seq:hash>',
      'a head that was stored elsewhere: the chain must still contain it (can be repeated)',
      toHeads,
      [],
    )
    .action(run((session, options: { head: AuditHead[] }) => verify(session, options.head)));
  audit
    .command('head')
    .description('show the newest seal: store it elsewhere and pass it to verify later')
    .action(
      run(async ({ database, json }) => {
        const head = await auditHead(database.manager);
        const { seq, hash, sealedAt } = head ?? { seq: 0, hash: genesisHash, sealedAt: null };
        printRow({ seq, hash, sealed_at: sealedAt, head: `${seq}:${hash}` }, json);
      }),
    );
}

type ListOptions = Omit<AuditFilter, 'clientId'> & { client?: string };

async function list({ database, json }: Session, { client: reference, ...filter }: ListOptions): Promise<void> {
  const client = reference === undefined ? undefined : await new ClientOperations(database).findClient(reference);
  const rows = await listAuditLog(database.manager, { ...filter, ...(client && { clientId: client.clientId }) });
  if (json) return print(JSON.stringify(rows, null, 2));
  print(formatAuditRows(rows));
}

/** Audit events as an aligned table. */
export const formatAuditRows = (rows: readonly AuditRow[]): string =>
  formatRows(
    rows.map((row) => ({
      at: row.at,
      action: row.action,
      outcome: row.outcome,
      actor: `${row.actor_type} ${row.actor_id}`,
      client_id: row.client_id,
      subject: row.subject_id && `${row.subject_type ?? ''} ${row.subject_id}`,
      detail: Object.entries(row.detail)
        .map(([name, value]) => `${name}=${String(value)}`)
        .join(' '),
      audit_id: row.audit_id,
    })),
  );

async function verify({ database, json }: Session, heads: AuditHead[]): Promise<void> {
  const report = await verifyAuditLog(database, heads);
  const { findings, found, events, seals, waiting, head } = report;
  const counts = { events, seals, waiting, head: `${head.seq}:${head.hash}` };
  if (json) print(JSON.stringify({ ...counts, found, findings: findings.map(findingRow) }, null, 2));
  else printReport(report, counts);
  if (found > 0) throw new CommandFailed(found === 1 ? '1 finding' : `${found} findings`);
}

function printReport({ findings, found }: AuditReport, counts: Record<string, string | number>): void {
  printRow(counts, false);
  if (found === 0) return print('\nthe audit log matches its seals');
  print('');
  printRows(findings.map(findingRow), false);
  if (found > findings.length) print(`… and ${found - findings.length} more`);
}

function toTime(text: string): Date {
  const time = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(text) ? new Date(text) : undefined;
  if (!time || Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('must be a time such as 2025-01-31 (UTC) or 2025-01-31T08:00:00Z');
  return time;
}

function toHeads(text: string, before: AuditHead[]): AuditHead[] {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw new InvalidArgumentError('must be a head as shown by `gateway audit head`: number:hash');
  return [...before, { seq: Number(seq), hash }];
}
