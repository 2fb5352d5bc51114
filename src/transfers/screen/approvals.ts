import type { EntityManager } from 'typeorm';
import type { IdempotencyContext } from '../../http/context';
import { lockLedgerAccountsOf } from '../../ledger/accounts';
import { runItems } from '../../mfa/batch';
import type { MfaRequest, MfaService } from '../../mfa/service';
import { toReconcileRequired } from '../../orders/reconcile-required';
import type { WorkflowOutbox } from '../../outbox/outbox';
import type { Logger } from '../../platform/logging';
import { findAnyForUpdate, lockTransactions } from '../../transactions/state';
import { presentDecisions } from '../approval-presenter';
import type { DecisionsView } from '../approval-schema';
import { decide, type DecidedItem, type Decision, type DecisionKind, notAwaiting } from './decide';

export interface ApprovalsDependencies {
  mfa: MfaService;
  outbox: WorkflowOutbox;
  log: Logger;
}

const messageKinds = { approve: 'transfer_approved', reject: 'transfer_ended' } as const satisfies Record<DecisionKind, string>;

/**
 * Decisions about transfers that wait for an approval. Checked and stored in one database transaction with the second factor; the workflow is
 * signalled afterwards and reads the state from Postgres.
 */
export class Approvals {
  constructor(private readonly deps: ApprovalsDependencies) {}

  /**
   * Approves a transfer of the caller's client; no effect when it is already approved.
   * @throws GatewayError as MfaService.authorize, not_found, not_awaiting_approval, approver_is_requester.
   */
  async approve(request: MfaRequest, txId: string): Promise<void> {
    const { clientId } = request.caller;
    const decision = 'approve';
    const decided = await this.deps.mfa.authorize(
      request,
      (manager) => decide(manager, request, { txId, decision }),
      async (manager) => {
        const transfer = await findAnyForUpdate(manager, { clientId, txId });
        if (transfer?.approvedAt) throw notAwaiting('The transfer is already approved');
      },
    );
    this.notify(clientId, { txId, decision, outcome: { done: decided, error: null } });
  }

  /**
   * Approves and rejects several transfers with one code, each for itself: one that is refused keeps no other from being decided. All of them, the
   * use of the code and the stored answer are one database transaction.
   * @returns what became of each, in the order of the decisions.
   * @throws GatewayError as MfaService.authorize, unavailable, reconcile_required: nothing is decided then, unless the outcome is unknown;
   * not_awaiting_approval when the same code has carried out the same request before.
   */
  async decide(
    request: MfaRequest,
    { storeAnswer }: Pick<IdempotencyContext, 'storeAnswer'>,
    decisions: Decision[],
  ): Promise<DecisionsView> {
    const { mfa, log } = this.deps;
    const { clientId } = request.caller;
    const txIds = decisions.map(({ txId }) => txId);
    const decideAll = async (manager: EntityManager) => {
      // what rejections unlock too, before the first of them: two requests must not wait for each other
      const known = await lockTransactions(manager, clientId, txIds);
      if (decisions.some(({ decision }) => decision === 'reject')) await lockLedgerAccountsOf(manager, known);
      const results = await runItems(manager, decisions, (nested, decision) => decide(nested, request, decision), log);
      const items = results.map(({ item, outcome }) => ({ ...item, outcome }));
      const body = presentDecisions(items);
      await storeAnswer(manager, { body });
      return { items, body };
    };
    const assertNotCarriedOut = async (manager: EntityManager): Promise<void> => {
      const known = await lockTransactions(manager, clientId, txIds);
      const [done] = await manager.query<unknown[]>(
        `select 1 from transactions where tx_id = any($1::uuid[]) and (approved_at is not null or failure_code = 'approval_rejected') limit 1`,
        [known],
      );
      if (done) throw notAwaiting('The same code has decided about these transfers before');
    };
    const { items, body } = await mfa.authorize(request, decideAll, assertNotCarriedOut).catch((error: unknown) => {
      throw toReconcileRequired(error) ?? error;
    });
    for (const item of items) this.notify(clientId, item);
    return body;
  }

  /** A client may repeat a call: each message would stay in the history of the workflow, so it is sent once. */
  private notify(clientId: string, { txId, decision, outcome }: DecidedItem): void {
    if (outcome.done?.isNew) this.deps.outbox.deliverSoon({ kind: messageKinds[decision], subjectId: txId, clientId });
  }
}
