import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { type DataSource, In } from 'typeorm';
import { abandonUpdate, retryUpdate } from '../messages/transfer';
import { transferWorkflowId } from '../messages/workflow-ids';
import { audit, type AuditAction } from '../audit/log';
import { isOpenRun, withinMs } from '../platform/temporal';
import { mapBounded } from '../platform/map-bounded';
import { GatewayError } from '../platform/errors';
import { newId } from '../platform/ids';
import { getSignedType } from '../signed-types';
import { TransactionEntity, type TransactionStatus } from '../transactions/entity';
import { findTimeline, type Timeline } from '../transactions/shown-rows';
import { loadAttempts } from '../transfers/load-attempts';
import { operatorActId } from '../transfers/operate/operator-acts';
import { findRedo } from '../transfers/redo/rules';
import { recordAbandonRequest, withdrawAbandonRequest } from '../transfers/operate/operator-requests';
import { lowestId, findClosed, findStarted, findUnended, type LostReason } from '../transfers/start/lost-workflows';
import { startTransferWorkflow } from '../transfers/start/workflows';
import { withReason } from './confirmation';
import { findTransfer } from './find-transfer';
import { currentOperator } from './operator';
import { whyNotAbandoned, whyNotStartedAgain } from './transfer-preconditions';

const updateTimeoutMs = 15_000;
/** Open transfers of whose workflow Temporal is asked: at most 10,000. */
const pageSize = 100;
const maxPages = 100;
const askedAtOnce = 10;

/** Open, and its workflow is not running. */
export interface LostTransfer {
  tx: TransactionEntity;
  reason: LostReason;
}

export interface TransferFilter {
  clientId?: string;
  status?: TransactionStatus;
  limit: number;
}

export interface TransferReport {
  tx: TransactionEntity;
  /** The transfer that stands in its place. */
  retriedBy: string | null;
  timeline: Timeline;
  attempts: {
    attempt: number;
    kind: string;
    /** What it uses up on the chain (a nonce, inputs), separated by commas. */
    resources: string;
    /** Transaction of the chain; null as long as it is not signed, or as nobody has carried it out. */
    tx_hash: string | null;
    /** What the account has signed, where somebody else sends it; null: it is sent by the gateway. */
    digest: string | null;
    broadcast_at: Date | null;
    block_number: string | null;
  }[];
}

/** Operations on transfers of all clients. */
export class TransferOperations {
  constructor(
    private readonly database: DataSource,
    private readonly temporal: Client,
  ) {}

  list({ clientId, status, limit }: TransferFilter): Promise<TransactionEntity[]> {
    const where = {
      isSigned: true,
      ...(clientId !== undefined && { clientId }),
      ...(status !== undefined && { status }),
    };
    return this.database.manager.find(TransactionEntity, { where, order: { txId: 'DESC' }, take: limit });
  }

  /**
   * Open transfers whose workflow is not running, oldest first, with how it has closed. `isCut`: there may be more, since that many were
   * found or asked about.
   * @throws Error when Temporal does not respond.
   */
  async listWithoutWorkflow(limit: number): Promise<{ rows: LostTransfer[]; isCut: boolean }> {
    const { manager } = this.database;
    const lost: { txId: string; reason: LostReason }[] = [];
    let after = lowestId;
    for (let page = 0; page < maxPages; page += 1) {
      const open = await findStarted(manager, after, pageSize);
      const closed = await mapBounded(open, askedAtOnce, async ({ txId }) => ({
        txId,
        reason: await findClosed(this.temporal, txId),
      }));
      const candidates = closed.flatMap(({ txId, reason }) => (reason === null ? [] : [{ txId, reason }]));
      // read after Temporal was asked: a transaction ends before its workflow does
      const unended = await findUnended(
        manager,
        candidates.map(({ txId }) => txId),
      );
      lost.push(...candidates.filter(({ txId }) => unended.has(txId)));
      after = open.at(-1)?.txId ?? after;
      if (open.length < pageSize) return { rows: await this.loadLost(lost.slice(0, limit)), isCut: lost.length > limit };
      if (lost.length >= limit) break;
    }
    return { rows: await this.loadLost(lost.slice(0, limit)), isCut: true };
  }

  private async loadLost(lost: readonly { txId: string; reason: LostReason }[]): Promise<LostTransfer[]> {
    const txs = await this.database.manager.findBy(TransactionEntity, { txId: In(lost.map(({ txId }) => txId)) });
    const byId = new Map(txs.map((tx) => [tx.txId, tx]));
    return lost.flatMap(({ txId, reason }) => {
      const tx = byId.get(txId);
      return tx ? [{ tx, reason }] : [];
    });
  }

  async show(txId: string): Promise<TransferReport> {
    const tx = await findTransfer(this.database.manager, txId);
    const timeline = await findTimeline(this.database.manager, txId);
    const attempts = await this.database.query<TransferReport['attempts']>(
      `select a.attempt, a.kind, coalesce(r.resources, '') as resources, coalesce(a.included_id, case when not $2 then a.tx_hash end) as tx_hash,
              case when $2 then a.tx_hash end as digest, a.broadcast_at, a.block_number
         from transfer_attempts a
         left join lateral (select string_agg(r.resource, ', ' order by r.reservation_id) as resources
                              from attempt_reservations l join reservations r using (reservation_id)
                             where l.tx_id = a.tx_id and l.attempt = a.attempt) r on true
        where a.tx_id = $1 order by a.attempt`,
      [txId, tx.isSigned && getSignedType(tx.transactionType).isHandedOut === true],
    );
    const retriedBy = (await findRedo(this.database.manager, tx))?.txId ?? null;
    return { tx, retriedBy, timeline, attempts };
  }

