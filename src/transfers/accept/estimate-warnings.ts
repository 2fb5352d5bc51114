import type { ChainDefinition } from '../../chains/types';
import type { HeldBalance } from '../../ledger/posting';
import { formatAmount } from '../../platform/money';

export const warningCodes = ['minimum_balance', 'waits_for_operator'] as const;

/** What may happen to a transfer that would be accepted. */
export interface EstimateWarning {
  code: (typeof warningCodes)[number];
  message: string;
}

interface Circumstances {
  chain: ChainDefinition;
  /** What would be taken of its accounts; atomic units. */
  balances: HeldBalance[];
  /** Atomic units of the native coin; undefined: the chain demands nothing. */
  minimumBalance: bigint | undefined;
  /** An earlier transaction of the account waits for an operator, and the chain executes them in their order. */
  isBehindParked: boolean;
}

export function findWarnings({
  chain: { name, native },
  balances,
  minimumBalance = 0n,
  isBehindParked,
}: Circumstances): EstimateWarning[] {
  const coin = balances.find(({ symbol }) => symbol === native.symbol);
  const warnings: EstimateWarning[] = [];
  // by the bound: what the fee does not take of it is left too, and may still be too little
  if (coin && coin.available - coin.taken < minimumBalance)
    warnings.push({
      code: 'minimum_balance',
      message: `The account may keep less than ${formatAmount(minimumBalance, native.decimals)} ${native.symbol}: ${name} refuses a transaction that leaves less, and the transfer fails then`,
    });
  if (isBehindParked)
    warnings.push({
      code: 'waits_for_operator',
      message: `An earlier transaction of the account on ${name} waits for an operator, and this transfer would wait behind it`,
    });
  return warnings;
}
