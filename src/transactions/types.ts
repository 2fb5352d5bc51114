export interface TransactionTypeRules {
  direction: 'in' | 'out';
  /** It holds funds of its account until it ends. */
  isHeld: boolean;
  /** It is signed by keys of the gateway. */
  isSigned: boolean;
  /** It belongs to the house; null: to the house or to another client. */
  isOfHouse: boolean | null;
}

/**
 * Every type of transaction. The table transaction_types has the same values (a test compares them); the rows of transactions
 * repeat them.
 */
export const transactionTypes = {
  OUTBOUND: { direction: 'out', isHeld: true, isSigned: true, isOfHouse: false },
  INBOUND: { direction: 'in', isHeld: false, isSigned: false, isOfHouse: null },
  /** What somebody outside has signed, sent by a settler: no money of the client moves. */
  X402_SETTLE: { direction: 'out', isHeld: false, isSigned: true, isOfHouse: false },
  /** An authorisation that a client signs, for somebody else to settle. */
  X402_SIGN: { direction: 'out', isHeld: true, isSigned: true, isOfHouse: false },
  /** Coins that a payer needs for an approval. */
  GAS_TOPUP: { direction: 'out', isHeld: true, isSigned: true, isOfHouse: true },
  /** Coins of a drained settler that leave the house, at an operator's request. */
  GAS_WITHDRAWAL: { direction: 'out', isHeld: true, isSigned: true, isOfHouse: true },
  /** Joins outputs of an account: nothing leaves it but the fee. */
  CONSOLIDATION: { direction: 'out', isHeld: true, isSigned: true, isOfHouse: null },
  /** What a settlement (parent_tx_id) has cost its settler; no transaction of the chain of its own. */
  GAS: { direction: 'out', isHeld: false, isSigned: false, isOfHouse: true },
} as const satisfies Record<string, TransactionTypeRules>;

export type TransactionType = keyof typeof transactionTypes;

/** Types of the transactions that the API shows. */
export const shownTypes = Object.entries(transactionTypes).flatMap(([type, { isOfHouse }]) => (isOfHouse ? [] : [type]));

/** What a client sends. */
export const transferType: TransactionType = 'OUTBOUND';
/** What arrives for a client. */
export const depositType: TransactionType = 'INBOUND';
/** What a settler sends for a client. */
export const settlementType: TransactionType = 'X402_SETTLE';
/** What a client authorises and somebody else sends. */
export const authorisationType: TransactionType = 'X402_SIGN';
/** What the house gives to a payer. */
export const topUpType: TransactionType = 'GAS_TOPUP';
/** What leaves the house. */
export const withdrawalType: TransactionType = 'GAS_WITHDRAWAL';
/** What joins outputs of an account. */
export const consolidationType: TransactionType = 'CONSOLIDATION';
/** Types that are abandoned by time (`SignedType.timeLeft`), and by no operator. */
export const timedTypes: readonly TransactionType[] = [settlementType, topUpType, authorisationType];
/** What a settlement has cost. */
export const gasType: TransactionType = 'GAS';
