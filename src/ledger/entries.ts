import type { Shortfall } from './accounts';
import type { Bucket, Entry } from './posting';

/** The fields of a ledger account that entries need; amounts in atomic units. */
export interface AccountBalance {
  ledgerAccountId: string;
  chain: string;
  symbol: string;
  available: bigint;
  locked: bigint;
}

/** Names a ledger account. */
export type LedgerAccountRef = Pick<AccountBalance, 'ledgerAccountId' | 'chain' | 'symbol'>;

/** Amounts held by a transfer on its two ledger accounts (the same one twice when the token is the native coin). */
export interface Hold {
  token: AccountBalance;
  amount: bigint;
  native: AccountBalance;
  feeLocked: bigint;
}

const isOfHouse = (bucket: Bucket): boolean => bucket !== 'AVAILABLE' && bucket !== 'LOCKED';
const lineKey = ({ ledgerAccountId, chain, symbol }: LedgerAccountRef, bucket: Bucket): string =>
  `${isOfHouse(bucket) ? '' : ledgerAccountId} ${bucket} ${chain} ${symbol}`;

/** Collects transfers between buckets, each of which sums to zero, as one net entry per account and bucket. */
class EntryBuilder {
  private readonly lines = new Map<string, Entry>();
  readonly shortfalls: Shortfall[] = [];

  move(of: LedgerAccountRef, from: Bucket, to: Bucket, amount: bigint): void {
    if (amount < 0n) throw new RangeError(`cannot move ${amount} ${of.symbol} from ${from} to ${to}`);
    if (amount === 0n) return;
    this.add(of, from, -amount);
    this.add(of, to, amount);
  }

  /** Takes up to `locked` from LOCKED, then from AVAILABLE, the rest from the house: a fact from the chain is never refused. */
  debitWithShortfall(of: AccountBalance, locked: bigint, to: Bucket, amount: bigint): void {
    const fromLocked = min(locked, amount);
    const fromAvailable = min(this.getAvailable(of), amount - fromLocked);
    const short = amount - fromLocked - fromAvailable;
    this.move(of, 'LOCKED', to, fromLocked);
    this.move(of, 'AVAILABLE', to, fromAvailable);
    this.move(of, 'LOSS', to, short);
    if (short > 0n) this.shortfalls.push({ ledgerAccountId: of.ledgerAccountId, symbol: of.symbol, amount: short });
  }

  get entries(): Entry[] {
    return [...this.lines.values()].filter(({ amount }) => amount !== 0n);
  }

  private getAvailable(of: AccountBalance): bigint {
    return of.available + (this.lines.get(lineKey(of, 'AVAILABLE'))?.amount ?? 0n);
  }

  private add(of: LedgerAccountRef, bucket: Bucket, amount: bigint): void {
    const ledgerAccountId = isOfHouse(bucket) ? null : of.ledgerAccountId;
    const key = lineKey(of, bucket);
    const line = this.lines.get(key) ?? { ledgerAccountId, bucket, chain: of.chain, symbol: of.symbol, amount: 0n };
    this.lines.set(key, { ...line, amount: line.amount + amount });
  }
}

/** Amount and fee bound from available to locked. */
export function placeHold({
  token,
  amount,
  native,
  feeLocked,
}: Pick<Hold, 'amount' | 'feeLocked'> & { token: LedgerAccountRef; native: LedgerAccountRef }): Entry[] {
  const builder = new EntryBuilder();
  builder.move(token, 'AVAILABLE', 'LOCKED', amount);
  builder.move(native, 'AVAILABLE', 'LOCKED', feeLocked);
  return builder.entries;
}

/** Moves everything that a transfer holds back to available. */
export function releaseHold({ token, amount, native, feeLocked }: Hold): Entry[] {
  const builder = new EntryBuilder();
  builder.move(token, 'LOCKED', 'AVAILABLE', amount);
  builder.move(native, 'LOCKED', 'AVAILABLE', feeLocked);
  return builder.entries;
}

