import type { DataSource } from 'typeorm';
import type { Deliveries, Delivery, OutboxMessage } from '../../outbox/outbox';
import { belowStoredTrace } from '../../outbox/request-traces';
import type { Logger } from '../../platform/logging';
import type { TransactionType } from '../../transactions/types';
import type { StartLimits } from './start-limits';
import type { StartedTransfer, TransferWorkflows } from './workflows';

export interface TransferDeliveryDependencies {
  database: DataSource;
  workflows: TransferWorkflows;
  starts: StartLimits;
  log: Logger;
}

interface SubjectRow {
  client_id: string;
  account_id: string | null;
  chain: string;
  transaction_type: TransactionType;
  token_symbol: string;
  wallet_id: string | null;
  amount: string;
  decimals: number;
  from_address: string;
  to_address: string;
  request_id: string | null;
  retry_of: string | null;
  ended: boolean;
  unstarted: boolean;
}

/** Works one after another, in the order of the calls, whatever becomes of earlier ones. */
type InOrder = <T>(work: () => Promise<T>) => Promise<T>;

/** How the outbox starts the workflows of transfers and signals them what was decided in the database. */
export function transferDeliveries(deps: TransferDeliveryDependencies): Omit<Deliveries, 'start_key_generation'> {
  let last: Promise<unknown> = Promise.resolve();
  const inOrder: InOrder = (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
  return {
    start_transfer: (message) => start(deps, inOrder, message),
    transfer_approved: ({ subjectId }) => notify(deps, subjectId, 'approved'),
    transfer_ended: ({ subjectId }) => notify(deps, subjectId, 'ended'),
  };
}

/** Messages take room in their order, however long their subjects take to read. */
async function start(
  { database, workflows, starts, log }: TransferDeliveryDependencies,
  inOrder: InOrder,
  { subjectId: txId, clientId, chain = '' }: OutboxMessage,
): Promise<Delivery> {
  const reading = findSubject(database, txId);
  // it may fail before its turn has come
  reading.catch(() => undefined);
  const admitted = await inOrder(async () => {
    const subject = await reading;
    if (!subject.ended && (await starts.isBehindParked(database.manager, subject))) return 'postponed';
    const room = await starts.take(database.manager, chain, clientId);
    return room === 'taken' ? subject : room === 'none' ? 'later' : 'client_later';
  });
  if (typeof admitted === 'string') return admitted;
  try {
    const started = await belowStoredTrace(database, txId, () => workflows.start(toStart(txId, admitted)));
    if (started === 'closed' && !(await findSubject(database, txId)).ended) alarm(log, txId);
    return 'delivered';
  } catch (error) {
    starts.giveBack(chain, clientId);
    throw error;
  }
}

/**
 * A workflow that has not started yet will read the row instead of the signal. The row is read first: a start in between must not
 * look like a missing workflow.
 */
async function notify(
  { database, workflows, log }: TransferDeliveryDependencies,
  txId: string,
  news: 'approved' | 'ended',
): Promise<'delivered'> {
  const { unstarted } = await findSubject(database, txId);
  const outcome = await workflows.signal(txId, news);
  if (outcome === 'gone' && !unstarted && !(await findSubject(database, txId)).ended) alarm(log, txId);
  return 'delivered';
}

async function findSubject(database: DataSource, txId: string): Promise<SubjectRow> {
  const [row] = await database.query<SubjectRow[]>(
    `select client_id, account_id, wallet_id, chain, transaction_type, token_symbol, amount, decimals, from_address, to_address, request_id, retry_of, ended_at is not null as ended,
            exists (select from workflow_outbox where kind = 'start_transfer' and subject_id = tx_id) as unstarted
       from transactions where tx_id = $1`,
    [txId],
  );
  if (!row) throw new Error(`the outbox names transfer ${txId}, which does not exist`);
  return row;
}

const toStart = (txId: string, row: SubjectRow): StartedTransfer => ({
  txId,
  clientId: row.client_id,
  chain: row.chain,
  tokenSymbol: row.token_symbol,
  walletId: row.wallet_id,
  transactionType: row.transaction_type,
  amount: BigInt(row.amount),
  decimals: row.decimals,
  fromAddress: row.from_address,
  toAddress: row.to_address,
  requestId: row.request_id,
  retryOf: row.retry_of,
});

function alarm(log: Logger, txId: string): void {
  log.error(
    { alert: 'transfer_without_workflow', tx_id: txId },
    'a transfer is open and its workflow has closed: `gateway transfers retry` starts it again',
  );
}
