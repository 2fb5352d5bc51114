import type { Address } from 'viem';
import { parseUint256 } from '../../../platform/uint256';
import type { PaymentReason } from '../../payment-reasons';
import type { Sponsoring } from '../../payments';

/** What an allowance for Permit2 has to be good for. */
export interface NeededAllowance {
  payer: Address;
  token: Address;
  /** Atomic units. */
  amount: bigint;
}

export type SponsoringResult = Sponsoring | { reason: PaymentReason };

/** Numbers of the gas-sponsoring extensions are decimal only; null for anything else. */
export const readDecimal = (value: unknown): bigint | null =>
  typeof value === 'string' && !value.startsWith('0x') ? parseUint256(value) : null;

export const isVersion = (value: unknown): boolean => typeof value === 'string' && /^\d+(\.\d+){0,9}$/.test(value);
