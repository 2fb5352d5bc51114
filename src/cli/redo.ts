import { type Command, Option } from 'commander';
import { failureCodes } from '../platform/codes';
import { GatewayError } from '../platform/errors';
import { formatAmount } from '../platform/money';
import type { TransactionEntity } from '../transactions/entity';
import { ClientOperations } from './client-operations';
import { cannotBeUndone, confirm, type Confirmation, hasDryRun, type Tried } from './confirmation';
import { integer, toDurationMs } from './options';
import { formatRows, print, printRow, printRows, type Row } from './output';
import { findRedoable, readRedoable, type Redoable, redoTransfer, type RedoOptions, type RedoResult } from './redo-operations';
import type { Run } from './run';
import { CommandFailed, type Session } from './session';

/** The API looks for requests twice a second. */
const waitMs = 20_000;
const mostAtOnce = 100;

interface Options extends Confirmation, RedoOptions, Tried {
  all?: true;
  code?: string;
  since?: number;
  client?: string;
  limit: number;
}

/** transfers redo */
export function addRedoCommand(transfers: Command, run: Run): void {
  hasDryRun(cannotBeUndone(transfers.command('redo [tx-id]')), 'what would be redone')
    .description(
      'make a new transfer in place of one that has ended FAILED, REJECTED or CANCELLED and can no longer be executed, by the rules of POST /transfer ' +
        'at this moment; once for each. With --all: of those that have ended with a code',
    )
    .option('--despite-similar', 'also if the client has paid the same amount to the same address since then')
    .option('--all', 'every transfer that --code and --since find and that was not redone yet')
    .addOption(
      new Option('--code <failure_code>', 'with --all: only those that have ended with this code').choices(
        Object.keys(failureCodes),
      ),
    )
    .option('--since <time>', 'with --all: only those that have ended in this time, such as 30m, 24h or 7d', toDurationMs)
    .option('--client <client>', 'with --all: only transfers of this client, by id or name')
    .option('--limit <number>', `with --all: at most so many, up to ${mostAtOnce}`, integer(1, mostAtOnce), 20)
    .action(
      run((session, txId: string | undefined, options: Options) => {
        if (options.all ? txId !== undefined : txId === undefined)
          throw new CommandFailed('name one transfer, or --all with --code and --since');
        if (txId !== undefined && [options.code, options.since, options.client].some((filter) => filter !== undefined))
          throw new CommandFailed('--code, --since and --client are for --all');
        if (txId === undefined && options.despiteSimilar) throw new CommandFailed('--despite-similar is for one transfer');
        return txId === undefined ? redoAll(session, options) : redoOne(session, txId, options);
      }),
    );
}

async function redoOne({ database, json }: Session, txId: string, options: Options): Promise<void> {
  const found = await readRedoable(database.manager, txId, options);
  const { tx, made, refusal } = found;
  if (made) return printRow(toMadeRow(txId, made), json);
  if (refusal) throw refusal;
  if (options.dryRun) return printRow(toListed(found), json);
  await confirm(`redo transfer ${txId}: pay ${describe(tx)} to ${tx.toAddress} by a new transfer`, options);
  const result = await redoTransfer({ database, waitMs, ...options }, tx);
  printRow(toResultRow(txId, result), json);
  if (result.outcome === 'requested') throw new CommandFailed(notYet);
}

const notYet =
  'the API has not carried it out yet; it tries for 10 minutes. See `gateway transfers show <tx-id>` (retried_by), or repeat the command';

