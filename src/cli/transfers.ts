import { type Command, Option } from 'commander';
import { ClientOperations } from './client-operations';
import { addTransferHistory } from './transfer-history';
import { explainSources } from './explain/sources';
import { currentOperator } from './operator';
import { TransferOperations, type TransferReport } from './transfer-operations';
import { formatAmount } from '../platform/money';
import { cancelWithdrawal } from '../settlers/withdrawals/cancel';
import { outboundStatuses, type TransactionEntity, type TransactionStatus } from '../transactions/entity';
import { cannotBeUndone, confirm, type Confirmation, hasDryRun, hasReason, type Reasoned, type Tried } from './confirmation';
import type { Run } from './run';
import { toLimit } from './options';
import { formatRow, formatRows, print, printRow, printRows, type Row } from './output';
import { addRedoCommand } from './redo';
import type { Session } from './session';
import { tryCancel, tryTransferAct } from './transfer-dry-run';

const transferRow = (tx: TransactionEntity) => ({
  tx_id: tx.txId,
  client_id: tx.clientId,
  chain: tx.chain,
  amount: formatAmount(tx.amount, tx.decimals),
  symbol: tx.tokenSymbol,
  status: tx.status,
  failure_code: tx.failureCode,
  tx_hash: tx.txHash,
  created_at: tx.createdAt,
});

const shownRow = ({ tx, retriedBy }: TransferReport): Row => ({
  ...transferRow(tx),
  from: tx.fromAddress,
  to: tx.toAddress,
  request_id: tx.requestId,
  failure: tx.failureMessage,
  retry_of: tx.retryOf,
  retried_by: retriedBy,
});

/** A transfer with its timeline and attempts, as text. */
export const formatShown = (report: TransferReport): string =>
  [formatRow(shownRow(report)), `Timeline\n${formatRows(report.timeline)}`, `Attempts\n${formatRows(report.attempts)}`].join(
    '\n\n',
  );

const whatItDoes = 'what it would do now, or why it would be refused';
const toOperations = ({ database, temporal }: Session) => new TransferOperations(database, temporal);

interface ListOptions {
  status?: TransactionStatus;
  client?: string;
  withoutWorkflow?: true;
  limit: number;
}

async function listWithoutWorkflow(session: Session, limit: number): Promise<void> {
  const { rows, isCut } = await toOperations(session).listWithoutWorkflow(limit);
  printRows(
    rows.map(({ tx, reason }) => ({ ...transferRow(tx), workflow: reason })),
    session.json,
  );
  if (isCut) process.stderr.write('There may be more: repeat the command with a higher --limit, or when these run again\n');
}

/** transfers */
export function addTransferCommands(program: Command, run: Run): void {
  const transfers = program.command('transfers').description('transfers of all clients');
  transfers
    .command('list')
    .description('list transfers, newest first')
    .addOption(new Option('--status <status>', 'only transfers in this status').choices(outboundStatuses))
    .option('--client <client>', 'only transfers of this client, by id or name')
    .addOption(
      new Option(
        '--without-workflow',
        'only those that are open, oldest first, while their workflow is not running: `retry` starts it again',
      ).conflicts(['status', 'client']),
    )
    .option('--limit <number>', 'maximum number of transfers', toLimit, 50)
    .action(
      run(async (session, options: ListOptions) => {
        if (options.withoutWorkflow) return listWithoutWorkflow(session, options.limit);
        const { status, client: reference, limit } = options;
        const client = reference === undefined ? undefined : await new ClientOperations(session.database).findClient(reference);
        const filter = { limit, ...(status && { status }), ...(client && { clientId: client.clientId }) };
        const operations = toOperations(session);
        const rows = await operations.list(filter);
        const redone = await operations.findRedone(rows);
        const linkOf = ({ txId, retryOf }: TransactionEntity) => ({ retry_of: retryOf, retried_by: redone.get(txId) ?? null });
        printRows(
          rows.map((tx) => ({ ...transferRow(tx), ...linkOf(tx) })),
          session.json,
        );
      }),
    );
  transfers
    .command('show <tx-id>')
    .description('show a transfer with its timeline and signed attempts')
    .action(
      run(async (session, txId: string) => {
        const report = await toOperations(session).show(txId);
        const { timeline, attempts } = report;
        print(session.json ? JSON.stringify({ ...shownRow(report), timeline, attempts }, null, 2) : formatShown(report));
      }),
    );
  addTransferHistory(transfers, run);
  hasDryRun(hasReason(transfers.command('retry <tx-id>')), whatItDoes)
    .description(
      'resume a transfer that waits for an operator, or start its lost workflow again; prints the answer of the workflow',
    )
    .action(
      run(async (session, txId: string, { reason, dryRun }: Reasoned & Tried) => {
        if (dryRun) return printRow(await tryTransferAct(explainSources(session), txId, 'retry'), session.json);
        printRow({ tx_id: txId, status: await toOperations(session).retry(txId, reason) }, session.json);
      }),
    );
  addRedoCommand(transfers, run);
  hasDryRun(cannotBeUndone(transfers.command('abandon <tx-id>')), whatItDoes)
    .description(
      'abandon a parked transfer whose signing has begun; it ends once no attempt can be executed any more; prints the answer of the workflow',
    )
    .action(
      run(async (session, txId: string, confirmation: Confirmation & Tried) => {
        if (confirmation.dryRun) return printRow(await tryTransferAct(explainSources(session), txId, 'abandon'), session.json);
        await confirm(`abandon transfer ${txId}`, confirmation);
        const status = await toOperations(session).abandon(txId, confirmation.reason);
        printRow({ tx_id: txId, status }, session.json);
      }),
    );
  hasDryRun(cannotBeUndone(transfers.command('cancel <tx-id>')), whatItDoes)
    .description(
      'cancel a withdrawal from a settler whose signing has not begun, or that is not made yet: what it holds is unlocked, and another one can be asked for. Transfers of clients are cancelled by their client',
    )
    .action(
      run(async (session, txId: string, confirmation: Confirmation & Tried) => {
        if (confirmation.dryRun) return printRow(await tryCancel(explainSources(session), txId), session.json);
        await confirm(`cancel withdrawal ${txId}`, confirmation);
        const cancellation = { txId, actor: currentOperator(), statedReason: confirmation.reason };
        await cancelWithdrawal(session.database, cancellation);
        printRow({ tx_id: txId, status: 'CANCELLED' }, session.json);
      }),
    );
}
