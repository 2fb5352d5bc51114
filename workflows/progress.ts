import { setCurrentDetails, setHandler, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { FailureCode } from '../src/platform/codes';
import { type LiveStatus, type TimelineEntry, searchAttributes, statusQuery, timelineQuery } from '../src/messages/progress';

/** Enough for any ordinary run; beyond it the oldest entries are dropped. */
const timelineLimit = 200;

/** Where operators read what to do about a failure code. */
export const runbook = (code: FailureCode): string => `docs/runbook/failure-codes.md#${code}`;

/** Where operators read what to do about a chain that does not answer. */
export const chainSilent = 'docs/runbook/alerts.md#chainsilent';

/** About a signing node that is down, while a step goes on with the others. */
export const nodeNotReady = 'docs/runbook/alerts.md#signingnodenotready';

/** What an operator reads while the authoriser is asked: it is waited for without a limit. `purpose`: what it is to do. */
export const waitsForAuthoriser = (purpose: string): string =>
  `**Waits for the authoriser** to ${purpose}. If this stays, it is down: start it, docs/runbook/alerts.md#processmissing`;

/** About the database of the gateway, in a step that waits for nothing else. */
const databaseAway = 'docs/runbook/alerts.md#notready';

/** The data of a run for queries and the Temporal UI. */
export class WorkflowProgress {
  private current: LiveStatus = { step: 'starting', attempt: 0, detail: '' };
  private readonly timeline: TimelineEntry[] = [];
  private advice = '';

  constructor() {
    setHandler(statusQuery, () => this.current, { description: 'What the run does now, as GET /transactions/{tx_id} shows it.' });
    setHandler(timelineQuery, () => this.timeline, { description: 'The last steps of the run with their times.' });
  }

  /**
   * Records a stage, or more detail about it. The time is the workflow's, equal on every replay. `advice`: what an operator sees in the
   * Temporal UI in place of the detail, as Markdown. The UI shows the first lines alone: what is waited for and what to do comes first.
   */
  report(step: string, detail = '', attempt = 1, advice = detail): void {
    this.current = { step, attempt, detail };
    this.timeline.push({ step, at: new Date().toISOString(), detail });
    if (this.timeline.length > timelineLimit) this.timeline.shift();
    this.show(advice);
  }

  private show(advice: string): void {
    const { step, attempt } = this.current;
    this.advice = advice;
    setCurrentDetails([advice, `Step: ${step}${attempt > 1 ? ` (${attempt})` : ''}`].filter(Boolean).join('\n\n'));
  }

  /**
   * Asks the authoriser in the current step. The Temporal UI says that it is waited for until it has answered, and then what it said before: what
   * asks several at once reports that itself. `purpose`: what it is to do.
   */
  async askAuthoriser<T>(purpose: string, ask: () => Promise<T>): Promise<T> {
    const [before, shown] = [this.advice, waitsForAuthoriser(purpose)];
    this.show(shown);
    try {
      return await ask();
    } finally {
      // unless something else was reported meanwhile
      if (this.advice === shown) this.show(before);
    }
  }

  /** A step in which each of the three signing nodes has its part. */
  needsEveryNode(step: string, detail: string, attempt = 1): void {
    this.report(step, detail, attempt, `**${detail}.** If this stays, a node is down: start it, ${nodeNotReady}`);
  }

  /** A step in which nothing but the database is waited for. */
  needsDatabase(step: string, detail: string, attempt = 1): void {
    this.report(step, detail, attempt, `**${detail}.** If this stays, the database does not answer: ${databaseAway}`);
  }

  /** A step that goes on by itself once signing nodes answer; by default the current one. `message`: what they have answered last. */
  waitsForNodes(
    nodes: 'two' | 'all three',
    message: string,
    { step, attempt }: Pick<LiveStatus, 'step' | 'attempt'> = this.current,
  ): void {
    const advice = `**Waits for ${nodes} of the signing nodes**, and goes on by itself: start what is down, ${runbook('signers_unavailable')}`;
    this.report(step, `Waiting for ${nodes} signing nodes: ${message}`, attempt, `${advice}. Last answer: ${message}`);
  }

  /** The current step fails again and again on its chain, and goes on by itself. `message`: why, in the last answer. */
  waitsForChain(chain: string, { code, message }: { code: FailureCode; message: string }): void {
    const { step, attempt } = this.current;
    const silent = `**No endpoint of ${chain} gives a usable answer**; it goes on by itself once one does: check the endpoints, ${chainSilent}`;
    const failing = `**The worker of ${chain} fails in this step**, and repeats it: read its log, check database and endpoints, ${chainSilent}`;
    const advice = code === 'chain_unavailable' ? silent : failing;
    this.report(step, `${chain} does not answer yet`, attempt, `${advice}. Last answer: ${message}`);
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
