import type { EntityManager } from 'typeorm';
import { GatewayError } from '../platform/errors';

export interface GenerationLimitSettings {
  /** Wallets without a key, in all and of one client. */
  maxPending: number;
  maxPendingPerClient: number;
  /** Key generations that run at a time, over all processes. */
  maxInFlight: number;
}

/** How long a full house is remembered: the dispatcher offers every waiting wallet again several times a second. */
const fullForMs = 200;

/**
 * Bounds on wallets that wait for their key. A generation takes some eleven seconds of processor time on the signing nodes: without
 * bounds one client could keep them busy for hours, and with them everybody's wallets and signatures.
 */
export class GenerationLimits {
  private fullUntil = -Infinity;

  constructor(private readonly settings: GenerationLimitSettings) {}

  /**
   * To be called after the wallet's insert, in the same transaction. Creations are counted one after the other: the lock is held until
   * their commit.
   * @throws GatewayError unavailable when too many wallets wait for their key, in all or of this client.
   */
  async assertRoom(manager: EntityManager, clientId: string): Promise<void> {
    await manager.query(`select pg_advisory_xact_lock(hashtext('wallets without a key'))`);
    const [pending] = await manager.query<{ all: number; own: number }[]>(
      `select count(*)::int as all, (count(*) filter (where client_id = $1))::int as own from wallets where key_status = 'GENERATING'`,
      [clientId],
    );
    const { maxPending, maxPendingPerClient } = this.settings;
    if ((pending?.all ?? 0) > maxPending || (pending?.own ?? 0) > maxPendingPerClient)
      throw new GatewayError('unavailable', 'Too many wallets wait for their key', { retryAfterSeconds: 30 });
  }

  /**
   * Whether a wallet's generation may begin now. Turns alternate between clients: a client's next wallet comes after those of clients
   * that have fewer generations running and begun.
   */
  async isNext(manager: EntityManager, walletId: string): Promise<boolean> {
    if (performance.now() < this.fullUntil) return false;
    const [turn] = await manager.query<{ free: number; place: number | null }[]>(
      `with running as (
         select client_id, count(*) as count from wallets w
          where key_status = 'GENERATING'
            and not exists (select from workflow_outbox o where o.kind = 'start_key_generation' and o.subject_id = w.wallet_id)
          group by client_id
       ), waiting as (
         select subject_id, row_number() over (order by coalesce(r.count, 0) + nth, outbox_id) as place
           from (select *, row_number() over (partition by client_id order by outbox_id) as nth from workflow_outbox
                  where kind = 'start_key_generation'
                    -- one that is neither due nor new has just failed, and holds up nobody
                    and (deliver_after <= clock_timestamp() or created_at > clock_timestamp() - interval '2 seconds')) o
           left join running r using (client_id)
       )
       select $2::int - coalesce((select sum(count) from running), 0)::int as free,
              (select place::int from waiting where subject_id = $1) as place`,
      [walletId, this.settings.maxInFlight],
    );
    const free = turn?.free ?? 0;
    if (free <= 0) this.fullUntil = performance.now() + fullForMs;
    return turn?.place != null && turn.place <= free;
  }
}
