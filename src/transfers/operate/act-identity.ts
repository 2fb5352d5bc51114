import type { Client } from '@temporalio/client';
import type { OperatorAct } from '../../messages/transfer';
import { transferWorkflowId } from '../../messages/workflow-ids';
import { printable } from '../../platform/printable';
import { withinMs } from '../../platform/temporal';

/** What whoever has sent an act to Temporal calls itself; null: it has said nothing, or its event was not found. */
export type FindActIdentity = (act: OperatorAct) => Promise<string | null>;

const timeoutMs = 5_000;
/** The event is among the newest ones of the run: it has asked for the audit row. */
const pageSize = 100;
const maxPages = 3;
const maxLength = 120;

/**
 * Reads it from the history of the run, newest events first: Temporal takes the word of its callers for it (`temporal-cli:ann@laptop`, a process
 * id and a host, or a user of the UI that has a login), and so it is no proof of anything. Shortened, printable ASCII.
 * @throws what Temporal does not answer.
 */
export const actIdentitiesIn =
  (temporal: Client): FindActIdentity =>
  async (act) => {
    const { workflowService } = temporal.connection;
    const execution = { workflowId: transferWorkflowId(act.txId), runId: act.runId ?? '' };
    const request = { namespace: temporal.options.namespace, execution, maximumPageSize: pageSize };
    let nextPageToken: Uint8Array | null | undefined;
    for (let page = 0; page < maxPages; page += 1) {
      const answer = await withinMs(temporal, timeoutMs, () =>
        workflowService.getWorkflowExecutionHistoryReverse({ ...request, ...(nextPageToken && { nextPageToken }) }),
      );
      for (const event of answer.history?.events ?? []) {
        const identity = identityIn(event, act);
        if (identity !== undefined) return identity === '' ? null : printable(identity, maxLength);
      }
      ({ nextPageToken } = answer);
      if (!nextPageToken?.length) return null;
    }
    return null;
  };

type HistoryEvent = NonNullable<
  NonNullable<
    Awaited<ReturnType<Client['connection']['workflowService']['getWorkflowExecutionHistoryReverse']>>['history']
  >['events']
>[number];

/** undefined: the event is of something else. */
function identityIn(event: HistoryEvent, { act, actId }: OperatorAct): string | undefined {
  if (act === 'cancel') {
    const { workflowExecutionCancelRequestedEventAttributes: cancelled } = event;
    return cancelled ? (cancelled.identity ?? '') : undefined;
  }
  const meta = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.meta;
  return meta?.updateId === actId ? (meta.identity ?? '') : undefined;
}
