import { size } from 'viem';
import { setBounded } from '../../../platform/bounded';
import { within } from '../../../platform/within';
import type { PaymentReason } from '../../payment-reasons';
import type { ApprovalQuote, Payment, PaymentClient, Simulated } from '../../payments';
import type { ChainDefinition, Hex } from '../../types';
import { unavailable } from '../../endpoints';
import type { Endpoints, RpcCall } from '../rpc';
import { quoteApproval } from './approved';
import { type Deployment, encodeSettlement, keySignatureBytes } from './calldata';
import { simulateDeployment } from './deployment';
import { diagnose } from './diagnose';
import { refuse } from './fields';
import { type CallResult, hasCode, tryCall } from './simulate';

/** A contract that was there is believed to be there for so long. */
const deployedTtlMs = 15 * 60_000;
const maxWallets = 10_000;

/** Time of one simulation with all its retries and endpoints: somebody waits for the verdict. */
const maxSimulationMs = 10_000;

/**
 * Payments on an EVM chain. A good payment costs one eth_call: the token and Permit2 themselves check signature, nonce, times,
 * balance and allowance. Only what would revert is asked about, in a second round.
 */
export class EvmPaymentClient implements PaymentClient {
  /** Until when a contract counts as deployed, ms since the epoch. Keys: tokens of the registry and two proxies. */
  private readonly deployed = new Map<string, number>();
  /** The same of payers' wallets whose signatures are wrapped. Keys: payers as shown to clients. */
  private readonly wallets = new Map<string, number>();

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
    const asked = this.endpoints.run((call, _, callAtOnce) => work(call, callAtOnce));
    // bounded by the time-outs of its requests
    return within(asked, this.maxMs, () => unavailable(this.chain, 'no RPC endpoint responded in time'));
  }

  private async simulateAt(call: RpcCall, callAtOnce: RpcCall, payment: Payment, settler: string): Promise<Simulated> {
    const { sponsoring, payer } = payment;
    if (sponsoring.type === 'deployment' && !isBelieved(this.wallets, payer))
      return this.simulateBothWays(call, callAtOnce, payment, sponsoring, settler);
    // an approval that the payer has signed is not executed here: see quoteApproval
    const needed = sponsoring.type === 'permit' ? payment : withoutSponsoring(payment);
    const reason = await this.simulateCall(call, callAtOnce, needed, settler);
    // a reorganisation has taken the wallet back
    if (sponsoring.type === 'deployment' && reason === noWalletReason)
      return this.simulateBothWays(call, callAtOnce, payment, sponsoring, settler);
    return reason ? { reason } : { payment: needed };
  }

  /**
   * Of a wallet that may have to be created first. Whether it is there is asked together with both ways to execute the payment; what comes of
   * the other way, and whether it can be asked at all, is of no account.
   */
  private async simulateBothWays(
    call: RpcCall,
    callAtOnce: RpcCall,
    payment: Payment,
    deployment: Deployment,
    settler: string,
  ): Promise<Simulated> {
    const { payer, token, authorised } = payment;
    const existing = withoutSponsoring(payment);
    const created = simulateDeployment(call, callAtOnce, payment, deployment, settler);
    const executed = tryCall(callAtOnce, { from: settler, ...encodeSettlement(existing, authorised) });
    for (const way of [created, executed]) way.catch(() => undefined);
    const [hasToken, hasWallet] = await Promise.all([this.isDeployed(call, token.contract as string), hasCode(call, payer)]);
    if (!hasToken) return refuse('asset_not_deployed_contract');
    if (!hasWallet) {
      this.wallets.delete(payer);
      const reason = await created;
      return reason ? { reason } : { payment };
    }
    setBounded(this.wallets, payer, Date.now() + deployedTtlMs, maxWallets);
    if (isExecuted(await executed)) return { payment: existing };
    // it may have been executed on an older block than the one that has the wallet
    const reason = await this.simulateCall(call, callAtOnce, existing, settler);
    return reason ? { reason } : { payment: existing };
  }

  private async simulateCall(
    call: RpcCall,
    callAtOnce: RpcCall,
    payment: Payment,
    settler: string,
  ): Promise<PaymentReason | null> {
    // the whole amount, as the payer has signed it: what is paid in the end may be less (upto)
    const settlement = encodeSettlement(payment, payment.authorised);
    const token = payment.token.contract as string;
    const [hasToken, hasTarget, isWallet, outcome] = await Promise.all([
      this.isDeployed(call, token),
      this.isDeployed(call, settlement.to),
      needsWallet(payment) ? hasCode(call, payment.payer) : true,
      tryCall(callAtOnce, { from: settler, ...settlement }),
    ]);
    // a call of an address without code succeeds
    if (!hasToken) return 'asset_not_deployed_contract';
    if (!hasTarget) return 'permit2_proxy_not_deployed';
    if (!isWallet) return payment.isWrapped ? noWalletReason : 'invalid_permit2_signature';
    return isExecuted(outcome) ? null : diagnose(call, payment, outcome.data);
  }

  private async isDeployed(call: RpcCall, address: string): Promise<boolean> {
    const key = address.toLowerCase();
    if (isBelieved(this.deployed, key)) return true;
    const isThere = await hasCode(call, address);
    if (isThere) this.deployed.set(key, Date.now() + deployedTtlMs);
    return isThere;
  }
}

const isBelieved = (until: ReadonlyMap<string, number>, key: string): boolean => (until.get(key) ?? 0) > Date.now();

const withoutSponsoring = (payment: Payment): Payment => ({ ...payment, sponsoring: { type: 'none' } });

/** @throws Error for an outcome that no function that settles has: none returns anything */
function isExecuted(outcome: CallResult): outcome is Extract<CallResult, { result: Hex }> {
  if ('reverted' in outcome) return false;
  if (outcome.result !== '0x') throw new Error('the node responded with a result that a settlement does not have');
  return true;
}

/** Of a wrapped signature whose wallet is not there. */
const noWalletReason = 'eip6492_factory_not_allowed';

/**
 * Signatures that are for wallets only: wrapped ones, whose factory is not called for this client, and what no key signs. Permit2 itself also
 * takes compact signatures (EIP-2098) of a key; official facilitators do not.
 */
const needsWallet = ({ isWrapped, method, signature }: Payment): boolean =>
  isWrapped || (method !== 'eip3009' && size(signature) !== keySignatureBytes);
