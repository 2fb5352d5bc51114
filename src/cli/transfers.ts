import { type Command, Option } from 'commander';
import { verifyLedger } from '../ledger/verify';
import { ClientOperations } from './client-operations';
import { registerSearchAttributes } from './search-attributes';
import { TransferOperations } from './transfer-operations';
import { formatAmount } from '../platform/money';
import { outboundStatuses, type TransactionEntity, type TransactionStatus } from '../transactions/entity';
import type { Run } from './run';
import { toLimit } from './options';
import { print, printRow, printRows } from './output';
import { Finding, type Session } from './session';

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
const toOperations = ({ database, temporal }: Session) => new TransferOperations(database, temporal);

/** transfers, ledger, migrate, temporal */
export function addOperatorCommands(program: Command, run: Run): void {
  addTransferCommands(program.command('transfers').description('transfers of all clients'), run);
  program
    .command('ledger')
    .description('the double-entry ledger')
    .command('verify')
    .description('check that the books balance; exit code 1 when they do not')
    .action(run(verify));
  program
    .command('migrate')
    .description('bring the database schema up to date')
    .action(
      run(async ({ database, json }) => {
        const applied = await database.runMigrations({ transaction: 'each' });
        if (json)
          printRows(
            applied.map(({ name }) => ({ name })),
            true,
          );
        else print(applied.length === 0 ? 'the schema is up to date' : `applied: ${applied.map(({ name }) => name).join(', ')}`);
      }),
    );
  program
    .command('temporal')
    .description('the workflow service')
    .command('setup')
    .description('register the search attributes')
    .action(
      run(async ({ temporal, json }) => {
        const added = await registerSearchAttributes(temporal);
        if (json)
          printRows(
            added.map((name) => ({ name })),
            true,
          );
        else print(added.length === 0 ? 'all search attributes are registered' : `registered: ${added.join(', ')}`);
      }),
    );
}

async function verify({ database, json }: Session): Promise<void> {
  const differences = await verifyLedger(database.manager);
  if (differences.length === 0) return json ? printRows([], true) : print('the ledger balances');
  printRows(
    differences.map(({ check, subject, expected, actual }) => ({ check, subject, expected, actual })),
    json,
  );
  throw new Finding(differences.length === 1 ? '1 difference' : `${differences.length} differences`);
}

function addTransferCommands(transfers: Command, run: Run): void {
  transfers
    .command('list')
    .description('list transfers, newest first')
    .addOption(new Option('--status <status>', 'in this status only').choices(outboundStatuses))
    .option('--client <client>', 'of this client only, by id or name')
    .option('--limit <number>', 'how many', toLimit, 50)
    .action(
      run(async (session, options: { status?: TransactionStatus; client?: string; limit: number }) => {
        const { status, client: reference, limit } = options;
        const client = reference === undefined ? undefined : await new ClientOperations(session.database).findClient(reference);
        const filter = { limit, ...(status && { status }), ...(client && { clientId: client.clientId }) };
        printRows((await toOperations(session).list(filter)).map(transferRow), session.json);
      }),
    );
  transfers
    .command('show <tx-id>')
    .description('show a transfer with its timeline and signed attempts')
    .action(
      run(async (session, txId: string) => {
        const { tx, timeline, attempts } = await toOperations(session).show(txId);
        const row = {
          ...transferRow(tx),
          from: tx.fromAddress,
          to: tx.toAddress,
          request_id: tx.requestId,
          failure: tx.failureMessage,
        };
        if (session.json) return print(JSON.stringify({ ...row, timeline, attempts }, null, 2));
        printRow(row, false);
        print('\nTimeline');
        printRows(timeline, false);
        print('\nAttempts');
        printRows(attempts, false);
      }),
    );
  transfers
    .command('retry <tx-id>')
    .description('let a transfer that NEEDS_ATTENTION go on')
    .action(
      run(async (session, txId: string) =>
        printRow({ tx_id: txId, status: await toOperations(session).retry(txId) }, session.json),
      ),
    );
  transfers
    .command('release <tx-id>')
    .description('give up a transfer that NEEDS_ATTENTION after its signing has begun: a cancellation uses up its nonce')
    .action(
      run(async (session, txId: string) =>
        printRow({ tx_id: txId, status: await toOperations(session).release(txId) }, session.json),
      ),
    );
}
