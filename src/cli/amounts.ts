import type { TokenDefinition } from '../chains/types';
import { invalidParameter } from '../platform/errors';
import { parseAmount } from '../platform/money';

/** Atomic units of an option in display units. @throws GatewayError invalid_parameter naming the option. */
export function readAmount(option: string, text: string, { symbol, decimals }: TokenDefinition): bigint {
  const amount = parseAmount(text, decimals);
  if (typeof amount !== 'bigint') throw invalidParameter(option, `must be an amount of ${symbol} such as 1 or 0.05`);
  return amount;
}

/** The same of more than nothing. */
export function readPositiveAmount(option: string, text: string, token: TokenDefinition): bigint {
  const amount = readAmount(option, text, token);
  if (amount === 0n) throw invalidParameter(option, `must be more than 0 ${token.symbol}`);
  return amount;
}