  /** Of these those in whose place another transfer was made, with its id. */
  async findRedone(transfers: readonly TransactionEntity[]): Promise<Map<string, string>> {
    const rows = await this.database.query<{ tx_id: string; retry_of: string }[]>(
      'select tx_id, retry_of from transactions where retry_of = any($1::uuid[])',
      [transfers.map(({ txId }) => txId)],
    );
    return new Map(rows.map(({ tx_id: txId, retry_of: retryOf }) => [retryOf, txId]));
  }

  /**
   * Asks the workflow to resume the transfer, whatever the status: only the workflow knows whether it waits for an operator. If it has
   * closed although the transfer has not ended (it was terminated, or the workflow service lost its data), a new run is started, which
   * continues from the state in the database. `reason`: of the operator, for the audit log. Returns the workflow's answer.
   * @throws GatewayError business_error when there is nothing to retry, or the workflow refuses.
   */
  async retry(txId: string, reason?: string): Promise<string> {
    const tx = await findTransfer(this.database.manager, txId);
    if (await this.isRunning(txId)) {
      const updateId = newId();
      const auditId = operatorActId({ txId, act: 'retry', actId: updateId });
      return this.audited('transfer.retried', tx, () => this.resume(txId, updateId), { auditId, reason });
    }
    const refusal = whyNotStartedAgain(tx, await findRedo(this.database.manager, tx));
    if (refusal) throw refusal;
    return this.audited('transfer.retried', tx, () => this.startAgain(tx), { reason });
  }

  /**
   * Asks the workflow, whatever the status, to abandon a transfer whose signing has begun: a cancellation uses up its reservation, so
   * that later transfers of the address do not wait for it. The transfer ends as FAILED once the cancellation is final, or normally if
   * an earlier attempt is executed instead; at once if another transaction has used up the reservation, with a stored proof. The stored request names the attempt that is newest now, and is withdrawn by a refusal and
   * by a retry. `reason`: of the operator, for the audit log. Returns the workflow's answer.
   * @throws GatewayError business_error when the transfer cannot be abandoned, or the workflow refuses.
   */
  async abandon(txId: string, reason?: string): Promise<string> {
    const tx = await findTransfer(this.database.manager, txId);
    const { last, inclusions } = await loadAttempts(this.database.manager, txId);
    const isExecuted = inclusions.length > 0;
    const refusal = whyNotAbandoned(tx, { isExecuted, isRunning: isExecuted || (await this.isRunning(txId)) });
    if (refusal) throw refusal;
    const updateId = newId();
    const abandoning = async () => {
      // the authoriser cancels nothing without a reason on record
      const operator = currentOperator().id;
      if (last) await recordAbandonRequest(this.database.manager, { txId, attempt: last.attempt, operator });
      try {
        return await this.update(txId, abandonUpdate, updateId);
      } catch (error) {
        if (isRefusal(error)) await this.withdraw(txId);
        throw error;
      }
    };
    const auditId = operatorActId({ txId, act: 'abandon', actId: updateId });
    return this.audited('transfer.abandoned', tx, abandoning, { auditId, reason });
  }

  private async resume(txId: string, updateId: string): Promise<string> {
    await this.withdraw(txId);
    return this.update(txId, retryUpdate, updateId);
  }

  private withdraw(txId: string): Promise<void> {
    return withdrawAbandonRequest(this.database.manager, { txId, operator: currentOperator().id });
  }

  /** The workflow's own answer. @throws GatewayError business_error with its text when it refuses. */
  private async update(txId: string, update: typeof retryUpdate | typeof abandonUpdate, updateId: string): Promise<string> {
    const handle = this.temporal.workflow.getHandle(transferWorkflowId(txId));
    try {
      return (await withinMs(this.temporal, updateTimeoutMs, () => handle.executeUpdate(update, { updateId }))).status;
    } catch (error) {
      if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure)
        throw new GatewayError('business_error', error.cause.message, { cause: error });
      if (error instanceof WorkflowNotFoundError)
        throw new GatewayError('business_error', 'The workflow has ended in the meantime', { cause: error });
      throw error;
    }
  }

  /**
   * The workflow executes the operation, so there is no common database transaction: an audit row is written before, so that no
   * operation is missing in the audit log, and another one when the workflow refuses. `auditId`: the workflow writes no row of its own.
   */
  private async audited(
    action: AuditAction,
    { txId, clientId, status }: TransactionEntity,
    work: () => Promise<string>,
    { auditId, reason }: { auditId?: string; reason?: string | undefined } = {},
  ): Promise<string> {
    const event = { action, actor: currentOperator(), clientId, subject: { type: 'transaction', id: txId } };
    const row = { ...event, detail: { status, ...withReason(reason) }, ...(auditId !== undefined && { auditId }) };
    await audit(this.database.manager, { ...row, outcome: 'success' });
    try {
      return await work();
    } catch (error) {
      if (isRefusal(error))
        await audit(this.database.manager, { ...event, outcome: 'refused', detail: { status, reason: error.message } });
      throw error;
    }
  }

  private async isRunning(txId: string): Promise<boolean> {
    const handle = this.temporal.workflow.getHandle(transferWorkflowId(txId));
    try {
      return isOpenRun(await withinMs(this.temporal, updateTimeoutMs, () => handle.describe()));
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  private async startAgain(tx: TransactionEntity): Promise<string> {
    await withinMs(this.temporal, updateTimeoutMs, () => startTransferWorkflow(this.temporal, tx, 'again'));
    return 'started again';
  }
}

const isRefusal = (error: unknown): error is GatewayError => error instanceof GatewayError && error.code === 'business_error';
