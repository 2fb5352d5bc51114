import type { Client } from '@temporalio/client';
import type { EntityManager } from 'typeorm';
import { transferWorkflowId } from '../messages/workflow-ids';
import type { Logger } from '../platform/logging';
import {
  lowestId,
  findClosed,
  findStarted,
  findUnended,
  type LostReason,
  type OpenTransaction,
} from '../transfers/start/lost-workflows';
import { transactionsWithoutWorkflow } from './metrics';

/** Open transactions of which Temporal is asked in a round, and findings of earlier rounds of which it is asked again. */
const batch = 100;
const askedAgain = 50;
const concurrency = 10;
/** What is not asked by then is left for the next round: other collections wait. */
const roundMs = 4_000;
/** With a lost namespace all that are open are found. */
const maxFindings = 10_000;

interface Finding extends OpenTransaction {
  reason: LostReason;
}

/**
 * Looks for open transactions whose workflow is not running (a collection of collector.ts): the oldest first, some in each round, so that each
 * has its turn. Logs each once; what is found is counted until it has ended or runs again. While Temporal does not answer nothing is found,
 * and nothing is taken back.
 */
export class WorkflowSweep {
  private after = lowestId;
  private readonly findings = new Map<string, Finding>();

  constructor(
    private readonly temporal: Client,
    private readonly log: Pick<Logger, 'warn'>,
  ) {}

  /** One round. @throws Error when the database or Temporal does not answer. */
  async run(manager: EntityManager): Promise<void> {
    const until = performance.now() + roundMs;
    const isLate = () => performance.now() > until;
    // what one transaction fails for keeps no other from being asked about
    const failures: Error[] = [];
    try {
      const unended = await findUnended(manager, [...this.findings.keys()]);
      for (const txId of this.findings.keys()) if (!unended.has(txId)) this.findings.delete(txId);
      for (const chunk of chunksOf([...this.findings.values()].slice(0, askedAgain))) {
        if (isLate()) break;
        // behind the others, so that each is asked about again, whatever comes of this one
        for (const finding of chunk) this.findings.delete(finding.txId);
        for (const finding of chunk) this.findings.set(finding.txId, finding);
        failures.push(...(await this.ask(manager, chunk)));
      }
      const page = await findStarted(manager, this.after, batch);
      for (const chunk of chunksOf(page)) {
        if (isLate()) break;
        this.after = chunk.at(-1)?.txId ?? lowestId;
        const others = chunk.filter(({ txId }) => !this.findings.has(txId));
        failures.push(...(await this.ask(manager, others)));
      }
      if (page.length < batch && !isLate()) this.after = lowestId;
    } finally {
      this.measure();
    }
    const [failure] = failures;
    if (failure) throw failure;
  }

  /** Returns what Temporal has failed for. */
  private async ask(manager: EntityManager, transactions: readonly OpenTransaction[]): Promise<Error[]> {
    const answers = await Promise.allSettled(transactions.map(({ txId }) => findClosed(this.temporal, txId)));
    const closed: Finding[] = [];
    transactions.forEach((transaction, index) => {
      const answer = answers[index];
      if (answer?.status !== 'fulfilled') return;
      if (answer.value === null) this.findings.delete(transaction.txId);
      else closed.push({ ...transaction, reason: answer.value });
    });
    // read after Temporal was asked: a transaction ends before its workflow does
    const unended = await findUnended(
      manager,
      closed.map(({ txId }) => txId),
    );
    for (const finding of closed) if (unended.has(finding.txId)) this.add(finding);
    return answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []));
  }

  private add(finding: Finding): void {
    const { txId, chain, type, status, reason } = finding;
    const isNew = !this.findings.has(txId);
    if (isNew && this.findings.size >= maxFindings) return;
    this.findings.set(txId, finding);
    if (!isNew) return;
    this.log.warn(
      { alert: 'transfer_without_workflow', tx_id: txId, chain, type, status, reason, workflow_id: transferWorkflowId(txId) },
      'a transaction is open and its workflow is not running: `gateway transfers retry` starts it again',
    );
  }

  private measure(): void {
    transactionsWithoutWorkflow.reset();
    for (const { chain, type, reason } of this.findings.values()) transactionsWithoutWorkflow.inc({ chain, type, reason });
  }
}

const chunksOf = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / concurrency) }, (_, index) =>
    items.slice(index * concurrency, (index + 1) * concurrency),
  );
