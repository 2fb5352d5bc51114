import { fromHex } from '../../../platform/hex';
import { within } from '../../../platform/within';
import { EndpointList, unavailable } from '../../endpoints';
import type { ApprovalQuote, Payment, PaymentClient, Simulated } from '../../payments';
import { Paces } from '../../request-rate';
import type { ChainDefinition } from '../../types';
import type { Account } from '../answers';
import { readMint } from '../mint';
import { SolanaNode } from '../node';
import { simulateOffered } from '../simulate';
import { blockAge, recentHashes } from './block-age';
import { maxBlockAge } from './limits';
import { readTransaction } from './offered';
import { isOfSettler } from './simulated';

/** Time of one simulation with all endpoints: somebody waits for the verdict. */
const maxSimulationMs = 10_000;

/** Whether it would hardly get into a block any more. A hash that the chain does not show says nothing: the simulation knows it. */
function isOld(transaction: Buffer, recent: Account | null): boolean {
  const offered = readTransaction(transaction);
  if (!recent || !('transaction' in offered)) return false;
  return (blockAge(recent.data, offered.transaction.blockhash) ?? 0) > maxBlockAge;
}

/** Payments on a Solana chain: a good one costs one simulation, and one look at its token and at recent blocks. */
export class SolanaPaymentClient implements PaymentClient {
  private readonly endpoints: EndpointList<SolanaNode>;

  constructor(
    private readonly chain: ChainDefinition,
    urls: readonly string[],
  ) {
    const paces = new Paces();
    const nodes = urls.map((url, index) => new SolanaNode(chain, url, index + 1, paces));
    this.endpoints = new EndpointList(chain, nodes);
  }

  /**
   * The whole transaction is executed, with everything that could make it fail but the signatures. It has to have time left for being
   * executed once more, and its token must not be one that keeps a part of what is paid, or has other programs take part in it.
   */
  async simulate(payment: Payment): Promise<Simulated> {
    const transaction = fromHex(payment.signature);
    const asked = Promise.all([simulateOffered(this.endpoints, transaction), this.readAccounts(payment)]);
    const late = () => unavailable(this.chain, 'no RPC endpoint responded in time');
    const [{ error }, { mint, recent }] = await within(asked, maxSimulationMs, late);
    if (error !== null && isOfSettler(error))
      throw unavailable(this.chain, 'the settler has less SOL than the transaction takes');
    if (error !== null || isOld(transaction, recent)) return { reason: 'invalid_exact_svm_transaction_simulation_failed' };
    // what there is no account of, the simulation has not moved
    if (mint && typeof readMint(mint) === 'string') return { reason: 'invalid_payment_requirements' };
    return { payment };
  }

  private async readAccounts({ token }: Payment): Promise<{ mint: Account | null; recent: Account | null }> {
    const addresses = [token.contract as string, recentHashes];
    const [mint = null, recent = null] = await this.endpoints.run((node) => node.accounts(addresses, 'confirmed'));
    return { mint, recent };
  }

  /** @throws Error: there are no approvals here */
  quoteApproval(): Promise<ApprovalQuote> {
    return Promise.reject(new Error('there are no approvals on Solana'));
  }
}
