import { size } from 'viem';
import { within } from '../../../platform/within';
import type { PaymentReason } from '../../payment-reasons';
import type { ApprovalQuote, Payment, PaymentClient, Simulated } from '../../payments';
import type { ChainDefinition } from '../../types';
import { unavailable } from '../../endpoints';
import { type Endpoints, NodeRefusal, type RpcCall } from '../rpc';
import { quoteApproval } from './approved';
import { encodeSettlement, keySignatureBytes } from './calldata';
import { simulateDeployment } from './deployment';
import { diagnose } from './diagnose';
import { refuse } from './fields';
import { hasCode, tryCall } from './simulate';

/** A contract that was there is believed to be there for so long. */
const deployedTtlMs = 15 * 60_000;

/** Time of one simulation with all its retries and endpoints: somebody waits for the verdict. */
const maxSimulationMs = 10_000;

/**
 * Payments on an EVM chain. A good payment costs one eth_call: the token and Permit2 themselves check signature, nonce, times,
 * balance and allowance. Only what would revert is asked about, in a second round.
 */
export class EvmPaymentClient implements PaymentClient {
  /** Until when a contract counts as deployed, ms since the epoch. Keys: tokens of the registry and two proxies. */
  private readonly deployed = new Map<string, number>();

  constructor(
    private readonly chain: ChainDefinition,
    private readonly endpoints: Endpoints,
    private readonly maxMs = maxSimulationMs,
  ) {}

  simulate(payment: Payment, settler: string): Promise<Simulated> {
    return this.ask((call, callAtOnce) => this.simulateAt(call, callAtOnce, payment, settler));
  }

  quoteApproval(payment: Payment, settler: string): Promise<ApprovalQuote> {
    const { sponsoring } = payment;
    if (sponsoring.type !== 'approval') throw new Error('the payment brings no approval');
    return this.ask((call) => quoteApproval(call, payment, sponsoring, settler));
  }

  private ask<T>(work: (call: RpcCall, callAtOnce: RpcCall) => Promise<T>): Promise<T> {
    const asked = this.endpoints
      .run((call, _, callAtOnce) => work(call, callAtOnce))
      .catch((error: unknown) => {
        throw error instanceof NodeRefusal ? unavailable(this.chain, 'the node refused a request', error) : error;
      });
    // bounded by the time-outs of its requests
    return within(asked, this.maxMs, () => unavailable(this.chain, 'no RPC endpoint responded in time'));
  }

  private async simulateAt(call: RpcCall, callAtOnce: RpcCall, payment: Payment, settler: string): Promise<Simulated> {
    const { sponsoring } = payment;
    if (sponsoring.type === 'deployment') {
      // asked at once with the rest
      const creation = simulateDeployment(call, callAtOnce, payment, sponsoring, settler);
      // where the wallet exists, nobody needs to know
      creation.catch(() => undefined);
      const [hasToken, hasWallet] = await Promise.all([
        this.isDeployed(call, payment.token.contract as string),
        hasCode(call, payment.payer),
      ]);
      if (!hasToken) return refuse('asset_not_deployed_contract');
      if (!hasWallet) {
        const reason = await creation;
        return reason ? { reason } : { payment };
      }
    }
    // an approval that the payer has signed is not executed here: see quoteApproval
    const isPermit = sponsoring.type === 'permit';
    const needed: Payment = isPermit ? payment : { ...payment, sponsoring: { type: 'none' } };
    const hasWallet = sponsoring.type === 'deployment';
    const reason = await this.simulateCall(call, callAtOnce, needed, settler, hasWallet);
    return reason ? { reason } : { payment: needed };
  }

  /** `hasWallet`: the payer's wallet is known to exist. */
  private async simulateCall(
    call: RpcCall,
    callAtOnce: RpcCall,
    payment: Payment,
    settler: string,
    hasWallet: boolean,
  ): Promise<PaymentReason | null> {
    // the whole amount, as the payer has signed it: what is paid in the end may be less (upto)
    const settlement = encodeSettlement(payment, payment.authorised);
    const token = payment.token.contract as string;
    const [hasToken, hasTarget, isWallet, outcome] = await Promise.all([
      this.isDeployed(call, token),
      this.isDeployed(call, settlement.to),
      !hasWallet && needsWallet(payment) ? hasCode(call, payment.payer) : true,
      tryCall(callAtOnce, { from: settler, ...settlement }),
    ]);
    // a call of an address without code succeeds
    if (!hasToken) return 'asset_not_deployed_contract';
    if (!hasTarget) return 'permit2_proxy_not_deployed';
    if (!isWallet) return payment.isWrapped ? 'eip6492_factory_not_allowed' : 'invalid_permit2_signature';
    if ('reverted' in outcome) return diagnose(call, payment, outcome.data);
    // no function that settles returns anything: this is not the outcome of the call
    if (outcome.result !== '0x') throw new Error('the node responded with a result that a settlement does not have');
    return null;
  }

  private async isDeployed(call: RpcCall, address: string): Promise<boolean> {
    const key = address.toLowerCase();
    if ((this.deployed.get(key) ?? 0) > Date.now()) return true;
    const isThere = await hasCode(call, address);
    if (isThere) this.deployed.set(key, Date.now() + deployedTtlMs);
    return isThere;
  }
}

/**
 * Signatures that are for wallets only: wrapped ones, whose factory is not called for this client, and what no key signs. Permit2 itself also
 * takes compact signatures (EIP-2098) of a key; official facilitators do not.
 */
const needsWallet = ({ isWrapped, method, signature }: Payment): boolean =>
  isWrapped || (method !== 'eip3009' && size(signature) !== keySignatureBytes);
