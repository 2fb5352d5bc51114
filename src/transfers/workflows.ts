import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import { type LiveStatus, searchAttributes, statusQuery } from '../messages/progress';
import { mainTaskQueue } from '../messages/task-queues';
import {
  type RequestedBy,
  type TransferAccepted,
  type TransferRequest,
  type TransferWorkflowResult,
  cancelUpdate,
  submitUpdate,
  transferApprovedSignal,
} from '../messages/transfer';
import { transferWorkflowId, workflowTypes } from '../messages/workflow-ids';
import { assertTemporalAnswers, isUpdateDropped, withinMs } from '../platform/temporal';
import { isFailureCode } from '../platform/codes';
import { type FieldError, GatewayError } from '../platform/errors';

/** How long a request waits for the answer of a workflow before it says outcome_unknown. */
const updateTimeoutMs = 20_000;
const queryTimeoutMs = 500;
const signalTimeoutMs = 3_000;
const resultTimeoutMs = 3_000;
/** How often an update that the server dropped is asked for again. */
const updateTries = 5;

/** What the API asks of a transfer's workflow. */
export interface TransferWorkflows {
  /**
   * Starts the transfer and waits for its lock; asking again for the same tx_id gets the first answer, or null when its
   * workflow has closed and no longer knows it.
   * @throws GatewayError as the lock refused, unavailable (nothing was started), outcome_unknown (with tx_id).
   */
  submit(request: TransferRequest): Promise<TransferAccepted | null>;
  /** Why a closed workflow left no transaction behind. */
  refusalOf(txId: string): Promise<GatewayError>;
  /** @throws GatewayError not_cancellable, unavailable, outcome_unknown. */
  cancel(txId: string, by: RequestedBy): Promise<void>;
  /**
   * Tells the transfer that it is approved; `gone` when it does not run: started again, it finds the approval on record.
   * @throws Error when the workflow service does not answer.
   */
  approved(txId: string): Promise<'told' | 'gone'>;
  /** What it is doing just now; null when it does not say so at once. Never throws. */
  live(txId: string): Promise<LiveStatus | null>;
}

export function transferWorkflowsOn(temporal: Client): TransferWorkflows {
  return {
    submit: async (request) => {
      await assertTemporalAnswers(temporal);
      try {
        return await withinMs(temporal, updateTimeoutMs, () => updateWithStart(temporal, request));
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return null;
        throw outcomeOf(error, request.txId);
      }
    },
    refusalOf: async (txId) => {
      const handle = temporal.workflow.getHandle<() => Promise<TransferWorkflowResult>>(transferWorkflowId(txId));
      try {
        const { code } = await withinMs(temporal, resultTimeoutMs, () => handle.result());
        if (code) return new GatewayError(code, 'The transfer was refused');
      } catch (error) {
        return outcomeOf(error, txId);
      }
      return outcomeOf(undefined, txId);
    },
    cancel: async (txId, by) => {
      await assertTemporalAnswers(temporal);
      try {
        await withinMs(temporal, updateTimeoutMs, () => cancelUntilAnswered(temporal, txId, by));
      } catch (error) {
        if (error instanceof WorkflowNotFoundError)
          throw new GatewayError('not_cancellable', 'The transfer has ended', { cause: error });
        throw outcomeOf(error, txId, 'The transfer may have been cancelled: ask for it by tx_id, or repeat the request');
      }
    },
    approved: async (txId) => {
      try {
        await withinMs(temporal, signalTimeoutMs, () =>
          temporal.workflow.getHandle(transferWorkflowId(txId)).signal(transferApprovedSignal),
        );
        return 'told';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return 'gone';
        throw error;
      }
    },
    live: (txId) =>
      withinMs(temporal, queryTimeoutMs, () => temporal.workflow.getHandle(transferWorkflowId(txId)).query(statusQuery)).catch(
        () => null,
      ),
  };
}

function updateWithStart(temporal: Client, request: TransferRequest): Promise<TransferAccepted> {
  const { txId, clientId, chain, tokenSymbol, requestId } = request;
  return temporal.workflow.executeUpdateWithStart(submitUpdate, {
    args: [request],
    updateId: txId,
    startWorkflowOperation: new WithStartWorkflowOperation(workflowTypes.transfer, {
      workflowId: transferWorkflowId(txId),
      taskQueue: mainTaskQueue,
      args: [{ txId, clientId }],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      typedSearchAttributes: [
        { key: searchAttributes.clientId, value: clientId },
        { key: searchAttributes.txId, value: txId },
        { key: searchAttributes.chain, value: chain },
        { key: searchAttributes.tokenSymbol, value: tokenSymbol },
      ],
      staticSummary: `${tokenSymbol} on ${chain}`,
      memo: { requestId },
    }),
  });
}

/** A cancellation is safe to repeat: it is cancelled once, or refused for what has begun. */
async function cancelUntilAnswered(temporal: Client, txId: string, by: RequestedBy): Promise<void> {
  const workflow = temporal.workflow.getHandle(transferWorkflowId(txId));
  for (let tried = 1; ; tried += 1) {
    try {
      await workflow.executeUpdate(cancelUpdate, { args: [by] });
      return;
    } catch (error) {
      if (!isUpdateDropped(error) || tried === updateTries) throw error;
    }
  }
}

/** A refusal keeps its code; for anything else it is not known whether the transfer was begun. */
function outcomeOf(
  error: unknown,
  txId: string,
  unknown = 'The transfer may have been begun: ask for it by tx_id, or repeat the request with the same Idempotency-Key',
): GatewayError {
  if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
    const { type, message, details } = error.cause;
    if (isFailureCode(type)) return new GatewayError(type, message, { cause: error, ...fieldsOf(details) });
  }
  return new GatewayError('outcome_unknown', unknown, { cause: error, retryAfterSeconds: 2, extra: { tx_id: txId } });
}

function fieldsOf(details: unknown[] | null | undefined): { fields?: FieldError[] } {
  const [first] = details ?? [];
  const { fields } = (first ?? {}) as { fields?: unknown };
  return Array.isArray(fields) ? { fields: fields as FieldError[] } : {};
}
