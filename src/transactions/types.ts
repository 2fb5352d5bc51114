export interface TransactionTypeRules {
  direction: 'in' | 'out';
  /** It holds funds of its account until it ends. */
  isHeld: boolean;
  /** It is signed by keys of the gateway. */
  isSigned: boolean;
}

/**
 * Every type of transaction. The table transaction_types has the same values (a test compares them); the rows of transactions
 * repeat them.
 */
export const transactionTypes = {
  OUTBOUND: { direction: 'out', isHeld: true, isSigned: true },
  INBOUND: { direction: 'in', isHeld: false, isSigned: false },
  GAS: { direction: 'out', isHeld: false, isSigned: false },
} as const satisfies Record<string, TransactionTypeRules>;

export type TransactionType = keyof typeof transactionTypes;

/** What a client sends. */
export const transferType: TransactionType = 'OUTBOUND';
/** What arrives for a client. */
export const depositType: TransactionType = 'INBOUND';
