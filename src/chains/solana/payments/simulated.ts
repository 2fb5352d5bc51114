import { isJsonObject } from '../../json';
import type { JsonValue } from '../../types';

/** Whether the error of a simulation says nothing about the payment: the fee payer, account 0, cannot pay. */
export function isOfSettler(error: JsonValue): boolean {
  if (error === 'AccountNotFound' || error === 'InsufficientFundsForFee') return true;
  const rent = isJsonObject(error) ? error.InsufficientFundsForRent : undefined;
  return isJsonObject(rent) && rent.account_index === 0;
}
