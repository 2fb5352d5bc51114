import type { EntityManager } from 'typeorm';
import type { AccountEntity } from '../accounts/entity';
import type { FamilyCodec } from '../chains/family';
import type { AttemptKind, ChainDefinition, FamilyRules, TransactionDescription, TransactionIntent } from '../chains/types';
import type { AttemptFacts } from '../messages/order';
import type { TransactionEntity } from './entity';
import type { IntendedTransaction } from './intent';

/** What a transaction is built from, and what its bytes say. */
export interface BuiltTransaction {
  chain: ChainDefinition;
  intent: TransactionIntent;
  described: TransactionDescription;
}

/** What the bytes of a transaction say that is rebuilt. */
export interface RebuiltTransaction {
  chain: ChainDefinition;
  described: TransactionDescription;
  /** Highest network fee of its orders; atomic units of the native coin. */
  feeBound: bigint;
}

/** What the row of a transaction says that is rebuilt, before it is inserted. */
export type RebuiltRow = Pick<TransactionEntity, 'txId' | 'chain' | 'fromAddress' | 'toAddress' | 'amount'> & {
  accountId: string;
  toAddressKey: string;
  /** When its first attempt was, by its order, in whole seconds. */
  orderedAt: Date;
};

/** What else the row of a rebuilt transaction says. */
export type RebuiltColumns = Partial<Pick<TransactionEntity, 'parentTxId'>>;

type RuledFamily = Pick<FamilyCodec, 'rules' | 'settlementRules'>;

/**
 * What differs between the types of transactions that are signed, except for what the columns of a type (types.ts) already say. The
 * table of signed types is src/signed-types.ts.
 */
export interface SignedType {
  /** Kind of the order over a first attempt; later attempts have orders of their own kinds. */
  readonly orderKind: Exclude<AttemptFacts['kind'], AttemptKind>;
  /** What the transaction is to do, from its sender (`getSender`). */
  loadIntent(manager: EntityManager, transaction: IntendedTransaction): Promise<TransactionIntent>;
  /**
   * The sender's account: its key signs, with others of its client where a chain needs them, and it reserves what an attempt uses up.
   * @throws Error when the transaction names one that may not sign a transaction of this type.
   */
  findSigner(manager: EntityManager, transaction: TransactionEntity): Promise<AccountEntity>;
  /** What a transaction has to pass before its first attempt, under its lock. @throws NotBegun. */
  assertMayBegin(manager: EntityManager, transaction: TransactionEntity): Promise<void>;
  /** The same for what follows the first attempt, cancellations excepted. @throws NotBegun. */
  assertMayContinue(manager: EntityManager, transaction: TransactionEntity): Promise<void>;
  /**
   * Milliseconds, by the clock of the database, until the transaction is abandoned: by a cancellation or, where there is none, by waiting
   * for its proof. Negative once it is; null: it is not abandoned by time.
   */
  timeLeft(manager: EntityManager, transaction: TransactionEntity): Promise<number | null>;
  /** What happens to one that does not proceed, of itself or by its chain's family; absent: as the family says of payments. */
  readonly rules?: FamilyRules | ((family: RuledFamily) => FamilyRules);
  /** Only a cancellation of it may cost more than what it holds for its fee. */
  readonly feeIsFixed?: true;
  /** Its signatures are given to the client, and somebody else sends them: it has no ordinal, and no place in the line of its account. */
  readonly isHandedOut?: true;
  /**
   * The nodes compare the bytes with the order alone: what is stored beside the transaction has to be what the bytes say.
   * @returns name of the first stored field that is not; null: none. Absent: nothing is stored beside the transaction
   */
  findDifference?(manager: EntityManager, transaction: TransactionEntity, built: BuiltTransaction): Promise<string | null>;
  /**
   * Stores what has to be there before the row of a transaction that is rebuilt, and finds what is in no order. Absent: nothing.
   * @throws GatewayError business_error with the reason why it cannot be rebuilt.
   */
  prepareRebuild?(manager: EntityManager, row: RebuiltRow): Promise<RebuiltColumns>;
  /**
   * Stores what is kept beside the transaction, from its bytes alone: of one that is rebuilt after the database was restored. Absent:
   * nothing is.
   */
  rebuild?(
    manager: EntityManager,
    transaction: Pick<TransactionEntity, 'txId' | 'clientId'>,
    rebuilt: RebuiltTransaction,
  ): Promise<void>;
  /** Whether somebody else's transaction has to be executed before it begins; absent: never. */
  needsSponsoring?(manager: EntityManager, transaction: TransactionEntity): Promise<boolean>;
}

/** What happens to transactions of a type that do not proceed, on chains of this family. */
export const rulesOf = ({ rules = ({ rules: ofFamily }) => ofFamily }: SignedType, family: RuledFamily): FamilyRules =>
  typeof rules === 'function' ? rules(family) : rules;

/** Returns the signed type of a name; a parameter, since tests have types of their own. @throws Error for a type that is not signed. */
export type GetSignedType = (name: string) => SignedType;
