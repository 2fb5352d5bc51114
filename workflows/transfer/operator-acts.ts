import { CancellationScope, currentUpdateInfo, patched, workflowInfo } from '@temporalio/workflow';
import type { OperatorAct } from '../../src/messages/transfer';
import { recordingActivities, transferActivities } from '../activities';

/** Acts of operators by Temporal's own means, which leave the same audit row as those of the command line. */
export class OperatorActs {
  private cancelling: Promise<void> = Promise.resolve();

  constructor(private readonly txId: string) {}

  /** A handler of the update: `accept` decides about it at once, and its answer waits for the audit row. */
  handler<T>(act: 'retry' | 'abandon', accept: () => T): () => T | Promise<T> {
    return () => {
      const answer = accept();
      const actId = currentUpdateInfo()?.id;
      if (actId === undefined || !patched('record-operator-acts')) return answer;
      return this.record({ act, actId }).then(() => answer);
    };
  }

  /** Has a request to cancel the run recorded, which has no other effect. */
  watchCancellation(scope: CancellationScope): void {
    scope.cancelRequested.catch(() => {
      if (patched('record-operator-acts')) this.cancelling = this.record({ act: 'cancel', actId: workflowInfo().runId });
    });
  }

  /** Before the run ends. */
  async finish(): Promise<void> {
    await this.cancelling;
  }

  private record(given: Omit<OperatorAct, 'txId'>): Promise<void> {
    const { txId } = this;
    // what is no local activity runs when the act is in the history, which says who has sent it
    const write = () =>
      patched('name-who-acted')
        ? recordingActivities.recordOperatorAct({ txId, ...given, runId: workflowInfo().runId })
        : transferActivities.recordOperatorAct({ txId, ...given });
    // updates come in the scope of the run, which may be cancelled
    return CancellationScope.nonCancellable(write);
  }
}
