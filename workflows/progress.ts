import { setCurrentDetails, setHandler, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { type LiveStatus, type TimelineEntry, searchAttributes, statusQuery, timelineQuery } from '../src/messages/progress';

/** Enough for any ordinary run; beyond it the oldest entries are dropped. */
const timelineLimit = 200;

/** The data of a run for queries and the Temporal UI. */
export class WorkflowProgress {
  private current: LiveStatus = { step: 'starting', attempt: 0, detail: '' };
  private readonly timeline: TimelineEntry[] = [];

  constructor(private readonly heading: string) {
    setHandler(statusQuery, () => this.current);
    setHandler(timelineQuery, () => this.timeline);
  }

  /** Records a stage, or more detail about it. The time is the workflow's, equal on every replay. */
  report(step: string, detail = '', attempt = 1): void {
    this.current = { step, attempt, detail };
    this.timeline.push({ step, at: new Date().toISOString(), detail });
    if (this.timeline.length > timelineLimit) this.timeline.shift();
    setCurrentDetails(
      [`## ${this.heading}`, `**${step}**${attempt > 1 ? ` (attempt ${attempt})` : ''}`, detail].filter(Boolean).join('\n\n'),
    );
  }

  /** A status on the usual way of a transfer: its row and the timeline show it, and a search attribute only in place of another one. */
  passed(status: string): void {
    if (workflowInfo().typedSearchAttributes.get(searchAttributes.txStatus) !== undefined) this.status(status);
  }

  /**
   * Search attributes of a transfer that has ended or waits for somebody: operators find it by them in the Temporal UI. Each update is
   * an event of the history and a write to Temporal's index.
   */
  status(status: string, failureCode?: string | null): void {
    upsertSearchAttributes([
      { key: searchAttributes.txStatus, value: status },
      ...(failureCode ? [{ key: searchAttributes.failureCode, value: failureCode }] : []),
    ]);
  }
}
