import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { DataSource } from 'typeorm';
import { abandonUpdate, retryUpdate } from '../messages/transfer';
import { transferWorkflowId } from '../messages/workflow-ids';
import { audit, type AuditAction } from '../audit/log';
import { withinMs } from '../platform/temporal';
import { GatewayError, notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import { getSignedType } from '../signed-types';
import { TransactionEntity, type TransactionStatus } from '../transactions/entity';
import { findTimeline, type Timeline } from '../transactions/shown-rows';
import { loadAttempts } from '../transfers/load-attempts';
import { findRedo } from '../transfers/redo/rules';
import { recordAbandonRequest, withdrawAbandonRequest } from '../transfers/operate/operator-requests';
import { startTransferWorkflow } from '../transfers/start/workflows';
import { withReason } from './confirmation';
import { currentOperator } from './operator';
import { isOpen, whyNotAbandoned, whyNotStartedAgain } from './transfer-preconditions';

const updateTimeoutMs = 15_000;

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

  async show(txId: string): Promise<TransferReport> {
    const tx = await this.find(txId);
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
   * continues from the state in the database. Returns the workflow's answer.
   * @throws GatewayError business_error when there is nothing to retry, or the workflow refuses.
   */
  async retry(txId: string): Promise<string> {
    const tx = await this.find(txId);
    if (await this.isRunning(txId))
      return this.audited('transfer.retried', tx, async () => {
        await this.withdraw(txId);
        return this.update(txId, retryUpdate);
      });
    const refusal = whyNotStartedAgain(tx);
    if (refusal) throw refusal;
    return this.audited('transfer.retried', tx, () => this.startAgain(tx));
  }

  /**
   * Asks the workflow, whatever the status, to abandon a transfer whose signing has begun: a cancellation uses up its reservation, so
   * that later transfers of the address do not wait for it. The transfer ends as FAILED once the cancellation is final, or normally if
   * an earlier attempt is executed instead; at once if another transaction has used up the reservation, with a stored proof. The stored request names the attempt that is newest now, and is withdrawn by a refusal and
   * by a retry. `reason`: of the operator, for the audit log. Returns the workflow's answer.
   * @throws GatewayError business_error when the transfer cannot be abandoned, or the workflow refuses.
   */
  async abandon(txId: string, reason?: string): Promise<string> {
    const tx = await this.find(txId);
    const { last, inclusions } = await loadAttempts(this.database.manager, txId);
    const isExecuted = inclusions.length > 0;
    const refusal = whyNotAbandoned(tx, { isExecuted, isRunning: isExecuted || (await this.isRunning(txId)) });
    if (refusal) throw refusal;
    const abandoning = async () => {
      // the authoriser cancels nothing without a reason on record
      const operator = currentOperator().id;
      if (last) await recordAbandonRequest(this.database.manager, { txId, attempt: last.attempt, operator });
      try {
        return await this.update(txId, abandonUpdate);
      } catch (error) {
        if (isRefusal(error)) await this.withdraw(txId);
        throw error;
      }
    };
    return this.audited('transfer.abandoned', tx, abandoning, reason);
  }

  private withdraw(txId: string): Promise<void> {
    return withdrawAbandonRequest(this.database.manager, { txId, operator: currentOperator().id });
  }

  /** The workflow's own answer. @throws GatewayError business_error with its text when it refuses. */
  private async update(txId: string, update: typeof retryUpdate | typeof abandonUpdate): Promise<string> {
    const handle = this.temporal.workflow.getHandle(transferWorkflowId(txId));
    try {
      return (await withinMs(this.temporal, updateTimeoutMs, () => handle.executeUpdate(update))).status;
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
   * operation is missing in the audit log, and another one when the workflow refuses.
   */
  private async audited(
    action: AuditAction,
    { txId, clientId, status }: TransactionEntity,
    work: () => Promise<string>,
    reason?: string,
  ): Promise<string> {
    const event = { action, actor: currentOperator(), clientId, subject: { type: 'transaction', id: txId } };
    await audit(this.database.manager, { ...event, outcome: 'success', detail: { status, ...withReason(reason) } });
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
      return isOpen(await withinMs(this.temporal, updateTimeoutMs, () => handle.describe()));
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  private async startAgain(tx: TransactionEntity): Promise<string> {
    await withinMs(this.temporal, updateTimeoutMs, () => startTransferWorkflow(this.temporal, tx, 'again'));
    return 'started again';
  }

  private async find(txId: string): Promise<TransactionEntity> {
    const tx = isUuid(txId) ? await this.database.manager.findOneBy(TransactionEntity, { txId }) : null;
    if (!tx) throw notFound(`transaction ${txId}`);
    return tx;
  }
}

const isRefusal = (error: unknown): error is GatewayError => error instanceof GatewayError && error.code === 'business_error';
