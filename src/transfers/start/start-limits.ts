import type { EntityManager } from 'typeorm';
import { CachedValue } from '../../platform/cached-value';
import { GatewayError } from '../../platform/errors';
import { authorisationType } from '../../transactions/types';
import { accountsBehindParked, findAccountsBehindParked, type LinePlace } from '../line';

/** A transfer that is signed and sent makes room for the next one after at most this time. */
const recountMs = 250;

/** Such a part of `maxInFlight` is added for clients that have nothing in flight on the chain: they do not wait for another one's transfers. */
const shareOfIdleClients = 1 / 4;

/** What `take` finds; `for_idle_clients`: only for those that have nothing in flight on the chain. */
type Room = 'taken' | 'none' | 'for_idle_clients';

/** Of transfers that have started and not ended: those of each chain, and of each client on it. */
export type StartCounts = Map<string, number>;
export type CountStarts = (manager: EntityManager) => Promise<StartCounts>;

interface CountedRow {
  chain: string;
  client_id: string;
  count: number;
}

export interface StartLimitSettings {
  /** Transfers of one chain whose workflow is active, but for the part that is added for idle clients. Per chain, so that a chain that is down does not delay the others. */
  maxInFlight: number;
  /** Transfers that are accepted and whose workflow has not started, without those that wait behind a parked one of their sender. */
  maxPending: number;
  /** With these. */
  maxPendingPerClient: number;
}

/**
 * Limits on transfers that wait for their start and on those that run. Transfers are still accepted while the workflow service is
 * slow or down, but not without limit; and starts leave capacity of the database and the signing nodes for transfers already
 * running. Counts are cached: transfers that are accepted or started meanwhile can exceed a limit.
 */
export class StartLimits {
  /** Starts since the last count of transfers in flight. */
  private started: StartCounts = new Map();
  private readonly pending = new CachedValue(countPending);
  private readonly behindParked = new CachedValue(findAccountsBehindParked);
  private readonly inFlight = new CachedValue(async (manager) => {
    const startedBefore = new Map(this.started);
    const count = await countInFlight(manager);
    // some may have begun since the first count
    for (const [key, waiting] of await this.countIdle(manager)) count.set(key, Math.max(0, (count.get(key) ?? 0) - waiting));
    for (const [key, starts] of startedBefore) this.add(key, -starts);
    return count;
  }, recountMs);

  /** @param countIdle those whose signing has not begun and that use no capacity, since they wait for somebody outside */
  constructor(
    private readonly settings: StartLimitSettings,
    private readonly countIdle: CountStarts,
  ) {}

  /** @throws GatewayError unavailable when too many transfers wait for their start, in total or of this client. */
  async assertBacklogHasRoom(manager: EntityManager, clientId: string): Promise<void> {
    const pending = await this.pending.get(manager);
    const { maxPending, maxPendingPerClient } = this.settings;
    const waiting = [...pending.values()].reduce((sum, count) => sum + count.waiting, 0);
    if (waiting >= maxPending || (pending.get(clientId)?.all ?? 0) >= maxPendingPerClient)
      throw new GatewayError('unavailable', 'Too many transfers wait for their start', { retryAfterSeconds: 5 });
  }

  /** Reserves capacity for one more running transfer of a client on a chain, unless there is none. */
  async take(manager: EntityManager, chain: string, clientId: string): Promise<Room> {
    const inFlight = await this.inFlight.get(manager);
    const countOf = (key: string) => (inFlight.get(key) ?? 0) + (this.started.get(key) ?? 0);
    const { maxInFlight } = this.settings;
    const count = countOf(chain);
    if (count >= maxInFlight + Math.ceil(maxInFlight * shareOfIdleClients)) return 'none';
    if (count >= maxInFlight && countOf(placeOf(chain, clientId)) > 0) return 'for_idle_clients';
    this.change(chain, clientId, 1);
    return 'taken';
  }

  /**
   * Nothing of this account is begun on the chain before an operator has decided about another transfer: it is not started either, so that
   * what has waited takes room like everything else once the line goes on. Authorisations have no place in the line.
   */
  async isBehindParked(
    manager: EntityManager,
    { account_id: accountId, chain, transaction_type: type }: LinePlace & { transaction_type: string },
  ): Promise<boolean> {
    if (type === authorisationType) return false;
    const behind = await this.behindParked.get(manager);
    return behind.some((place) => place.account_id === accountId && place.chain === chain);
  }

  /** Returns the capacity of a transfer that was not started. */
  giveBack(chain: string, clientId: string): void {
    this.change(chain, clientId, -1);
  }

  private change(chain: string, clientId: string, starts: number): void {
    this.add(chain, starts);
    this.add(placeOf(chain, clientId), starts);
  }

  private add(key: string, starts: number): void {
    const sum = (this.started.get(key) ?? 0) + starts;
    if (sum > 0) this.started.set(key, sum);
    else this.started.delete(key);
  }
}

interface PendingStarts {
  all: number;
  /** Without those that are postponed: one client's must not keep the others out. */
  waiting: number;
}

async function countPending(manager: EntityManager): Promise<Map<string, PendingStarts>> {
  const rows = await manager.query<(PendingStarts & { client_id: string })[]>(
    `select client_id, count(*)::int as "all", (count(*) filter (where not is_postponed))::int as waiting
       from workflow_outbox where kind = 'start_transfer' group by client_id`,
  );
  return new Map(rows.map(({ client_id: clientId, ...count }) => [clientId, count]));
}

/** Transfers that wait for an approval, for the chain or for an operator, also behind another one, are not counted, since they use no capacity. */
async function countInFlight(manager: EntityManager): Promise<StartCounts> {
  const rows = await manager.query<CountedRow[]>(
    `with behind as materialized (${accountsBehindParked})
     select chain, client_id, count(*)::int as count from transactions t
      where ended_at is null and is_signed and status in ('PENDING', 'SIGNING')
        and not exists (select from workflow_outbox o where o.kind = 'start_transfer' and o.subject_id = t.tx_id)
        and not (status = 'PENDING' and transaction_type <> '${authorisationType}' and exists (select from behind b where b.account_id = t.account_id and b.chain = t.chain))
      group by chain, client_id`,
  );
  return toStartCounts(rows);
}

/** Of one row for each client of a chain. */
export function toStartCounts(rows: readonly CountedRow[]): StartCounts {
  const counts: StartCounts = new Map();
  for (const { chain, client_id: clientId, count } of rows) {
    counts.set(placeOf(chain, clientId), count);
    counts.set(chain, (counts.get(chain) ?? 0) + count);
  }
  return counts;
}

/** Key of a client's transfers on a chain. */
const placeOf = (chain: string, clientId: string): string => `${chain} ${clientId}`;
