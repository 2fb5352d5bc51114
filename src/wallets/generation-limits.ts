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
   * To be called after the wallet's insert, in the same transaction. Creations are counted, and get their turns, one after the other:
   * the lock is held until their commit.
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

  /** Whether a wallet's generation may begin now: there is room, and no wallet whose turn is earlier waits for it. */
  async isNext(manager: EntityManager, walletId: string): Promise<boolean> {
    if (performance.now() < this.fullUntil) return false;
    const [turn] = await manager.query<{ free: number; place: number }[]>(
      `select $2::int - (
                select count(*) from wallets w where key_status = 'GENERATING' and not exists (
                  select from workflow_outbox o where o.kind = 'start_key_generation' and o.subject_id = w.wallet_id))::int as free,
              (select count(*) from workflow_outbox o
                where o.kind = own.kind and (o.turn, o.outbox_id) <= (own.turn, own.outbox_id)
                  -- one that is neither due nor new has just failed, and holds up nobody
                  and (o.deliver_after <= clock_timestamp() or o.created_at > clock_timestamp() - interval '2 seconds'))::int as place
         from workflow_outbox own where kind = 'start_key_generation' and subject_id = $1`,
      [walletId, this.settings.maxInFlight],
    );
    // delivered meanwhile
    if (!turn) return false;
    if (turn.free <= 0) this.fullUntil = performance.now() + fullForMs;
    return turn.place <= turn.free;
  }
}
