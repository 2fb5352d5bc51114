import { type Json, type JsonObject, isObject } from './json';

/**
 * solid: every block is called solidified; absent: transactions are not there; failed, succeeded: contracts ended the other way; amount: ten times as much was sent; height:
 * blocks are a thousand higher; ids: blocks have other ids.
 */
export const lies = ['solid', 'absent', 'failed', 'succeeded', 'amount', 'height', 'ids'] as const;
export type Lie = (typeof lies)[number];

/** What is wrong with one endpoint: a node of its own for whoever asks, before the same chain. */
export interface EndpointFaults {
  /** Connections are closed without an answer. */
  down: boolean;
  lie: Lie | null;
  /** Its blocks stand still. */
  stoppedAt: { head: number; solidified: number } | null;
  /** Further requests of a second are answered with 429. */
  requestsPerSecond: number | null;
}

const maxEndpoints = 100;

/** What goes wrong, on demand. */
export class Faults {
  /** No block is made by the clock. */
  isPaused = false;
  /** What happens to the next transactions that are accepted: they are forgotten, or wait for so many blocks. */
  private upcoming: ('drop' | number)[] = [];
  private readonly endpoints = new Map<string, EndpointFaults>();
  private readonly counts = new Map<string, { second: number; requests: number }>();

  /** @throws RangeError beyond a hundred endpoints */
  endpoint(name: string): EndpointFaults {
    const known = this.endpoints.get(name);
    if (known) return known;
    if (this.endpoints.size >= maxEndpoints) throw new RangeError(`at most ${maxEndpoints} endpoints`);
    const faults: EndpointFaults = { down: false, lie: null, stoppedAt: null, requestsPerSecond: null };
    this.endpoints.set(name, faults);
    return faults;
  }

  plan(fault: 'drop' | number, count: number): void {
    for (let added = 0; added < count && this.upcoming.length < 1_000; added += 1) this.upcoming.push(fault);
  }

  /** Of the next transaction; asked once for each. */
  next(): 'drop' | number {
    return this.upcoming.shift() ?? 0;
  }

  /** For one that was refused. */
  giveBack(fault: 'drop' | number): void {
    if (fault !== 0) this.upcoming.unshift(fault);
  }

  clear(): void {
    this.isPaused = false;
    this.upcoming = [];
    this.endpoints.clear();
    this.counts.clear();
  }

  isTooMany(name: string, now = Date.now()): boolean {
    const limit = this.endpoints.get(name)?.requestsPerSecond;
    if (limit === null || limit === undefined) return false;
    const second = Math.floor(now / 1000);
    const count = this.counts.get(name);
    const requests = count?.second === second ? count.requests + 1 : 1;
    this.counts.set(name, { second, requests });
    return requests > limit;
  }

  show(): JsonObject {
    const endpoints = Object.fromEntries(
      [...this.endpoints].map(([name, faults]) => [name, { ...faults, stoppedAt: faults.stoppedAt?.head ?? null }]),
    );
    return { paused: this.isPaused, upcoming: [...this.upcoming], endpoints };
  }
}

const isQuery = (path: string): boolean => /^get(transaction|nowblock|block|account)/.test(path);

/** An answer of the node as an endpoint that lies gives it. */
export function distort(lie: Lie | null, path: string, answer: Json): Json {
  if (!lie || !isQuery(path)) return answer;
  if (lie === 'absent' && /^gettransaction(info)?byid$/.test(path)) return {};
  if (lie === 'absent' && path === 'gettransactioninfobyblocknum') return [];
  return change(lie, answer);
}

function change(lie: Lie, value: Json, key = ''): Json {
  if (Array.isArray(value)) return value.map((entry) => change(lie, entry, key));
  if (!isObject(value)) return changeField(lie, key, value);
  const entries = Object.entries(value).filter(([name]) => lie !== 'absent' || name !== 'transactions');
  return Object.fromEntries(entries.map(([name, entry]) => [name, entry === undefined ? entry : change(lie, entry, name)]));
}

const tenTimes = (value: Json): Json => (typeof value === 'bigint' ? value * 10n : value);

function changeField(lie: Lie, key: string, value: Json): Json {
  switch (lie) {
    case 'failed':
      return value === 'SUCCESS' ? 'REVERT' : value;
    case 'succeeded':
      return value === 'REVERT' || value === 'OUT_OF_ENERGY' ? 'SUCCESS' : value;
    case 'amount':
      if (key === 'amount' || key === 'balance') return tenTimes(value);
      return key === 'data' && typeof value === 'string' && value.length === 64 ? multiplyWord(value) : value;
    case 'height':
      if ((key === 'number' || key === 'blockNumber') && typeof value === 'number') return value + 1_000;
      return key === 'number' && typeof value === 'bigint' ? value + 1_000n : value;
    case 'ids':
      return (key === 'blockID' || key === 'parentHash') && typeof value === 'string' ? flipEnd(value) : value;
    case 'absent':
    case 'solid':
      return value;
  }
}

const multiplyWord = (word: string): string => (BigInt(`0x${word}`) * 10n).toString(16).padStart(64, '0').slice(-64);
const flipEnd = (hash: string): string => hash.slice(0, -1) + (hash.endsWith('0') ? '1' : '0');
