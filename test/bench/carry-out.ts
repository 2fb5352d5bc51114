import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { randomAddress } from '../factories';
import { api, type ClientName, stack } from '../stack/client';
import { openDatabase } from '../stack/database';
import { type Account, ends, fundedAccount } from '../e2e/support';
import { percentiles, round } from './load';

const pollMs = 50;
const longestMs = 300_000;

export interface TransferLoad {
  count: number;
  /** Between their request and their end. */
  inFlight: number;
  /** They take turns. */
  accounts: Account[];
  client?: ClientName;
}

export interface CarriedOut {
  /** What POST /transfer took: of the first ones, which are sent at once, and of the others, while that many are in flight. */
  accept_at_once_ms: ReturnType<typeof percentiles>;
  accept_ms: ReturnType<typeof percentiles>;
  /** From the request to the end. */
  end_ms: ReturnType<typeof percentiles> & { p95: number };
  seconds: number;
  per_second: number;
}

/** Between which times of the database each is. */
const stages = {
  /** Its turn, the start of its workflow, and what the chain says it takes. */
  until_ordered: ['t.created_at', 'a.signing_begun_at'],
  signing: ['a.signing_begun_at', 'a.signed_at'],
  sending: ['a.signed_at', 'a.broadcast_at'],
  confirming: ['a.broadcast_at', 't.ended_at'],
} as const;
type Stage = keyof typeof stages;

/** Sends ETH transfers to new addresses, each of which has to end as CONFIRMED. The end is read from the database, so that waiting costs the API nothing. */
export class Transfers {
  private readonly waiting = new Map<string, () => void>();
  private readonly failed: string[] = [];
  private readonly poll: Promise<void>;
  private isClosed = false;

  private constructor(private readonly database: DataSource) {
    this.poll = this.watch();
  }

  static async open(): Promise<Transfers> {
    return new Transfers(await openDatabase(stack().postgres.url, { poolSize: 1 }));
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.poll;
    await this.database.destroy();
  }

  async carryOut({ count, inFlight, accounts, client }: TransferLoad): Promise<CarriedOut> {
    const [atOnce, later, ended]: number[][] = [[], [], []];
    let sent = 0;
    const inTurn = async () => {
      while (sent < count) {
        const index = sent;
        sent += 1;
        const began = performance.now();
        const txId = await this.submit(accounts[index % accounts.length] as Account, client);
        (index < inFlight ? atOnce : later)?.push(performance.now() - began);
        await this.end(txId);
        ended?.push(performance.now() - began);
      }
    };
    const began = performance.now();
    await Promise.all(Array.from({ length: inFlight }, inTurn));
    const seconds = (performance.now() - began) / 1_000;
    return {
      accept_at_once_ms: percentiles(atOnce ?? []),
      accept_ms: percentiles(later ?? []),
      end_ms: withP95(ended ?? []),
      seconds: round(seconds),
      per_second: round(count / seconds),
    };
  }

  /** @throws Error when it is not accepted. */
  async submit({ address }: Account, client?: ClientName): Promise<string> {
    const body = { from_address: address, to_address: randomAddress(), chain: 'ethereum', token_symbol: 'ETH', amount: '0.0001' };
    const answer = await api(client).request<{ tx_id: string }>('POST', '/transfer', { body });
    if (answer.status !== 202) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.tx_id;
  }

  /** @throws Error when it is not CONFIRMED in time. */
  end(txId: string, withinMs = longestMs): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(txId);
        reject(new Error(`transfer ${txId} is not CONFIRMED; ended otherwise: ${this.failed.join()}`));
      }, withinMs);
      this.waiting.set(txId, () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Where the time of these went, in milliseconds; all of them are CONFIRMED. */
  async stages(txIds: string[]): Promise<Record<Stage, { p50: number; p95: number }>> {
    const rows = await this.database.query<Record<Stage, number>[]>(
      `select ${Object.entries(stages)
        .map(([name, [from, to]]) => `1000 * extract(epoch from ${to} - ${from})::float8 as ${name}`)
        .join(', ')}
         from transactions t join transfer_attempts a using (tx_id) where tx_id = any($1::uuid[]) and a.attempt = 1`,
      [txIds],
    );
    const of = (name: Stage) => {
      const { p50, p95 } = withP95(rows.map((row) => row[name]));
      return [name, { p50, p95 }];
    };
    return Object.fromEntries(Object.keys(stages).map((name) => of(name as Stage))) as Record<
      Stage,
      { p50: number; p95: number }
    >;
  }

  private async watch(): Promise<void> {
    for (; !this.isClosed; await delay(pollMs)) {
      if (this.waiting.size === 0) continue;
      const rows = await this.database.query<{ tx_id: string; status: string }[]>(
        'select tx_id, status from transactions where tx_id = any($1) and status = any($2)',
        [[...this.waiting.keys()], ends],
      );
      for (const { tx_id: txId, status } of rows) {
        // one that is not CONFIRMED is waited for in vain, and named
        if (status !== 'CONFIRMED') this.failed.push(`${txId} ${status}`);
        else this.waiting.get(txId)?.();
        this.waiting.delete(txId);
      }
    }
  }
}

export const withP95 = (times: number[]): ReturnType<typeof percentiles> & { p95: number } => {
  const sorted = [...times].sort((a, b) => a - b);
  return { ...percentiles(times), p95: round(sorted[Math.floor(sorted.length * 0.95)] ?? 0) };
};

/** Accounts with ETH for many transfers: each is a line of its own, whose transfers are executed in order. */
export async function fundedAccounts(count: number, walletId?: string, client?: ClientName): Promise<Account[]> {
  const accounts: Account[] = [];
  for (let number = 0; number < count; number += 1)
    accounts.push(await fundedAccount('ethereum', { ETH: '200' }, walletId, client));
  return accounts;
}
