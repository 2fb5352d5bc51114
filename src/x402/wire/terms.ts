import { isJsonObject } from '../../chains/json';
import { parseUint256 } from '../../platform/uint256';
import type { JsonObject } from '../../chains/types';

/** What one side says is to be paid; the same in both versions of the protocol, but for the name of the amount. */
export interface WireTerms {
  scheme: string;
  network: string;
  asset: string;
  payTo: string;
  /** Atomic units. */
  amount: bigint;
  extra: JsonObject;
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** null: a field is missing or has another type. Fields that are not needed here may be missing; unknown ones pass. */
export function readTerms(value: unknown, amountField: 'amount' | 'maxAmountRequired'): WireTerms | null {
  if (!isJsonObject(value)) return null;
  const { scheme, network, asset, payTo, extra, maxTimeoutSeconds } = value;
  const amount = parseUint256(value[amountField]);
  if (![scheme, network, asset, payTo].every((text) => typeof text === 'string' && text !== '')) return null;
  if (amount === null || !(isAbsent(maxTimeoutSeconds) || typeof maxTimeoutSeconds === 'number')) return null;
  if (!(isAbsent(extra) || isJsonObject(extra))) return null;
  return {
    ...({ scheme, network, asset, payTo } as Record<'scheme' | 'network' | 'asset' | 'payTo', string>),
    amount,
    extra: (extra ?? {}) as JsonObject,
  };
}
