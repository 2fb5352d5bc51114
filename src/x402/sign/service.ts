import { setTimeout as delay } from 'node:timers/promises';
import type { Caller, IdempotencyContext } from '../../http/context';
import type { WorkflowOutbox } from '../../outbox/outbox';
import { notFound } from '../../platform/errors';
import { Semaphore } from '../../platform/semaphore';
import type { AcceptDependencies } from '../../transfers/accept';
import { acceptPayment } from './accept';
import { parsePayment } from './request';
import type { SignPayment } from './schema';
import { type AuthorisedPayment, findAuthorised } from './stored';

export interface SignDependencies extends AcceptDependencies {
  outbox: WorkflowOutbox;
}

/** Requests of one process that wait for a signature; further ones are answered at once. */
const maxWaiting = 200;
const usualWaitMs = 10_000;
/** Between two looks. */
const pollMs = { first: 40, longest: 500 };

/** Payments that clients authorise from accounts of their own, for somebody else to carry out. */
export class SignService {
  private readonly waiting = new Semaphore({ permits: maxWaiting, maxWaiting: 0, maxWaitMs: 0 });
  private isEnding = false;

  constructor(private readonly deps: SignDependencies) {}

  /**
   * Accepts a payment like a transfer, and waits for its signature.
   * @param waitMs null: it is not waited for; 'usual': up to 10 s
   * @throws GatewayError as acceptTransfer
   */
  async sign(
    { clientId, userId }: Caller,
    { resourceId: txId, idempotencyKey }: IdempotencyContext,
    requestId: string,
    input: SignPayment,
    waitMs: number | null | 'usual',
  ): Promise<AuthorisedPayment> {
    const payment = parsePayment(this.deps, { txId, clientId, userId, requestId, idempotencyKey }, input);
    const accepted = await acceptPayment(this.deps, payment);
    const { chain } = payment.parsed;
    if (!accepted.replayed)
      this.deps.outbox.deliverSoon({ kind: 'start_transfer', subjectId: accepted.txId, clientId, chain: chain.name });
    return this.wait(clientId, accepted.txId, waitMs === 'usual' ? usualWaitMs : (waitMs ?? 0));
  }

  /** @throws GatewayError not_found. */
  async get(clientId: string, txId: string): Promise<AuthorisedPayment> {
    const payment = await findAuthorised(this.deps.database.manager, clientId, txId);
    if (!payment) throw notFound('payment');
    return payment;
  }

  /** The process ends: nobody waits any longer. */
  hurry(): void {
    this.isEnding = true;
  }

  /** Until it is signed, ended, or waits for somebody. */
  private async wait(clientId: string, txId: string, waitMs: number): Promise<AuthorisedPayment> {
    const until = performance.now() + waitMs;
    if (!this.waiting.tryAcquire()) return this.get(clientId, txId);
    try {
      for (let pauseMs = pollMs.first; ; pauseMs = Math.min(pauseMs * 1.5, pollMs.longest)) {
        const payment = await this.get(clientId, txId);
        const leftMs = until - performance.now();
        if (isDecided(payment) || leftMs <= 0 || this.isEnding) return payment;
        await delay(Math.min(pauseMs, leftMs));
      }
    } finally {
      this.waiting.release();
    }
  }
}

const isDecided = ({ signed, isEnded, status }: AuthorisedPayment): boolean =>
  signed !== null || isEnded || status === 'AWAITING_APPROVAL' || status === 'NEEDS_ATTENTION';
