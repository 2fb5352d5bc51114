import type { Account } from './accounts';
import { execute, isLeftOut } from './execute';
import { type AccountChange, type Block, type Entry, hashOf, History, type Lags } from './history';
import { limits } from './parameters';
import type { Svm } from './svm';
import { type Decoded, decodeTransaction } from './transactions';

export interface ChainOptions extends Lags {
  /** Every so many slots one has no block; 0: none is skipped by itself. */
  skipEvery: number;
}

/** What happens to a transaction: it is forgotten, or waits for so many blocks. */
export type Fault = 'drop' | number;

interface Pending {
  decoded: Decoded;
  /** Height of the first block that may have it. */
  notBefore: number;
  /** Blocks that may still leave it out: the node sends it again until its blockhash has expired. */
  tries: number;
}

/** What is written down as it happens. */
export type Change = Entry | { rollback: number };

/** Too many transactions wait. */
export class Busy extends Error {}

/** A chain of one process. Everything is synchronous, so that nothing comes between. */
export class Chain {
  readonly history: History;
  private pending: Pending[] = [];
  private upcoming: AccountChange[] = [];
  /** The last slot that has passed, with a block or without. */
  private slot: number;
  private forks = 0;

  constructor(
    readonly svm: Svm,
    readonly options: ChainOptions,
    entries: Entry[],
    private readonly note: (change: Change) => void = () => undefined,
  ) {
    this.history = new History(entries, { confirmed: options.confirmed, finalized: options.finalized });
    this.slot = this.head.slot;
  }

  get head(): Block {
    return this.history.head;
  }

  get pendingCount(): number {
    return this.pending.length;
  }

  /**
   * Takes a transaction as a node that sends it to the leader: what the leader says to it, nobody hears.
   * @param tries blocks that may leave it out
   * @throws Busy
   */
  submit(decoded: Decoded, tries: number, fault: Fault = 0): void {
    if (fault === 'drop' || this.pending.some((entry) => entry.decoded.id === decoded.id)) return;
    if (this.pending.length >= limits.pending) throw new Busy('too many transactions wait');
    this.pending.push({ decoded, notBefore: this.head.height + 1 + fault, tries });
  }

  /** Makes blocks now, ten thousand at most. */
  mine(count = 1): Block {
    for (let made = 0; made < Math.min(count, limits.mined); made += 1) this.makeBlock();
    return this.head;
  }

  /** The next slot of the clock. */
  tick(): void {
    const { skipEvery } = this.options;
    if (skipEvery > 0 && (this.slot + 1) % skipEvery === 0) this.skip(1);
    else this.makeBlock();
  }

  /** Slots pass without a block. */
  skip(slots: number): void {
    this.slot += slots;
  }

  /** An account is changed in the next block as no transaction could, and that block made. */
  change(key: string, account: Account | undefined): Block {
    this.upcoming.push({ key, before: undefined, after: account });
    return this.mine();
  }

  /**
   * The last blocks are abandoned: their slots count as skipped, others take their heights in later slots.
   * @param keepTransactions what the blocks had waits again; else it is forgotten
   * @throws RangeError for blocks that are confirmed
   */
  fork(depth: number, keepTransactions: boolean): Block {
    const most = this.history.replaceable;
    if (depth < 1 || depth > most) throw new RangeError(`only ${most} blocks are processed and not confirmed`);
    this.note({ rollback: depth });
    const removed = this.history.rollback(depth);
    this.forks += 1;
    for (const { changes } of [...removed].reverse()) {
      for (const { key, before } of [...changes].reverse()) this.svm.set(key, before);
    }
    const transactions = keepTransactions ? removed.flatMap(({ block }) => block.transactions) : [];
    const again = transactions.map(({ bytes }) => decodeTransaction(Buffer.from(bytes, 'base64')));
    this.pending.unshift(...again.map((decoded) => ({ decoded, notBefore: 0, tries: Infinity })));
    return this.mine(depth);
  }

  /** Forgets a transaction that waits for a block. False if there is none. */
  forget(id: string): boolean {
    const known = this.pending.length;
    this.pending = this.pending.filter(({ decoded }) => decoded.id !== id);
    return this.pending.length < known;
  }

  /** Makes so many blocks without what waits that all of it has expired. */
  expirePending(): Block {
    const held = this.pending;
    this.pending = [];
    // a blockhash is good for the 151st block after its own
    this.mine(152);
    this.pending = held;
    return this.mine();
  }

  private makeBlock(): void {
    const { head, history, svm } = this;
    this.slot += 1;
    const place = { slot: this.slot, height: head.height + 1, time: Math.max(head.time, Math.floor(Date.now() / 1_000)) };
    svm.setClock(place.slot, place.time);
    const changes = this.upcoming.splice(0).map(({ key, after }) => {
      const change = { key, before: svm.get(key), after };
      svm.set(key, after);
      return change;
    });
    const transactions: Block['transactions'] = [];
    const done = new Set<string>();
    this.pending = this.pending.filter((entry) => {
      const { decoded } = entry;
      const { messageKey, message } = decoded;
      if (history.age(message.blockhash, head.height) === undefined) return false;
      // in an earlier block or in this one, perhaps by another signature
      if (history.heightOfMessage(messageKey) !== undefined || done.has(messageKey)) return false;
      if (entry.notBefore > place.height || transactions.length >= limits.blockTransactions) return true;
      const result = execute(svm, decoded);
      if (isLeftOut(result)) return (entry.tries -= 1) > 0;
      transactions.push(result.included);
      done.add(messageKey);
      changes.push(...result.changes);
      return false;
    });
    const parent = { parentHash: head.hash, parentSlot: head.slot };
    const hash = hashOf(head.hash, place.slot, this.forks, ...transactions.map(({ id }) => id));
    const entry = { block: { ...place, hash, ...parent, transactions }, changes: firstAndLast(changes) };
    this.note(entry);
    history.append(entry);
  }
}

/** One change an account. */
function firstAndLast(changes: AccountChange[]): AccountChange[] {
  const merged = new Map<string, AccountChange>();
  for (const { key, before, after } of changes)
    merged.set(key, { key, before: merged.has(key) ? merged.get(key)?.before : before, after });
  return [...merged.values()];
}
