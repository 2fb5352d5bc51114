import type { DataSource } from 'typeorm';
import { findPaymentMethod } from '../../chains/payment-methods';
import type { PaymentRequest, SettlementFailure } from '../../chains/payments';
import type { ChainRegistry } from '../../chains/registry';
import { assertOrdersCompared } from '../../orders/reconcile-required';
import { GatewayError } from '../../platform/errors';
import type { Logger } from '../../platform/logging';
import { settlementDuration, settlements } from '../metrics';
import type { Reason } from '../reasons';
import type { Wait } from '../prefer';
import type { PaymentVerifier } from '../verify';
import { readPaymentRequest, type ReadResult } from '../wire/request';
import { type AcceptDependencies, acceptSettlement, type AskedBy } from './accept';
import { findClaimed, type PaymentKey, toPaymentKey } from './claimed';
import { endUnbegun } from './end-unbegun';
import type { SettlementState } from './state';
import { hasTimeLeft } from './time-left';
import type { SettlementWatch } from './watch';

/** Until the signature of one that is begun is looked for again. */
const hashWaitMs = 1_000;

/** What POST /x402/settle answers. */
export interface Settled {
  /** null: it is settled, or accepted where nobody waits. */
  reason: Reason | null;
  /** Transaction id on the chain; empty where there is none, or none is known. */
  hash: string;
  /** CAIP-2, or as the body states it. */
  network: string;
  payer: string | undefined;
  /** null: nothing was accepted. */
  txId: string | null;
  /** Atomic units; null where nothing is paid. */
  amount: bigint | null;
}

export type SettlementWaits = Record<1 | 2 | 'longest', number>;

export interface SettlementDependencies extends AcceptDependencies {
  database: DataSource;
  registry: ChainRegistry;
  verifier: PaymentVerifier;
  watch: SettlementWatch;
  /**
   * Usual waits in milliseconds, by version of the protocol: callers of version 1 do not know `settlement_pending`. `longest`: for the
   * hash of a transaction.
   */
  waitMs: SettlementWaits;
}

/** Payments that clients have settled. Whoever asks again for the same gets the same answer, however often and when. */
export class SettlementService {
  constructor(private readonly deps: SettlementDependencies) {}

  /**
   * Verifies the payment in full, accepts it, and waits for the chain.
   * @param body any JSON
   * @throws GatewayError for what is not the payer's fault: unavailable, reconcile_required, outcome_unknown
   */
  async settle(askedBy: AskedBy, body: unknown, wait: Wait, log: Pick<Logger, 'warn'>): Promise<Settled> {
    const startedAt = performance.now();
    const read = readPaymentRequest(body, this.deps.registry, 'settle');
    const settle = () => this.settleRead(askedBy, read, wait, log);
    const settled = await (isWait(wait) ? this.deps.watch.whileWaiting(askedBy.clientId, settle) : settle());
    measure('request' in read ? read.request : null, settled.reason, startedAt);
    return settled;
  }

  private async settleRead(askedBy: AskedBy, read: ReadResult, wait: Wait, log: Pick<Logger, 'warn'>): Promise<Settled> {
    if ('reason' in read) return refused(read, read.reason);
    const { request } = read;
    const key = toPaymentKey(request);
    if (!key) return refused(read, await this.toReasonUnread(askedBy, request));
    const claimed = (await this.findEarlier(askedBy, key)) ?? (await this.accept(askedBy, request, key, log));
    if ('reason' in claimed) return refused(read, claimed.reason);
    const ms = wait === 'usual' ? this.deps.waitMs[request.version] : wait.ms;
    return this.answer(askedBy, claimed.txId, ms, read);
  }

  private async findEarlier({ clientId }: AskedBy, key: PaymentKey): Promise<{ txId: string } | { reason: Reason } | null> {
    const claimed = await findClaimed(this.deps.database.manager, clientId, key);
    switch (claimed?.outcome) {
      case undefined:
        return null;
      case 'mine':
        return claimed;
      case 'duplicate':
        return { reason: 'duplicate_settlement' };
      case 'conflict':
        return { reason: 'payment_identifier_conflict' };
    }
  }

