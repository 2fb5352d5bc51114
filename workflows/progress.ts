import { setCurrentDetails, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import { type LiveStatus, type TimelineEntry, searchAttributes, statusQuery, timelineQuery } from '../src/messages/progress';

/** Enough for any ordinary run; beyond it the oldest entries go. */
const timelineLimit = 200;

/** What queries and the Temporal UI show of a run. */
export class WorkflowProgress {
  private current: LiveStatus = { step: 'starting', attempt: 0, detail: '' };
  private readonly timeline: TimelineEntry[] = [];

  constructor(private readonly heading: string) {
    setHandler(statusQuery, () => this.current);
    setHandler(timelineQuery, () => this.timeline);
  }

  /** Enters a stage or says more about it. The time is the workflow's, equal on every replay. */
  report(step: string, detail = '', attempt = 1): void {
    this.current = { step, attempt, detail };
    this.timeline.push({ step, at: new Date().toISOString(), detail });
    if (this.timeline.length > timelineLimit) this.timeline.shift();
    setCurrentDetails(
      [`## ${this.heading}`, `**${step}**${attempt > 1 ? ` (attempt ${attempt})` : ''}`, detail].filter(Boolean).join('\n\n'),
    );
  }

  /** Search attributes of a transfer: how operators find it in the Temporal UI. */
  status(status: string, failureCode?: string | null): void {
    upsertSearchAttributes([
      { key: searchAttributes.txStatus, value: status },
      ...(failureCode ? [{ key: searchAttributes.failureCode, value: failureCode }] : []),
    ]);
  }
}
