import { fromHex } from '../../../platform/hex';
import { within } from '../../../platform/within';
import { EndpointList, unavailable } from '../../endpoints';
import type { ApprovalQuote, Payment, PaymentClient, Simulated } from '../../payments';
import type { ChainDefinition } from '../../types';
import { SolanaNode } from '../node';
import { simulateOffered } from '../simulate';
import { isOfSettler } from './simulated';

/** Time of one simulation with all endpoints: somebody waits for the verdict. */
const maxSimulationMs = 10_000;

/** Payments on a Solana chain: a good one costs one simulation. */
export class SolanaPaymentClient implements PaymentClient {
  private readonly endpoints: EndpointList<SolanaNode>;

  constructor(
    private readonly chain: ChainDefinition,
    urls: readonly string[],
  ) {
    const nodes = urls.map((url, index) => new SolanaNode(chain, url, index + 1));
    this.endpoints = new EndpointList(chain, nodes, () => false);
  }

  /**
   * The whole transaction is executed, with everything that could make it fail but the signatures.
   */
  async simulate(payment: Payment): Promise<Simulated> {
    const asked = simulateOffered(this.endpoints, fromHex(payment.signature));
    const late = () => unavailable(this.chain, 'no RPC endpoint responded in time');
    const { error } = await within(asked, maxSimulationMs, late);
    if (error === null) return { payment };
    if (isOfSettler(error)) throw unavailable(this.chain, 'the settler has less SOL than the transaction takes');
    return { reason: 'invalid_exact_svm_transaction_simulation_failed' };
  }

  /** @throws Error: there are no approvals here */
  quoteApproval(): Promise<ApprovalQuote> {
    return Promise.reject(new Error('there are no approvals on Solana'));
  }
}