  private async accept(
    askedBy: AskedBy,
    request: PaymentRequest,
    key: PaymentKey,
    log: Pick<Logger, 'warn'>,
  ): Promise<{ txId: string } | { reason: Reason }> {
    const about = { chain: request.chain.name };
    const verified = await this.deps.verifier.verify(askedBy.clientId, request);
    if ('reason' in verified) {
      if (verified.cause) log.warn({ err: verified.cause, ...about }, 'a payment could not be verified');
      // a request like this one may have settled it since it was looked for
      const earlier = await this.findEarlier(askedBy, key);
      // a restored database may lack the settlement for which the chain refuses it now
      if (!earlier) await assertOrdersCompared(this.deps.database.manager);
      return earlier ?? verified;
    }
    if (!hasTimeLeft(verified.payment)) return { reason: this.toFailure(request, 'expired') };
    try {
      const accepted = await acceptSettlement(this.deps, askedBy, request, key, verified);
      if (accepted.outcome === 'refused') {
        const { reason, cause } = accepted;
        if (cause !== undefined) log.warn({ ...about, client_id: askedBy.clientId }, `a settlement was not accepted: ${cause}`);
        return { reason };
      }
      if (accepted.outcome === 'accepted') return accepted;
      return (await this.findEarlier(askedBy, key)) ?? { reason: 'unexpected_settle_error' };
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'chain_unavailable') throw error;
      log.warn({ err: error, ...about }, 'a settlement was not accepted: the fees of the chain are not known');
      return { reason: 'unexpected_settle_error' };
    }
  }

  /** Of a payment that has no identity: what makes it none. */
  private async toReasonUnread({ clientId }: AskedBy, request: PaymentRequest): Promise<Reason> {
    const verified = await this.deps.verifier.verify(clientId, request);
    return 'reason' in verified ? verified.reason : 'invalid_payload';
  }

  private async answer(askedBy: AskedBy, txId: string, ms: number | null, read: ReadResult): Promise<Settled> {
    const state = await this.waitForOutcome(askedBy, txId, ms);
    const { outcome } = state;
    const about = { network: read.network, payer: state.payer, txId, hash: outcome.hash ?? '' };
    switch (outcome.outcome) {
      case 'paid':
        return { ...about, reason: null, amount: state.amount };
      case 'failed':
        return { ...about, reason: this.toReason(state), amount: null };
      case 'pending':
        return { ...about, ...(ms === null ? { reason: null, hash: '' } : { reason: 'settlement_pending' }), amount: null };
    }
  }

  /**
   * At the latest after `ms`. One of which nothing was begun by then is cancelled; of one that is begun the hash is waited for, without
   * which official servers take `settlement_pending` for an end.
   */
  private async waitForOutcome({ clientId }: AskedBy, txId: string, ms: number | null): Promise<SettlementState> {
    const { watch, database, waitMs } = this.deps;
    const startedAt = performance.now();
    let state = await watch.wait(txId, ms ?? 0);
    if (ms === null) return state;
    const isUnknown = ({ outcome }: SettlementState) => outcome.outcome === 'pending' && outcome.hash === null;
    while (isUnknown(state)) {
      const waitedMs = performance.now() - startedAt;
      if (waitedMs > waitMs.longest || ms === 0 || watch.isEnding) break;
      if (!isBegun(state)) await endUnbegun(database, clientId, txId);
      state = await watch.wait(txId, hashWaitMs);
    }
    return state;
  }

  private toReason({ chain, scheme, payloadType, outcome }: SettlementState): Reason {
    const failure = outcome.outcome === 'failed' ? outcome.failure : null;
    return failure
      ? this.toFailure({ chain: this.deps.registry.get(chain), scheme, payloadType }, failure)
      : 'unexpected_settle_error';
  }

  private toFailure(
    { chain, scheme, payloadType }: Pick<PaymentRequest, 'chain' | 'scheme' | 'payloadType'>,
    failure: SettlementFailure,
  ): Reason {
    const method = findPaymentMethod(chain.family, { scheme, payloadType });
    return method?.failures[scheme][failure] ?? 'unexpected_settle_error';
  }
}

const isWait = (wait: Wait): boolean => wait === 'usual' || (wait.ms ?? 0) > 0;

/** Of one that is given coins for its payer something is begun before its own signing is. */
const isBegun = ({ outcome }: SettlementState): boolean => outcome.outcome !== 'pending' || outcome.isBegun;

const refused = ({ network, payer }: ReadResult, reason: Reason): Settled => ({
  ...{ reason, hash: '', network, payer, txId: null, amount: null },
});

function measure(request: PaymentRequest | null, reason: Reason | null, startedAt: number): void {
  const { scheme = 'unknown', payloadType: method = 'unknown' } = request ?? {};
  settlements.inc({ scheme, method, reason: reason ?? 'settled' });
  settlementDuration.observe({ outcome: reason ?? 'settled' }, (performance.now() - startedAt) / 1e3);
}
