import type { DataSource, EntityManager } from 'typeorm';
import { audit } from '../audit/log';
import type { MfaRequest, MfaService } from '../mfa/service';
import { GatewayError, notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import type { Logger } from '../platform/logging';
import type { TransferWorkflows } from '../transfers/workflows';
import { TransactionEntity } from '../transactions/entity';
import { changeState } from '../transactions/state';

export interface ApprovalsDependencies {
  database: DataSource;
  mfa: MfaService;
  workflows: TransferWorkflows;
  log: Logger;
}

/** An approval whose workflow has not been told after this long is told again. */
const reconcileAfterMs = 15_000;
const reconcileBatch = 50;

/**
 * Approvals of transfers that wait for one. Decided and recorded in Postgres, in one database transaction with the second
 * factor; the workflow is told afterwards, and asks Postgres whatever it is told.
 */
export class Approvals {
  constructor(private readonly deps: ApprovalsDependencies) {}

  /**
   * Approves a transfer of the caller's client; one that is approved already stays so.
   * @throws GatewayError as MfaService.authorize, not_found, not_awaiting_approval.
   */
  async approve(request: MfaRequest, txId: string): Promise<void> {
    const { clientId } = request.caller;
    await this.deps.mfa.authorize(
      request,
      (manager) => approve(manager, request, txId),
      async (manager) => {
        const transfer = await findLocked(manager, clientId, txId);
        if (transfer?.approvedAt) throw notAwaiting('The transfer is approved already');
      },
    );
    await this.notify(txId);
  }

  /** Tells the workflows that a crash or an outage left untold; run every few seconds by every API process. */
  async reconcile(): Promise<void> {
    const untold = await this.deps.database.query<{ tx_id: string }[]>(
      `select tx_id from transactions
        where approved_at < clock_timestamp() - make_interval(secs => $1) and approval_told_at is null
          and ended_at is null
        order by random() limit $2`,
      [reconcileAfterMs / 1000, reconcileBatch],
    );
    for (const { tx_id: txId } of untold) await this.notify(txId);
  }

  /** A failure is made good by `repair`: the transfer is approved all the same. */
  private async notify(txId: string): Promise<void> {
    const { database, workflows, log } = this.deps;
    try {
      const told = await workflows.approved(txId);
      if (told === 'gone') {
        const alert = 'approved_without_workflow';
        log.error(
          { alert, tx_id: txId },
          'the workflow of an approved transfer does not run: `gateway transfers retry` starts it',
        );
        return;
      }
      await database.query('update transactions set approval_told_at = now() where tx_id = $1 and approval_told_at is null', [
        txId,
      ]);
    } catch (err) {
      log.warn({ err, tx_id: txId }, 'the transfer was not told of its approval, will be repaired');
    }
  }
}

async function approve(manager: EntityManager, { caller, requestId }: MfaRequest, txId: string): Promise<void> {
  const { clientId, userId } = caller;
  const transfer = await findLocked(manager, clientId, txId);
  if (!transfer) throw notFound('transaction');
  if (transfer.approvedAt && transfer.status !== 'CANCELLED' && transfer.status !== 'REJECTED') return;
  if (transfer.status !== 'AWAITING_APPROVAL') throw notAwaiting(`The transaction is ${transfer.status}`);
  if (await hasExpired(manager, txId)) throw notAwaiting('The time to approve the transfer is over');
  await changeState(manager, transfer, 'PENDING', { approvedBy: userId, approvedAt: () => 'clock_timestamp()' });
  await audit(manager, {
    action: 'transfer.approved',
    outcome: 'success',
    actor: { type: 'user', id: userId },
    clientId,
    subject: { type: 'transaction', id: txId },
    requestId,
  });
}

function findLocked(manager: EntityManager, clientId: string, txId: string): Promise<TransactionEntity | null> {
  if (!isUuid(txId)) return Promise.resolve(null);
  return manager.findOne(TransactionEntity, { where: { clientId, txId }, lock: { mode: 'for_no_key_update' } });
}

/** By the database's clock, which ends the wait too. */
async function hasExpired(manager: EntityManager, txId: string): Promise<boolean> {
  const rows = await manager.query<unknown[]>(
    'select 1 from transactions where tx_id = $1 and approval_expires_at <= clock_timestamp()',
    [txId],
  );
  return rows.length > 0;
}

const notAwaiting = (message: string): GatewayError => new GatewayError('not_awaiting_approval', message);
