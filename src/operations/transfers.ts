import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import { retryUpdate, transferWorkflowId } from '../../workflows/messages';
import { withinMs } from '../http/temporal';
import { GatewayError, notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import { TransactionEntity, type TransactionStatus } from '../transactions/entity';

const updateTimeoutMs = 15_000;

export interface TransferFilter {
  clientId?: string;
  status?: TransactionStatus;
  limit: number;
}

export interface TransferReport {
  tx: TransactionEntity;
  timeline: { status: string; at: Date }[];
  attempts: {
    attempt: number;
    kind: string;
    nonce: string;
    tx_hash: string | null;
    broadcast_at: Date | null;
    block_number: string | null;
  }[];
}

/** Transfers of all clients, as operators see them. */
export class TransferOperations {
  constructor(
    private readonly database: DataSource,
    private readonly temporal: Client,
  ) {}

  list({ clientId, status, limit }: TransferFilter): Promise<TransactionEntity[]> {
    const where = {
      transactionType: 'OUTBOUND' as const,
      ...(clientId !== undefined && { clientId }),
      ...(status !== undefined && { status }),
    };
    return this.database.manager.find(TransactionEntity, { where, order: { txId: 'DESC' }, take: limit });
  }

  async show(txId: string): Promise<TransferReport> {
    const tx = await this.find(txId);
    const timeline = await this.database.query<TransferReport['timeline']>(
      `select status, at from transaction_events where tx_id = $1 order by seq`,
      [txId],
    );
    const attempts = await this.database.query<TransferReport['attempts']>(
      `select attempt, kind, nonce, tx_hash, broadcast_at, block_number from transfer_attempts where tx_id = $1 order by attempt`,
      [txId],
    );
    return { tx, timeline, attempts };
  }

  /** Lets a parked transfer go on. @throws GatewayError business_error unless it NEEDS_ATTENTION. */
  async retry(txId: string): Promise<string> {
    const { status } = await this.find(txId);
    if (status !== 'NEEDS_ATTENTION')
      throw new GatewayError('business_error', `The transfer is ${status}: only one that is NEEDS_ATTENTION can be retried`);
    const handle = this.temporal.workflow.getHandle(transferWorkflowId(txId));
    try {
      return (await withinMs(this.temporal, updateTimeoutMs, () => handle.executeUpdate(retryUpdate))).status;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError)
        throw new GatewayError('business_error', 'Its workflow has closed: see the Temporal UI', { cause: error });
      throw error;
    }
  }

  private async find(txId: string): Promise<TransactionEntity> {
    const tx = isUuid(txId) ? await this.database.manager.findOneBy(TransactionEntity, { txId }) : null;
    if (!tx) throw notFound(`transaction ${txId}`);
    return tx;
  }
}
