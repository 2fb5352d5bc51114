import type { Fault } from './chain';
import { isObject, type Json, type JsonObject } from './json';
import type { Heights } from './view';

/**
 * finalized: every block is called finalized; absent: transactions are not there; skipped: blocks with transactions are called skipped; failed, succeeded: they ended the other way;
 * amount: ten times as much; height: blocks are a thousand higher; hashes: blocks have other hashes.
 */
export const lies = ['finalized', 'absent', 'skipped', 'failed', 'succeeded', 'amount', 'height', 'hashes'] as const;
export type Lie = (typeof lies)[number];

/** What is wrong with one endpoint: a node of its own for whoever asks, before the same chain. */
export interface EndpointFaults {
  /** Connections are closed without an answer. */
  down: boolean;
  lie: Lie | null;
  /** Its blocks stand still. */
  stoppedAt: Heights | null;
  /** Further requests of a second are answered with 429. */
  requestsPerSecond: number | null;
  /** Answers take so much longer. */
  slowMs: number;
}

const healthy: EndpointFaults = { down: false, lie: null, stoppedAt: null, requestsPerSecond: null, slowMs: 0 };
const maxEndpoints = 100;
const maxPlanned = 1_000;
const hundred = 100;

/** What goes wrong, on demand. */
export class Faults {
  /** No slot passes by the clock. */
  isPaused = false;
  /** Of a hundred messages so many are passed on to no leader, however often they are sent and whoever has signed them. */
  lostPercent = 0;
  private upcoming: Fault[] = [];
  private readonly endpoints = new Map<string, EndpointFaults>();
  private readonly counts = new Map<string, { second: number; requests: number; all: number }>();

  of(name: string): Readonly<EndpointFaults> {
    return this.endpoints.get(name) ?? healthy;
  }

  /** @throws RangeError beyond a hundred endpoints */
  change(name: string, changes: Partial<EndpointFaults>): void {
    if (!this.endpoints.has(name) && this.endpoints.size >= maxEndpoints)
      throw new RangeError(`at most ${maxEndpoints} endpoints`);
    this.endpoints.set(name, { ...this.of(name), ...changes });
  }

  plan(fault: Fault, count: number): void {
    for (let added = 0; added < count && this.upcoming.length < maxPlanned; added += 1) this.upcoming.push(fault);
  }

  /** Of the next transaction that is sent, by its message (the hash, in Base64); asked once for each. */
  next(messageKey: string): Fault {
    return this.isLost(messageKey) ? 'drop' : (this.upcoming.shift() ?? 0);
  }

  private isLost(messageKey: string): boolean {
    return Buffer.from(messageKey, 'base64').readUInt32BE() % hundred < this.lostPercent;
  }

  clear(): void {
    this.isPaused = false;
    this.lostPercent = 0;
    this.upcoming = [];
    this.endpoints.clear();
    this.counts.clear();
  }

  /** Counts a request. True if it is one too many for its second. */
  isTooMany(name: string, now = Date.now()): boolean {
    const second = Math.floor(now / 1_000);
    const count = this.counts.get(name) ?? { second, requests: 0, all: 0 };
    if (!this.counts.has(name) && this.counts.size >= maxEndpoints) return false;
    const requests = count.second === second ? count.requests + 1 : 1;
    this.counts.set(name, { second, requests, all: count.all + 1 });
    return requests > (this.of(name).requestsPerSecond ?? Infinity);
  }

  show(): JsonObject {
    const endpoints = Object.fromEntries(
      [...this.endpoints].map(([name, faults]) => [name, { ...faults, stoppedAt: faults.stoppedAt?.processed ?? null }]),
    );
    const requests = Object.fromEntries([...this.counts].map(([name, { all }]) => [name, all]));
    return { paused: this.isPaused, lost_percent: this.lostPercent, upcoming: [...this.upcoming], endpoints, requests };
  }
}

const liesAbout =
  /^(get(Block|Blocks|BlockHeight|Slot|Transaction|SignatureStatuses|Balance|TokenAccountBalance|LatestBlockhash)|simulateTransaction)$/;

/** The result of a method as an endpoint that lies gives it; `skipped` and `finalized` are made elsewhere. */
export function distort(lie: Lie | null, method: string, result: Json): Json {
  if (!lie || !liesAbout.test(method)) return result;
  if (lie === 'absent' && method === 'getTransaction') return null;
  if (lie === 'height' && typeof result === 'number') return result + 1_000;
  return change(lie, result, method === 'getBalance' ? 'value' : '');
}

function change(lie: Lie, value: Json, key: string): Json {
  if (lie === 'absent' && (key === 'transactions' || key === 'signatures') && Array.isArray(value)) return [];
  if (key === 'value' && lie === 'absent' && Array.isArray(value)) return value.map(() => null);
  const isList = Array.isArray(value);
  const changed = changeField(lie, key, value);
  if (changed !== value) return changed;
  if (isList) return value.map((entry) => change(lie, entry, key));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, entry]) => [name, entry === undefined ? entry : change(lie, entry, name)]);
  return Object.fromEntries(entries) as JsonObject;
}

const failure: JsonObject = { InstructionError: [0, { Custom: 1 }] };

function changeField(lie: Lie, key: string, value: Json): Json {
  switch (lie) {
    case 'failed':
      if (key === 'err') return value ?? failure;
      return key === 'status' && isObject(value) && 'Ok' in value ? { Err: failure } : value;
    case 'succeeded':
      if (key === 'err') return null;
      return key === 'status' && isObject(value) && 'Err' in value ? { Ok: null } : value;
    case 'amount':
      if (key === 'amount' && typeof value === 'string') return `${value}0`;
      return (key === 'postBalances' || key === 'value') && typeof value === 'bigint' ? value * 10n : value;
    case 'height':
      return /^(slot|parentSlot|blockHeight|lastValidBlockHeight)$/.test(key) && typeof value === 'number'
        ? value + 1_000
        : value;
    case 'hashes':
      return /^(blockhash|previousBlockhash)$/i.test(key) && typeof value === 'string' ? [...value].reverse().join('') : value;
    case 'absent':
    case 'skipped':
    case 'finalized':
      return value;
  }
}
