import { type DataSource, Not } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import type { GetFamily } from '../chains/family';
import { findNamedSettler } from '../chains/payment-methods';
import type { Payment, PaymentRequest } from '../chains/payments';
import { GatewayError } from '../platform/errors';
import { isBlacklisted } from '../screening/destinations';
import type { Settler } from '../settlers/attested';
import { checkPayment } from './check';
import type { Reason } from './reasons';
import { isApprovalWithinLimits } from './settlement/approval-limits';
import { brakedReason, isPayerBraked } from './settlement/payer-brake';
import { Turns } from './turns';
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
  /** Coins that the payer lacks for its approval, where it brings one; atomic units. */
  topUp: bigint;
}

export interface BadPayment {
  reason: Reason;
  /** Why the chain could not be asked; the reason is unexpected_verify_error then. */
  cause?: GatewayError;
}

export type Verification = GoodPayment | BadPayment;

/** Of one client on one chain: the pace of its endpoints is for all clients. */
const simulationsAtOnce = { permits: 16, maxWaiting: 100, maxWaitMs: 10_000 };

/** Checks what a payer has signed against what a client asks for. Writes nothing. */
export class PaymentVerifier {
  private readonly turns = new Turns(simulationsAtOnce);

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
    const { manager } = this.deps.database;
    const [simulated, isRefused, isBraked] = await Promise.all([
      simulate(checked, (work) => this.turns.run(`${clientId} ${request.chain.name}`, work)),
      this.isRefusedRecipient(clientId, checked.payment),
      // asked only where it may be so: a verdict waits for few statements, and a settlement is asked about again
      served.policy.hasFailures && isPayerBraked(manager, clientId, checked.payment),
    ]);
    // the reason of terms that cannot be met: buyers are shown it, and the list is the seller's own
    if (isRefused) return { reason: 'invalid_payment_requirements' };
    // only whoever has signed for the payer is told so
    if ('reason' in simulated) return simulated;
    if (isBraked) return { reason: brakedReason };
    if (simulated.payment.sponsoring.type !== 'approval') return simulated;
    const isWithin = await isApprovalWithinLimits(manager, { clientId, ...simulated });
    return isWithin ? simulated : { reason: 'permit2_allowance_required' };
  }

  /**
   * One on the client's blacklist. And where less is taken than the payer has signed, an account of another client: who takes how much is for
   * the recipient to say, and whoever has seen the payment could use it up for less.
   */
  private async isRefusedRecipient(clientId: string, { chain, payTo, amount, authorised }: Payment): Promise<boolean> {
    const { manager } = this.deps.database;
    const { key } = this.deps.getFamily(chain.family).parseAddress(payTo) ?? { key: payTo };
    const [isListed, ofAnother] = await Promise.all([
      isBlacklisted(manager, { clientId, chain: chain.name, addressKey: key }),
      amount < authorised && manager.existsBy(AccountEntity, { family: chain.family, addressKey: key, clientId: Not(clientId) }),
    ]);
    return isListed || ofAnother;
  }
}

function checkServed(request: PaymentRequest, served: ServedChain): GoodPayment | BadPayment {
  const { settlers, policy } = served;
  const checked = checkPayment(request, {
    now: Math.floor(Date.now() / 1000),
    settlers: new Set(settlers.map(({ addressKey }) => addressKey)),
    sponsors: { permit: policy.sponsorsPermit, approval: policy.sponsorsApproval },
    walletFactories: new Set(policy.walletFactories),
  });
  if ('reason' in checked) return checked;
  const settler = chooseSettler(checked.payment, settlers);
  // the one that the payer has named takes nothing new any more
  return settler ? { ...checked, settler, served, topUp: 0n } : { reason: unnamedReason(request) };
}

/** Nobody whom the payer has named, if anybody, takes new payments. */
export const unnamedReason = ({ chain, scheme }: Pick<PaymentRequest, 'chain' | 'scheme'>): Reason =>
  findNamedSettler(chain.family, scheme)?.refusal ?? 'unexpected_verify_error';

/** The one that the payer has named, else the primary one, else any. */
function chooseSettler({ facilitator }: Payment, settlers: Settler[]): Settler | undefined {
  return settlers.find(({ isActive, address }) => isActive && (facilitator === null || facilitator === address));
}

/** Whether the chain would execute it as it is, or else after the approval that comes with it. */
async function simulate(
  good: GoodPayment,
  inTurn: (work: () => Promise<Verification>) => Promise<Verification>,
): Promise<Verification> {
  const { payment, settler, served } = good;
  try {
    return await inTurn(async () => {
      const simulated = await served.payments.simulate(payment, settler.address);
      if ('payment' in simulated) return { ...good, ...simulated };
      const isApproval = payment.sponsoring.type === 'approval';
      if (!isApproval || simulated.reason !== 'permit2_allowance_required') return simulated;
      const quote = await served.payments.quoteApproval(payment, settler.address);
      return 'reason' in quote ? quote : { ...good, topUp: quote.topUp };
    });
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'chain_unavailable')
      return { reason: 'unexpected_verify_error', cause: error };
    throw error;
  }
}
