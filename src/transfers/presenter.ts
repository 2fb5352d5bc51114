import type { CreatedAnswer } from '../http/context';
import { describeError } from '../http/errors';
import { formatAmount } from '../platform/money';
import { isEnded } from '../transactions/state';
import type { Acceptance } from './accept/accept';
import type { TransferEstimate } from './accept/estimate';
import type { TransferEstimateView, TransferView } from './schema';

const presentAccepted = ({ txId, status }: Acceptance): TransferView => ({
  tx_id: txId,
  status,
  // a key gives its transfer for ever, also once that has ended
  message: isEnded({ status })
    ? 'The transfer was accepted before and has ended: see GET /transactions/{tx_id}'
    : 'The amount is locked and the transfer is in progress: follow it with GET /transactions/{tx_id}',
});

export const toAnswer = (acceptance: Acceptance): Required<CreatedAnswer> => ({
  body: presentAccepted(acceptance),
  path: `/transactions/${acceptance.txId}`,
});

export function presentEstimate(estimate: TransferEstimate): TransferEstimateView {
  const { chain, token, amount, feeBound, balances, refusal, needsApproval, warnings } = estimate;
  const { native } = chain;
  const present = (symbol: string, atomic: bigint) =>
    formatAmount(atomic, symbol === token.symbol ? token.decimals : native.decimals);
  return {
    would_be_accepted: refusal === null,
    refusal: refusal && describeError(refusal),
    needs_approval: needsApproval,
    chain: chain.name,
    token_symbol: token.symbol,
    amount: present(token.symbol, amount),
    fee_bound: feeBound === null ? null : { amount: present(native.symbol, feeBound), symbol: native.symbol },
    balances: balances.map(({ symbol, available, taken }) => ({
      token_symbol: symbol,
      available: present(symbol, available),
      // what the coin is to pay includes the fee
      needed: feeBound === null && symbol === native.symbol ? null : present(symbol, taken),
    })),
    warnings,
  };
}
