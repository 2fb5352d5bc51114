import type { EntityManager } from 'typeorm';
import { GatewayError } from '../platform/errors';

export interface StartLimitSettings {
  /** Transfers of one chain whose workflow has work to do: a chain that is away holds up no other. */
  maxInFlight: number;
  /** Transfers that are accepted and whose workflow is not started. */
  maxPending: number;
  maxPendingPerClient: number;
}

/** How long a count is used; what is accepted or started meanwhile may exceed a limit by so much. */
const cachedMs = 1_000;

/** A value that is read again once it is a second old. Callers at the same time share one reading, in their order. */
class CachedValue<T> {
  private readAt = -Infinity;
  private value: Promise<T> | undefined;

  constructor(private readonly read: (manager: EntityManager) => Promise<T>) {}

  get(manager: EntityManager): Promise<T> {
    if (this.value && performance.now() - this.readAt < cachedMs) return this.value;
    this.readAt = performance.now();
    this.value = this.read(manager).catch((error: unknown) => {
      this.value = undefined;
      throw error;
    });
    return this.value;
  }
}

/**
 * Bounds on transfers that wait for their start and on those that run. Accepting goes on while the workflow service is slow or
 * away, but not without end; and starting leaves the database and the signing nodes room for what has been accepted before.
 */
export class StartLimits {
  /** Starts by chain since the transfers in flight were counted. */
  private started = new Map<string, number>();
  private readonly pending = new CachedValue(countPending);
  private readonly inFlight = new CachedValue(async (manager) => {
    const startedBefore = new Map(this.started);
    const count = await countInFlight(manager);
    for (const [chain, starts] of startedBefore) this.add(chain, -starts);
    return count;
  });

  constructor(private readonly settings: StartLimitSettings) {}

  /** @throws GatewayError unavailable when too many transfers wait for their start, in all or of this client. */
  async assertBacklogHasRoom(manager: EntityManager, clientId: string): Promise<void> {
    const pending = await this.pending.get(manager);
    const { maxPending, maxPendingPerClient } = this.settings;
    const inAll = [...pending.values()].reduce((sum, count) => sum + count, 0);
    if (inAll >= maxPending || (pending.get(clientId) ?? 0) >= maxPendingPerClient)
      throw new GatewayError('unavailable', 'Too many transfers wait for their start', { retryAfterSeconds: 5 });
  }

  /** Takes room for one more running transfer of a chain; false when there is none. */
  async take(manager: EntityManager, chain: string): Promise<boolean> {
    const inFlight = await this.inFlight.get(manager);
    if ((inFlight.get(chain) ?? 0) + (this.started.get(chain) ?? 0) >= this.settings.maxInFlight) return false;
    this.add(chain, 1);
    return true;
  }

  /** The transfer was not started after all. */
  giveBack(chain: string): void {
    this.add(chain, -1);
  }

  private add(chain: string, starts: number): void {
    this.started.set(chain, Math.max(0, (this.started.get(chain) ?? 0) + starts));
  }
}

async function countPending(manager: EntityManager): Promise<Map<string, number>> {
  const rows = await manager.query<{ client_id: string; count: number }[]>(
    `select client_id, count(*)::int as count from workflow_outbox where kind = 'start_transfer' group by client_id`,
  );
  return new Map(rows.map(({ client_id: clientId, count }) => [clientId, count]));
}

/** One that waits for an approval, for the chain or for an operator costs nothing, however many there are. */
async function countInFlight(manager: EntityManager): Promise<Map<string, number>> {
  const rows = await manager.query<{ chain: string; count: number }[]>(
    `select chain, count(*)::int as count from transactions t
      where ended_at is null and is_held and status in ('PENDING', 'SIGNING')
        and not exists (select from workflow_outbox o where o.kind = 'start_transfer' and o.subject_id = t.tx_id)
      group by chain`,
  );
  return new Map(rows.map(({ chain, count }) => [chain, count]));
}