export interface Outcome {
  entries: Entry[];
  /** Amounts that the house had to pay. */
  shortfalls: Shortfall[];
}

/**
 * Posts the amount that left according to the chain (`debited`, 0n when the transaction was reverted) and the network's fee; the
 * rest of the hold is unlocked.
 */
export function settleHold({ token, amount, native, feeLocked }: Hold, effect: { debited: bigint; fee: bigint }): Outcome {
  const builder = new EntryBuilder();
  // the remainder is unlocked first: it may cover a fee above its bound
  builder.move(token, 'LOCKED', 'AVAILABLE', amount - min(amount, effect.debited));
  builder.move(native, 'LOCKED', 'AVAILABLE', feeLocked - min(feeLocked, effect.fee));
  builder.debitWithShortfall(token, amount, 'EXTERNAL', effect.debited);
  builder.debitWithShortfall(native, feeLocked, 'FEES', effect.fee);
  return { entries: builder.entries, shortfalls: builder.shortfalls };
}

/** Corrects a posted fee by `more` (may be negative), because the transaction was included again in another block. */
export function correctFee(native: AccountBalance, more: bigint): Outcome {
  const builder = new EntryBuilder();
  if (more > 0n) builder.debitWithShortfall(native, 0n, 'FEES', more);
  else builder.move(native, 'FEES', 'AVAILABLE', -more);
  return { entries: builder.entries, shortfalls: builder.shortfalls };
}

/** Pays the network's fee of a transaction that holds nothing. */
export function payGas(native: AccountBalance, fee: bigint): Outcome {
  const builder = new EntryBuilder();
  builder.debitWithShortfall(native, 0n, 'FEES', fee);
  return { entries: builder.entries, shortfalls: builder.shortfalls };
}

/** What somebody else has taken (negative: given) is outside now; amounts that are held or spent are a loss of the house. */
export function takeFromOutside(native: AccountBalance, amount: bigint): Outcome {
  const builder = new EntryBuilder();
  if (amount > 0n) builder.debitWithShortfall(native, 0n, 'EXTERNAL', amount);
  else builder.move(native, 'EXTERNAL', 'AVAILABLE', -amount);
  return { entries: builder.entries, shortfalls: builder.shortfalls };
}

/** The reverse, where `lost` was paid by the house and is not repaid. */
export function giveBackTaken(native: AccountBalance, amount: bigint, lost: bigint): Outcome {
  if (amount <= 0n) return takeFromOutside(native, -amount);
  return { entries: creditDeposit(native, amount, lost > 0n ? lost : 0n), shortfalls: [] };
}

/** Part of a loss that the account itself pays after all. */
export function repayLoss(account: LedgerAccountRef, amount: bigint): Entry[] {
  const builder = new EntryBuilder();
  builder.move(account, 'AVAILABLE', 'LOSS', amount);
  return builder.entries;
}

/**
 * Credits a deposit. `lost` is the amount that the house paid when a reorganisation removed this deposit after it had been spent:
 * it is repaid first.
 */
export function creditDeposit(token: AccountBalance, amount: bigint, lost = 0n): Entry[] {
  const builder = new EntryBuilder();
  builder.move(token, 'EXTERNAL', 'LOSS', min(lost, amount));
  builder.move(token, 'EXTERNAL', 'AVAILABLE', amount - min(lost, amount));
  return builder.entries;
}

/** Takes back credited deposits that a reorganisation has removed; amounts that were spent meanwhile are a loss of the house. */
export function reverseDeposits(deposits: { token: AccountBalance; amount: bigint }[]): Outcome[] {
  // several deposits of one account: each uses the balance that the ones before have left
  const available = new Map<string, bigint>();
  return deposits.map(({ token, amount }) => {
    const builder = new EntryBuilder();
    const left = available.get(token.ledgerAccountId) ?? token.available;
    builder.debitWithShortfall({ ...token, available: left }, 0n, 'EXTERNAL', amount);
    available.set(token.ledgerAccountId, left - min(left, amount));
    return { entries: builder.entries, shortfalls: builder.shortfalls };
  });
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