async function redoAll(session: Session, options: Options): Promise<void> {
  const { database, json } = session;
  const { code, since: sinceMs, client, limit } = options;
  if (code === undefined || sinceMs === undefined) throw new CommandFailed('--all needs --code and --since');
  const clientId = client === undefined ? undefined : (await new ClientOperations(database).findClient(client)).clientId;
  const found = await findRedoable(database.manager, { code, sinceMs, limit, ...(clientId !== undefined && { clientId }) });
  const possible = found.filter(({ refusal }) => refusal === null);
  const listed = found.map(toListed);
  const totals = sumUp(possible);
  if (!json) print(formatFound(found));
  const results = options.dryRun || possible.length === 0 ? [] : await redoEach(session, possible, totals, options);
  if (json) print(JSON.stringify({ transfers: listed, totals, results }, null, 2));
  else if (results.length > 0) {
    print('\nResults');
    printRows(results, false);
  }
  const left = options.dryRun ? 0 : found.length - results.filter(({ outcome }) => outcome === 'redone').length;
  if (left > 0) throw new CommandFailed(`${left} of ${found.length} were not redone`);
}

async function redoEach({ database }: Session, possible: Redoable[], totals: Row[], options: Options): Promise<Row[]> {
  const sums = totals.map(({ amount, symbol, chain }) => `${String(amount)} ${String(symbol)} on ${String(chain)}`).join(', ');
  await confirm(`redo ${possible.length} transfers, which pay ${sums}`, options);
  const rows: Row[] = [];
  let isAnswering = true;
  for (const { tx } of possible) {
    if (!isAnswering) {
      rows.push({ tx_id: tx.txId, outcome: 'not asked for', retried_by: null, reason: 'the API does not answer' });
      continue;
    }
    const row = await redoTransfer({ database, waitMs, ...options }, tx).then(toRow, toRefused);
    isAnswering = row['outcome'] !== 'requested';
    rows.push({ tx_id: tx.txId, ...row });
  }
  return rows;
}

/** Of one that has been redone before. */
export const toMadeRow = (txId: string, { txId: retriedBy, status }: TransactionEntity): Row => ({
  ...{ tx_id: txId, outcome: 'redone before', retried_by: retriedBy, status },
});

export const toResultRow = (txId: string, result: RedoResult): Row => ({ tx_id: txId, ...toRow(result) });

/** What `--all` has found, as text, and what those that may be redone would pay. */
export const formatFound = (found: readonly Redoable[]): string => {
  const totals = sumUp(found.filter(({ refusal }) => refusal === null));
  return `${formatRows(found.map(toListed))}\n\nTotals of what would be redone\n${formatRows(totals)}`;
};

const toRow = ({ outcome, newTxId, waitsFor }: RedoResult): Row => ({ outcome, retried_by: newTxId, reason: waitsFor });

/** One that is refused keeps no other from being redone. @throws what is no refusal. */
function toRefused(error: unknown): Row {
  if (!(error instanceof GatewayError) || error.retryable) throw error;
  return { outcome: 'refused', retried_by: null, reason: `${error.code}: ${error.message}` };
}

const describe = ({ amount, decimals, tokenSymbol, chain }: TransactionEntity): string =>
  `${formatAmount(amount, decimals)} ${tokenSymbol} on ${chain}`;

const toListed = ({ tx, refusal }: Redoable): Row => ({
  tx_id: tx.txId,
  client_id: tx.clientId,
  chain: tx.chain,
  amount: formatAmount(tx.amount, tx.decimals),
  symbol: tx.tokenSymbol,
  to: tx.toAddress,
  status: tx.status,
  ended_at: tx.endedAt,
  left_out: refusal && refusal.message,
});

/** Per asset. */
function sumUp(found: readonly Redoable[]): Row[] {
  const sums = new Map<string, { chain: string; symbol: string; decimals: number; amount: bigint; count: number }>();
  for (const { tx } of found) {
    const { chain, tokenSymbol: symbol, decimals, amount } = tx;
    const sum = sums.get(`${chain}/${symbol}`) ?? { chain, symbol, decimals, amount: 0n, count: 0 };
    sums.set(`${chain}/${symbol}`, { ...sum, amount: sum.amount + amount, count: sum.count + 1 });
  }
  return [...sums.values()].map(({ chain, symbol, decimals, amount, count }) => ({
    ...{ chain, symbol, transfers: count, amount: formatAmount(amount, decimals) },
  }));
}
