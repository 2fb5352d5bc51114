import { WorkflowNotFoundError } from '@temporalio/common';
import type { DataSource } from 'typeorm';
import type { LiveStatus } from '../messages/progress';
import type { RequestedBy } from '../messages/transfer';
import type { LimitOffset } from '../http/pagination';
import { GatewayError, notFound } from '../platform/errors';
import { cancelTransfer } from '../transfers/end';
import type { TransferWorkflows } from '../transfers/workflows';
import type { TransactionEntity } from './entity';
import type { TransactionDetails, TransactionFilter, TransactionRepository } from './repository';

export interface LiveTransaction {
  details: TransactionDetails;
  live: LiveStatus | null;
}

export class TransactionService {
  constructor(
    private readonly transactions: TransactionRepository,
    private readonly workflows: TransferWorkflows,
    private readonly database: DataSource,
  ) {}

  list(clientId: string, filter: TransactionFilter, slice: LimitOffset): Promise<[TransactionEntity[], number]> {
    return this.transactions.list(clientId, filter, slice);
  }

  /** A transaction and, while it is under way, what its workflow says; a read never fails for want of the latter. */
  async get(clientId: string, txId: string): Promise<LiveTransaction> {
    const details = await this.transactions.findDetails(clientId, txId);
    if (!details) throw notFound('transaction');
    const { tx } = details;
    const running = tx.isHeld && tx.endedAt === null;
    return { details, live: running ? await this.workflows.live(tx.txId) : null };
  }

  /** Cancels a transfer; one that is cancelled already stays so. @throws GatewayError not_found, not_cancellable. */
  async cancel(clientId: string, txId: string, by: RequestedBy): Promise<LiveTransaction> {
    const tx = await this.transactions.find(clientId, txId);
    if (!tx) throw notFound('transaction');
    if (!tx.isHeld) throw new GatewayError('not_cancellable', 'Only transfers can be cancelled');
    if (tx.status !== 'CANCELLED') {
      if (tx.endedAt !== null) throw new GatewayError('not_cancellable', `The transfer has ended: ${tx.status}`);
      try {
        await this.workflows.cancel(tx.txId, by);
      } catch (error) {
        // the workflow may close before it has answered, or have been cancelled by a request at the same time
        const after = await this.get(clientId, txId);
        if (after.details.tx.status === 'CANCELLED') return after;
        if (!isWithoutWorkflow(error) || after.details.tx.endedAt !== null) throw error;
        // terminated or lost: the decision is made in Postgres anyhow
        await cancelTransfer({ database: this.database }, { txId, by });
      }
    }
    return this.get(clientId, txId);
  }
}

/** The workflow service knows no running workflow of the transfer. */
const isWithoutWorkflow = (error: unknown): boolean =>
  error instanceof GatewayError && error.cause instanceof WorkflowNotFoundError;
