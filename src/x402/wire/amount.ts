import type { JsonObject } from '../../chains/types';
import { parseUint256 } from '../../platform/uint256';
import type { Reason } from '../reasons';
import type { WireTerms } from './terms';

export type Phase = 'verify' | 'settle';

export interface UptoAmounts {
  /** What the payer has to have signed. */
  amount: bigint;
  /** What is to be paid now; null: not said yet. */
  settlementAmount: bigint | null;
}

/**
 * Where the amount of an upto payment stands. `accepted` is written by the payer: a settlementAmount in it that the resource server
 * does not repeat is refused when it is verified already, since the server would otherwise work for whatever the payer wrote.
 * @param requirements null: only `accepted` was sent
 */
export function readUptoAmounts(
  accepted: WireTerms,
  requirements: WireTerms | null,
  phase: Phase,
): UptoAmounts | { reason: Reason } {
  const [payers, servers] = [readSettlementAmount(accepted.extra), readSettlementAmount(requirements?.extra ?? {})];
  if (payers === 'malformed') return { reason: 'invalid_payload' };
  if (servers === 'malformed') return { reason: 'invalid_payment_requirements' };
  const { amount } = accepted;
  if (requirements === null) return { amount, settlementAmount: payers ?? (phase === 'settle' ? amount : null) };
  if (payers !== null && payers !== servers) return { reason: 'invalid_payment_requirements' };
  if (servers !== null) {
    const agrees = requirements.amount === servers || requirements.amount === amount;
    return agrees ? { amount, settlementAmount: servers } : { reason: 'invalid_payment_requirements' };
  }
  if (phase === 'settle') return { amount, settlementAmount: requirements.amount };
  return requirements.amount === amount ? { amount, settlementAmount: null } : { reason: 'permit2_amount_mismatch' };
}

/** null: not given. */
function readSettlementAmount({ settlementAmount }: JsonObject): bigint | null | 'malformed' {
  if (settlementAmount === undefined || settlementAmount === null) return null;
  return parseUint256(settlementAmount) ?? 'malformed';
}
