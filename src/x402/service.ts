import type { DataSource } from 'typeorm';
import type { PaymentRequest } from '../chains/payments';
import type { ChainRegistry } from '../chains/registry';
import type { Logger } from '../platform/logging';
import { verificationDuration, verifications } from './metrics';
import type { Reason } from './reasons';
import type { ServedChain, ServedChains } from './served';
import { findClaimed, toPaymentKey } from './settlement/claimed';
import type { PaymentVerifier, Verification } from './verify';
import { readPaymentRequest } from './wire/request';

export interface Verdict {
  /** null: the payment is valid. */
  reason: Reason | null;
  /** As the body states it. */
  payer: string | undefined;
}

export class X402Service {
  constructor(
    private readonly database: DataSource,
    private readonly registry: ChainRegistry,
    private readonly verifier: PaymentVerifier,
    private readonly served: ServedChains,
  ) {}

  /**
   * @param body any JSON
   * @throws the failure of the database; whatever else is wrong is a reason.
   */
  async verify(clientId: string, body: unknown, log: Pick<Logger, 'warn'>): Promise<Verdict> {
    const startedAt = performance.now();
    const { payer, ...read } = readPaymentRequest(body, this.registry, 'verify');
    const request = 'request' in read ? read.request : null;
    const verification = 'reason' in read ? read : await this.verifyUnclaimed(clientId, read.request);
    const reason = 'reason' in verification ? verification.reason : null;
    measure(request, reason, startedAt);
    if ('cause' in verification && verification.cause)
      log.warn({ err: verification.cause, chain: request?.chain.name }, 'a payment could not be verified');
    // a transaction says who pays only once it is decoded
    return { reason, payer: payer ?? ('payment' in verification ? verification.payment.payer : undefined) };
  }

  /** A payment that has a settlement is good for nothing else, whether or not the chain has executed it. */
  private async verifyUnclaimed(clientId: string, request: PaymentRequest): Promise<Verification> {
    const key = toPaymentKey(request);
    const [verification, claimed] = await Promise.all([
      this.verifier.verify(clientId, request),
      key && findClaimed(this.database.manager, clientId, key),
    ]);
    if ('reason' in verification || claimed === null) return verification;
    return { reason: claimed.outcome === 'conflict' ? 'payment_identifier_conflict' : 'duplicate_settlement' };
  }

  /** What is served to a client. */
  supported(clientId: string): Promise<ServedChain[]> {
    return this.served.all(clientId);
  }
}

function measure(request: PaymentRequest | null, reason: Reason | null, startedAt: number): void {
  const { scheme = 'unknown', payloadType: method = 'unknown' } = request ?? {};
  verifications.inc({ scheme, method, reason: reason ?? 'valid' });
  verificationDuration.observe({ verdict: reason ? 'invalid' : 'valid' }, (performance.now() - startedAt) / 1e3);
}
