import type { DataSource } from 'typeorm';
import type { GetFamily } from '../chains/family';
import type { Payment, PaymentRequest } from '../chains/payments';
import { GatewayError } from '../platform/errors';
import { isBlacklisted } from '../screening/destinations';
import type { Settler } from '../settlers/attested';
import { checkPayment } from './check';
import type { Reason } from './reasons';
import type { ServedChain, ServedChains } from './served';

export interface VerifierDependencies {
  database: DataSource;
  getFamily: GetFamily;
  served: ServedChains;
}

export interface GoodPayment {
  payment: Payment;
  /** Who is to send it. */
  settler: Settler;
  served: ServedChain;
}

export interface BadPayment {
  reason: Reason;
  /** Why the chain could not be asked; the reason is unexpected_verify_error then. */
  cause?: GatewayError;
}

export type Verification = GoodPayment | BadPayment;

/** Checks what a payer has signed against what a client asks for. Writes nothing. */
export class PaymentVerifier {
  constructor(private readonly deps: VerifierDependencies) {}

  /**
   * Whether the payment would be executed now: what needs no chain, then the chain and the client's blacklist at the same time.
   * @throws the failure of the database; a chain that cannot be asked is a reason
   */
  async verify(clientId: string, request: PaymentRequest): Promise<Verification> {
    const served = await this.deps.served.find(clientId, request.chain);
    // as for a network that the gateway does not have: /supported does not name it to this client
    if (!served) return { reason: 'invalid_network' };
    const checked = checkServed(request, served);
    if ('reason' in checked) return checked;
    const [refusal, isRefused] = await Promise.all([simulate(checked), this.isRefusedRecipient(clientId, checked.payment)]);
    // the reason of terms that cannot be met: buyers are shown it, and the list is the seller's own
    return isRefused ? { reason: 'invalid_payment_requirements' } : (refusal ?? checked);
  }

  private isRefusedRecipient(clientId: string, { chain, payTo }: Payment): Promise<boolean> {
    const { key } = this.deps.getFamily(chain.family).parseAddress(payTo) ?? { key: payTo };
    return isBlacklisted(this.deps.database.manager, { clientId, chain: chain.name, addressKey: key });
  }
}

function checkServed(request: PaymentRequest, served: ServedChain): GoodPayment | BadPayment {
  const { settlers, policy } = served;
  const checked = checkPayment(request, {
    now: Math.floor(Date.now() / 1000),
    settlers: new Set(settlers.map(({ addressKey }) => addressKey)),
    sponsors: { permit: policy.sponsorsPermit, approval: policy.sponsorsApproval },
  });
  if ('reason' in checked) return checked;
  const settler = chooseSettler(checked.payment, settlers);
  // the one that the payer has named takes nothing new any more
  return settler ? { ...checked, settler, served } : { reason: 'upto_facilitator_mismatch' };
}

/** The one that the payer has named, else the primary one, else any. */
function chooseSettler({ facilitator }: Payment, settlers: Settler[]): Settler | undefined {
  return settlers.find(({ isActive, address }) => isActive && (facilitator === null || facilitator === address));
}

/** null: the chain would execute it. */
async function simulate({ payment, settler, served }: GoodPayment): Promise<BadPayment | null> {
  try {
    const reason = await served.payments.simulate(payment, settler.address);
    return reason ? { reason } : null;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'chain_unavailable')
      return { reason: 'unexpected_verify_error', cause: error };
    throw error;
  }
}
