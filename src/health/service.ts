import type { Client } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import type { GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import { type DoubtedOrdinal, findDoubtedOrdinals } from '../chains/reservations';
import { areOrdersCompared } from '../orders/reconcile-required';
import { CachedValue } from '../platform/cached-value';
import type { HealthChecks } from '../platform/metrics';
import { withinMs } from '../platform/temporal';
import { quorum } from '../messages/nodes';
import { measureReadiness, measureSigners } from './metrics';
import { reportSettlers, type SettlerReport } from '../settlers/report';
import { getSupply } from '../settlers/supply';

const checkTimeoutMs = 2_000;
/** Results are cached, since the endpoint can be called without a token. */
const cacheTtlMs = 1_000;
/** A follower that has not updated its cursor for this long, and for ten blocks, counts as stopped. */
const staleAfterMs = 60_000;
/** The query is a long one. */
const settlersMaxAgeMs = 30_000;

/**
 * Without these the API does nothing for anybody. One silent chain, nodes that do not sign or dry settlers keep only some requests waiting:
 * a load balancer that took every copy of the API away for them would end all others too.
 */
export const decisiveChecks = ['database', 'temporal'] as const;

export interface HealthDependencies {
  database: DataSource;
  temporal: Client;
  registry: ChainRegistry;
  getFamily: GetFamily;
  /** /health/ready of each MPC node. */
  signerUrls: string[];
}

/** Checks the services that transfers depend on, of which two decide about readiness (`decisiveChecks`), and names settlers that have too few coins and accounts that are used elsewhere. */
export class HealthService {
  private latest: { checks: Promise<HealthChecks>; at: number } | undefined;
  private readonly settlers = new CachedValue((manager) => reportSettlers(manager, this.deps.getFamily), settlersMaxAgeMs);

  constructor(private readonly deps: HealthDependencies) {}

  ready(): Promise<HealthChecks> {
    if (!this.latest || Date.now() - this.latest.at > cacheTtlMs) this.latest = { checks: this.check(), at: Date.now() };
    return this.latest.checks;
  }

  private async check(): Promise<HealthChecks> {
    const { database, temporal, registry, signerUrls } = this.deps;
    const [databaseUp, orders, temporalUp, chains, settlers, doubted, signers] = await Promise.all([
      succeeds(() => database.query('select 1')),
      withTimeout(areOrdersCompared(database)).catch(() => false),
      succeeds(() => withinMs(temporal, checkTimeoutMs, () => temporal.connection.workflowService.getSystemInfo({}))),
      freshChains(database, registry).catch(() => new Set<string>()),
      // without an answer of the database nothing is said of them: the check of the database fails then
      withTimeout(this.settlers.get(database.manager)).catch(() => []),
      withTimeout(findDoubtedOrdinals(database.manager)).catch(() => []),
      Promise.all(signerUrls.map(isHealthy)),
    ]);
    measureSigners(signers);
    const checks = {
      database: databaseUp,
      // false: transfers are answered 503 reconcile_required
      orders,
      temporal: temporalUp,
      signers: signers.filter(Boolean).length >= quorum,
      ...Object.fromEntries(registry.all.map(({ name }) => [`chain:${name}`, chains.has(name)])),
      ...describeDry(settlers),
      ...describeDoubted(doubted),
    };
    measureReadiness(checks);
    return checks;
  }
}

/**
 * By chain, which settlers are dry. A detail and no failing check: transfers need no settler, and payments are settled by the others of the
 * chain.
 */
function describeDry(settlers: SettlerReport[]): Record<string, string> {
  const dry = settlers.filter((settler) => getSupply(settler) === 'dry');
  const idsOn = (name: string) => dry.filter(({ chain }) => chain === name).map(({ settlerId }) => settlerId);
  return Object.fromEntries(dry.map(({ chain }) => [`settlers:${chain}`, `dry: ${idsOn(chain).join(', ')}`]));
}

/** By chain, accounts for which nothing is begun: a detail too, since all others go on. */
function describeDoubted(doubted: DoubtedOrdinal[]): Record<string, string> {
  const idsOn = (name: string) => doubted.filter(({ chain }) => chain === name).map(({ accountId }) => accountId);
  return Object.fromEntries(doubted.map(({ chain }) => [`accounts:${chain}`, `used elsewhere: ${idsOn(chain).join(', ')}`]));
}

async function freshChains(database: DataSource, registry: ChainRegistry): Promise<Set<string>> {
  const rows = await withTimeout(
    database.query<{ chain: string; age_ms: number }[]>(
      `select chain, (extract(epoch from clock_timestamp() - updated_at) * 1000)::float8 as age_ms from chain_cursors`,
    ),
  );
  const fresh = rows.filter(
    ({ chain, age_ms }) => age_ms < Math.max(staleAfterMs, 10 * (registry.find(chain)?.blockTimeMs ?? 0)),
  );
  return new Set(fresh.map(({ chain }) => chain));
}

async function isHealthy(url: string): Promise<boolean> {
  return succeeds(async () => {
    const response = await fetch(url, { signal: AbortSignal.timeout(checkTimeoutMs), redirect: 'error' });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`status ${response.status}`);
  });
}

async function succeeds(check: () => Promise<unknown>): Promise<boolean> {
  return withTimeout(Promise.resolve().then(check)).then(
    () => true,
    () => false,
  );
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no response in time')), checkTimeoutMs + 200);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
