import type { Logger } from '../platform/logging';
import { verificationDuration, verifications } from './metrics';
import type { Reason } from './reasons';
import type { ServedChain, ServedChains } from './served';
import type { PaymentVerifier, Verification } from './verify';

export interface Verdict {
  /** null: the payment is valid. */
  reason: Reason | null;
  /** As the body states it. */
  payer: string | undefined;
}

export class X402Service {
  constructor(
    private readonly verifier: PaymentVerifier,
    private readonly served: ServedChains,
  ) {}

  /** @throws the failure of the database; whatever else is wrong is a reason. */
  async verify(clientId: string, body: unknown, log: Pick<Logger, 'warn'>): Promise<Verdict> {
    const startedAt = performance.now();
    const verification = await this.verifier.verify(clientId, body, 'verify');
    const reason = 'reason' in verification ? verification.reason : null;
    measure(verification, reason, startedAt);
    if ('cause' in verification && verification.cause)
      log.warn({ err: verification.cause, chain: verification.request?.chain.name }, 'a payment could not be verified');
    return { reason, payer: verification.payer };
  }

  /** What is served to a client. */
  supported(clientId: string): Promise<ServedChain[]> {
    return this.served.all(clientId);
  }
}

function measure({ request }: Verification, reason: Reason | null, startedAt: number): void {
  const { scheme = 'unknown', payloadType: method = 'unknown' } = request ?? {};
  verifications.inc({ scheme, method, reason: reason ?? 'valid' });
  verificationDuration.observe({ verdict: reason ? 'invalid' : 'valid' }, (performance.now() - startedAt) / 1e3);
}
