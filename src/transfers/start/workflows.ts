import type { Client, WorkflowHandle } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/common';
import type { SignalResult, SignalTransfer } from '../../following/ports';
import { type LiveStatus, searchAttributes, statusQuery } from '../../messages/progress';
import { mainTaskQueue } from '../../messages/task-queues';
import {
  chainObservedSignal,
  transferApprovedSignal,
  transferEndedSignal,
  type TransferWorkflowInput,
} from '../../messages/transfer';
import { cancelReopenedWorkflowId, transferWorkflowId, workflowTypes } from '../../messages/workflow-ids';
import { formatAmount } from '../../platform/money';
import { withinMs } from '../../platform/temporal';
import type { TransactionEntity } from '../../transactions/entity';

const queryTimeoutMs = 500;
/** Somebody waits for the answer of a request. */
const callTimeoutMs = 3_000;
const followerTimeoutMs = 5_000;

/** What the gateway needs from the workflow of a transfer. */
export interface TransferWorkflows {
  /**
   * `started` also when it is already running; `closed` when it has run before: the workflow of a transfer is started once.
   * @throws Error when the workflow service does not respond.
   */
  start(transfer: StartedTransfer): Promise<'started' | 'closed'>;
  /**
   * Signals that the transfer was approved or has ended in the database. `gone` when the workflow is not running.
   * @throws Error when the workflow service does not respond.
   */
  signal(txId: string, news: 'approved' | 'ended'): Promise<SignalResult>;
  /** The current step; null when the workflow does not respond immediately. Never throws. */
  live(txId: string): Promise<LiveStatus | null>;
}

export type StartedTransfer = Pick<
  TransactionEntity,
  | 'txId'
  | 'clientId'
  | 'walletId'
  | 'transactionType'
  | 'chain'
  | 'tokenSymbol'
  | 'amount'
  | 'decimals'
  | 'fromAddress'
  | 'toAddress'
  | 'requestId'
  | 'retryOf'
>;

const signals = { approved: transferApprovedSignal, ended: transferEndedSignal };

export function transferWorkflowsOn(temporal: Client): TransferWorkflows {
  return {
    start: async (transfer) => {
      try {
        await withinMs(temporal, callTimeoutMs, () => startTransferWorkflow(temporal, transfer, 'first'));
        return 'started';
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return 'closed';
        throw error;
      }
    },
    signal: (txId, news) => sendSignal(temporal, txId, (workflow) => workflow.signal(signals[news])),
    live: (txId) =>
      withinMs(temporal, queryTimeoutMs, () => temporal.workflow.getHandle(transferWorkflowId(txId)).query(statusQuery)).catch(
        () => null,
      ),
  };
}

/** Signals transfers what the follower has observed. */
export function observationSignaller(temporal: Client): SignalTransfer {
  return (txId, observation) =>
    sendSignal(temporal, txId, (workflow) => workflow.signal(chainObservedSignal, observation), followerTimeoutMs);
}

async function sendSignal(
  temporal: Client,
  txId: string,
  send: (workflow: WorkflowHandle) => Promise<void>,
  timeoutMs = callTimeoutMs,
): Promise<SignalResult> {
  const workflow = temporal.workflow.getHandle(transferWorkflowId(txId));
  try {
    await withinMs(temporal, timeoutMs, () => send(workflow));
    return 'sent';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'gone';
    throw error;
  }
}

/** Has a FAILED transfer cancelled whose final block is gone (reopened.ts); one run at a time. */
export function startCancelReopened(temporal: Client, txId: string): Promise<unknown> {
  const input: TransferWorkflowInput = { txId };
  return withinMs(temporal, followerTimeoutMs, () =>
    temporal.workflow.start(workflowTypes.cancelReopened, {
      workflowId: cancelReopenedWorkflowId(txId),
      taskQueue: mainTaskQueue,
      args: [input],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      typedSearchAttributes: [{ key: searchAttributes.txId, value: txId }],
      staticSummary: 'Cancels a FAILED transfer whose final block is gone',
    }),
  );
}

/** `again`: a new run after an earlier one has closed; it continues from the rows. Two callers at once reach one run. */
export function startTransferWorkflow(temporal: Client, transfer: StartedTransfer, run: 'first' | 'again'): Promise<unknown> {
  const { txId, clientId, walletId, chain, tokenSymbol, requestId } = transfer;
  const input: TransferWorkflowInput = { txId };
  return temporal.workflow.start(workflowTypes.transfer, {
    workflowId: transferWorkflowId(txId),
    taskQueue: mainTaskQueue,
    args: [input],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: run === 'first' ? 'REJECT_DUPLICATE' : 'ALLOW_DUPLICATE',
    typedSearchAttributes: [
      { key: searchAttributes.clientId, value: clientId },
      { key: searchAttributes.txId, value: txId },
      { key: searchAttributes.chain, value: chain },
      { key: searchAttributes.tokenSymbol, value: tokenSymbol },
      ...(walletId === null ? [] : [{ key: searchAttributes.walletId, value: walletId }]),
    ],
    staticSummary: summaryOf(transfer, run),
    staticDetails: detailsOf(transfer),
    memo: { requestId },
  });
}

/** For lists in the Temporal UI: "25.5 USDC on ethereum to 0x70997970…dc79C8". */
const summaryOf = ({ amount, decimals, tokenSymbol, chain, toAddress }: StartedTransfer, run: 'first' | 'again'): string =>
  `${formatAmount(amount, decimals)} ${tokenSymbol} on ${chain} to ${shortened(toAddress)}${run === 'again' ? ', started again' : ''}`;

/** On the page of the workflow, which cuts it after some lines. */
const detailsOf = ({ txId, transactionType, fromAddress, toAddress, retryOf }: StartedTransfer): string =>
  `${transactionType} from ${fromAddress} to ${toAddress}${retryOf === null ? '' : `, in place of ${retryOf}`}. Everything about it: \`gateway explain ${txId}\``;

const shortened = (address: string): string => (address.length > 20 ? `${address.slice(0, 10)}…${address.slice(-6)}` : address);
