import type { Shortfall } from './accounts';
import type { Bucket, Entry } from './posting';

/** What a movement needs to know of a ledger account; amounts in atomic units. */
export interface AccountBalance {
  ledgerAccountId: string;
  chain: string;
  symbol: string;
  available: bigint;
  locked: bigint;
}

/** What a transfer holds on its two ledger accounts (the same one twice when the token is the native coin). */
export interface Hold {
  token: AccountBalance;
  amount: bigint;
  native: AccountBalance;
  feeLocked: bigint;
}

/** Entries in the making: pairs that sum to zero, one net line per account and bucket in the end. */
class Draft {
  private readonly lines = new Map<string, Entry>();
  private readonly available = new Map<string, bigint>();
  readonly shortfalls: Shortfall[] = [];

  move(of: AccountBalance, from: Bucket, to: Bucket, amount: bigint): void {
    if (amount < 0n) throw new RangeError(`cannot move ${amount} ${of.symbol} from ${from} to ${to}`);
    if (amount === 0n) return;
    this.add(of, from, -amount);
    this.add(of, to, amount);
  }

  /** Takes up to `locked` from LOCKED, then what AVAILABLE has, the rest from the house: a fact from the chain is never refused. */
  debitWithShortfall(of: AccountBalance, locked: bigint, to: Bucket, amount: bigint): void {
    const fromLocked = min(locked, amount);
    const fromAvailable = min(this.availableOf(of), amount - fromLocked);
    const short = amount - fromLocked - fromAvailable;
    this.move(of, 'LOCKED', to, fromLocked);
    this.move(of, 'AVAILABLE', to, fromAvailable);
    this.move(of, 'LOSS', to, short);
    if (short > 0n) this.shortfalls.push({ ledgerAccountId: of.ledgerAccountId, symbol: of.symbol, amount: short });
  }

  get entries(): Entry[] {
    return [...this.lines.values()].filter(({ amount }) => amount !== 0n);
  }

  private availableOf(of: AccountBalance): bigint {
    return this.available.get(of.ledgerAccountId) ?? of.available;
  }

  private add(of: AccountBalance, bucket: Bucket, amount: bigint): void {
    const ledgerAccountId = bucket === 'AVAILABLE' || bucket === 'LOCKED' ? of.ledgerAccountId : null;
    const key = `${ledgerAccountId ?? ''} ${bucket} ${of.chain} ${of.symbol}`;
    const line = this.lines.get(key) ?? { ledgerAccountId, bucket, chain: of.chain, symbol: of.symbol, amount: 0n };
    this.lines.set(key, { ...line, amount: line.amount + amount });
    if (bucket === 'AVAILABLE') this.available.set(of.ledgerAccountId, this.availableOf(of) + amount);
  }
}

/** Amount and fee bound from available to locked. */
export function placeHold({ token, amount, native, feeLocked }: Hold): Entry[] {
  const draft = new Draft();
  draft.move(token, 'AVAILABLE', 'LOCKED', amount);
  draft.move(native, 'AVAILABLE', 'LOCKED', feeLocked);
  return draft.entries;
}

/** Everything a transfer holds back to available. */
export function releaseHold({ token, amount, native, feeLocked }: Hold): Entry[] {
  const draft = new Draft();
  draft.move(token, 'LOCKED', 'AVAILABLE', amount);
  draft.move(native, 'LOCKED', 'AVAILABLE', feeLocked);
  return draft.entries;
}

export interface Outcome {
  entries: Entry[];
  /** Parts of it that the house had to pay. */
  shortfalls: Shortfall[];
}

/**
 * What left by the chain's word (`debited`, 0n when the transaction was reverted) and the fee the network took; the rest
 * of the hold is unlocked.
 */
export function settleHold({ token, amount, native, feeLocked }: Hold, effect: { debited: bigint; fee: bigint }): Outcome {
  const draft = new Draft();
  // what is left over is unlocked first: it may cover a fee above its bound
  draft.move(token, 'LOCKED', 'AVAILABLE', amount - min(amount, effect.debited));
  draft.move(native, 'LOCKED', 'AVAILABLE', feeLocked - min(feeLocked, effect.fee));
  draft.debitWithShortfall(token, amount, 'EXTERNAL', effect.debited);
  draft.debitWithShortfall(native, feeLocked, 'FEES', effect.fee);
  return { entries: draft.entries, shortfalls: draft.shortfalls };
}

/** The network took `more` (or less, when negative) than was posted, since the transaction was mined anew. */
export function correctFee(native: AccountBalance, more: bigint): Outcome {
  const draft = new Draft();
  if (more > 0n) draft.debitWithShortfall(native, 0n, 'FEES', more);
  else draft.move(native, 'FEES', 'AVAILABLE', -more);
  return { entries: draft.entries, shortfalls: draft.shortfalls };
}

/**
 * Credits what arrived. `lost` is what the house paid when a reorganisation took this very deposit back after it was spent:
 * found again, it is the house's before it is the client's.
 */
export function creditDeposit(token: AccountBalance, amount: bigint, lost = 0n): Entry[] {
  const draft = new Draft();
  draft.move(token, 'EXTERNAL', 'LOSS', min(lost, amount));
  draft.move(token, 'EXTERNAL', 'AVAILABLE', amount - min(lost, amount));
  return draft.entries;
}

/** Takes a credited deposit back that a reorg has undone; what was spent meanwhile is the house's loss. */
export function reverseDeposits(deposits: { token: AccountBalance; amount: bigint }[]): Outcome[] {
  // several of one reorg may hit one account: each sees what the one before has left
  const available = new Map<string, bigint>();
  return deposits.map(({ token, amount }) => {
    const draft = new Draft();
    const left = available.get(token.ledgerAccountId) ?? token.available;
    draft.debitWithShortfall({ ...token, available: left }, 0n, 'EXTERNAL', amount);
    available.set(token.ledgerAccountId, left - min(left, amount));
    return { entries: draft.entries, shortfalls: draft.shortfalls };
  });
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
