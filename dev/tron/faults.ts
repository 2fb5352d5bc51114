import { type Json, type JsonObject, isObject } from './json';

/**
 * solid: every block is called solidified; absent: transactions are not there; logs: receipts lack their logs; internal: they lack
 * internal transactions, as without `vm.saveInternalTx`; failed, succeeded: contracts ended the other way; amount: ten times as much was sent; height:
 * blocks are a thousand higher; ids: blocks have other ids.
 */
export const lies = ['solid', 'absent', 'logs', 'internal', 'failed', 'succeeded', 'amount', 'height', 'ids'] as const;
export type Lie = (typeof lies)[number];

/** What is wrong with one endpoint: a node of its own for whoever asks, before the same chain. */
export interface EndpointFaults {
  /** Connections are closed without an answer. */
  down: boolean;
  lie: Lie | null;
  /** It lies about receipts of these blocks alone, as a node that ran otherwise when it executed them; null: no bound. */
  lieFrom: number | null;
  lieTo: number | null;
  /** Its blocks stand still. */
  stoppedAt: { head: number; solidified: number } | null;
  /** It began with this block, from a snapshot of the accounts: it has no older blocks and transactions. */
  firstBlock: number | null;
  /** Further requests of a second are answered with 429. */
  requestsPerSecond: number | null;
  /** Answers take so much longer. */
  slowMs: number;
  /** java-tron, node.rpc.trxCacheEnable: what was sent to it once is a duplicate for it from then on, also what it has refused. */
  remembersIds: boolean;
}

const healthy: EndpointFaults = {
  ...{ down: false, lie: null, lieFrom: null, lieTo: null, stoppedAt: null, firstBlock: null },
  ...{ requestsPerSecond: null, slowMs: 0, remembersIds: false },
};

const maxEndpoints = 100;
const maxIds = 10_000;

/** What goes wrong, on demand. */
export class Faults {
  /** No block is made by the clock. */
  isPaused = false;
  /** What happens to the next transactions that are accepted: they are forgotten, or wait for so many blocks. */
  private upcoming: ('drop' | number)[] = [];
  private readonly endpoints = new Map<string, EndpointFaults>();
  /** Sent to endpoints that remember them. */
  private readonly sentTo = new Map<string, Set<string>>();
  private readonly counts = new Map<string, { second: number; requests: number; all: number; most: number }>();

  of(name: string): Readonly<EndpointFaults> {
    return this.endpoints.get(name) ?? healthy;
  }

  /** @throws RangeError beyond a hundred endpoints */
  change(name: string, changes: Partial<EndpointFaults>): void {
    if (!this.endpoints.has(name) && this.endpoints.size >= maxEndpoints)
      throw new RangeError(`at most ${maxEndpoints} endpoints`);
    this.endpoints.set(name, { ...this.of(name), ...changes });
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

  /** Whether an endpoint that remembers ids has this one. */
  isRemembered(name: string, id: string): boolean {
    return this.of(name).remembersIds && this.sentTo.get(name)?.has(id) === true;
  }

  remember(name: string, id: string): void {
    if (!this.of(name).remembersIds) return;
    const ids = this.sentTo.get(name) ?? new Set();
    if (ids.size < maxIds) this.sentTo.set(name, ids.add(id));
  }

  clear(): void {
    this.isPaused = false;
    this.upcoming = [];
    this.endpoints.clear();
    this.sentTo.clear();
    this.counts.clear();
  }

  /** Counts a request. True if it is one too many for its second. */
  isTooMany(name: string, now = Date.now()): boolean {
    const second = Math.floor(now / 1_000);
    const count = this.counts.get(name) ?? { second, requests: 0, all: 0, most: 0 };
    if (!this.counts.has(name) && this.counts.size >= maxEndpoints) return false;
    const requests = count.second === second ? count.requests + 1 : 1;
    this.counts.set(name, { second, requests, all: count.all + 1, most: Math.max(count.most, requests) });
    return requests > (this.of(name).requestsPerSecond ?? Infinity);
  }

  show(): JsonObject {
    const endpoints = Object.fromEntries(
      [...this.endpoints].map(([name, faults]) => [name, { ...faults, stoppedAt: faults.stoppedAt?.head ?? null }]),
    );
    const requests = Object.fromEntries([...this.counts].map(([name, { all, most }]) => [name, { all, most_per_second: most }]));
    return { paused: this.isPaused, upcoming: [...this.upcoming], endpoints, requests };
  }
}

const isQuery = (path: string): boolean => /^get(transaction|nowblock|block|account)/.test(path);

/** An answer of the node as an endpoint that lies gives it. */
export function distort(endpoint: Readonly<EndpointFaults>, path: string, answer: Json): Json {
  const { lie } = endpoint;
  if (!lie || !isQuery(path)) return answer;
  if (lie === 'absent' && /^gettransaction(info)?byid$/.test(path)) return {};
  if (lie === 'absent' && path === 'gettransactioninfobyblocknum') return [];
  if (Array.isArray(answer)) return answer.map((entry) => (isSpared(endpoint, entry) ? entry : change(lie, entry)));
  return isSpared(endpoint, answer) ? answer : change(lie, answer);
}

/** A receipt of a block about which the endpoint does not lie. */
function isSpared({ lieFrom, lieTo }: Readonly<EndpointFaults>, answer: Json): boolean {
  if (!isObject(answer) || typeof answer.blockNumber !== 'number') return false;
  return answer.blockNumber < (lieFrom ?? 0) || answer.blockNumber > (lieTo ?? Infinity);
}

function change(lie: Lie, value: Json, key = ''): Json {
  if (Array.isArray(value)) return value.map((entry) => change(lie, entry, key));
  if (!isObject(value)) return changeField(lie, key, value);
  const omitted = { absent: 'transactions', logs: 'log', internal: 'internal_transactions' }[lie as string];
  const entries = Object.entries(value).filter(([name]) => name !== omitted);
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
    case 'logs':
    case 'internal':
    case 'solid':
      return value;
  }
}

const multiplyWord = (word: string): string => (BigInt(`0x${word}`) * 10n).toString(16).padStart(64, '0').slice(-64);
const flipEnd = (hash: string): string => hash.slice(0, -1) + (hash.endsWith('0') ? '1' : '0');
