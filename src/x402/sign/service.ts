import { setTimeout as delay } from 'node:timers/promises';
import type { Caller, IdempotencyContext } from '../../http/context';
import type { WorkflowOutbox } from '../../outbox/outbox';
import { readCommitted } from '../../platform/database';
import { notFound } from '../../platform/errors';
import type { AcceptDependencies } from '../../transfers/accept/accept';
import type { Wait } from '../prefer';
import { WaitingRequests } from '../waiting-requests';
import { acceptPayment } from './accept';
import { parsePayment } from './request';
import type { SignPayment } from './schema';
import { type AuthorisedPayment, findAuthorised } from './stored';

export interface SignDependencies extends AcceptDependencies {
  outbox: WorkflowOutbox;
}

const usualWaitMs = 10_000;
/** Between two looks. */
const pollMs = { first: 40, longest: 500 };

/** Payments that clients authorise from accounts of their own, for somebody else to carry out. */
export class SignService {
  private readonly waiting = new WaitingRequests();
  private isEnding = false;

  constructor(private readonly deps: SignDependencies) {}

  /**
   * Accepts a payment like a transfer, and waits for its signature; with too many that wait, it is answered at once.
   * @param wait usual: up to 10 s
   * @throws GatewayError as acceptTransfer
   */
  async sign(
    { clientId, userId }: Caller,
    { resourceId: txId, idempotencyKey }: IdempotencyContext,
    requestId: string,
    input: SignPayment,
    wait: Wait,
  ): Promise<{ payment: AuthorisedPayment; replayed: boolean }> {
    const asked = parsePayment(this.deps, { txId, clientId, userId, requestId, idempotencyKey }, input);
    const { txId: accepted, replayed } = await acceptPayment(this.deps, asked);
    const { chain } = asked.parsed;
    if (!replayed) this.deps.outbox.deliverSoon({ kind: 'start_transfer', subjectId: accepted, clientId, chain: chain.name });
    const waitMs = wait === 'usual' ? usualWaitMs : (wait.ms ?? 0);
    return { payment: await readCommitted(() => this.wait(clientId, accepted, waitMs), { tx_id: accepted }), replayed };
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
    const leave = waitMs > 0 ? this.waiting.enter(clientId) : undefined;
    if (!leave) return this.get(clientId, txId);
    try {
      for (let pauseMs = pollMs.first; ; pauseMs = Math.min(pauseMs * 1.5, pollMs.longest)) {
        const payment = await this.get(clientId, txId);
        const leftMs = until - performance.now();
        if (isDecided(payment) || leftMs <= 0 || this.isEnding) return payment;
        await delay(Math.min(pauseMs, leftMs));
      }
    } finally {
      leave();
    }
  }
}

const isDecided = ({ signed, isEnded, status }: AuthorisedPayment): boolean =>
  signed !== null || isEnded || status === 'AWAITING_APPROVAL' || status === 'NEEDS_ATTENTION';
