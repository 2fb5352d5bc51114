import type { EntityManager } from 'typeorm';
import { GatewayError } from '../platform/errors';

export interface GenerationLimitSettings {
  /** Wallets that wait for their key, in total and of one client. */
  maxPending: number;
  maxPendingPerClient: number;
  /** Key generations that run at the same time, over all processes. */
  maxInFlight: number;
}

/** Condition on `wallets w`: the key's generation was started and has not ended with a key. */
export const isBeingGenerated = `w.key_status = 'GENERATING' and not exists (
  select from workflow_outbox o where o.kind = 'start_key_generation' and o.subject_id = w.wallet_id)`;

/** How long no wallet is tried after one found no room: the dispatcher tries every waiting wallet several times a second. */
const fullForMs = 200;

/**
 * Limits on wallets that wait for their key and on key generations. A generation takes about 11 seconds of CPU on the signing nodes:
 * without limits one client could keep them busy for hours and delay the wallets and signatures of all clients.
 */
export class GenerationLimits {
  private fullUntil = -Infinity;

  constructor(private readonly settings: GenerationLimitSettings) {}

  /**
   * To be called after the wallet's insert, in the same database transaction. Its lock is held until the commit, so that concurrent
   * creations are counted and get their turns one after the other.
   * @throws GatewayError unavailable when too many wallets wait for their key, in total or of this client.
   */
  async assertRoom(manager: EntityManager, clientId: string): Promise<void> {
    await manager.query(`select pg_advisory_xact_lock(hashtext('wallets_generating'))`);
    const [pending] = await manager.query<{ all: number; own: number }[]>(
      `select count(*)::int as all, (count(*) filter (where client_id = $1))::int as own from wallets where key_status = 'GENERATING'`,
      [clientId],
    );
    const { maxPending, maxPendingPerClient } = this.settings;
    if ((pending?.all ?? 0) > maxPending || (pending?.own ?? 0) > maxPendingPerClient)
      throw new GatewayError('unavailable', 'Too many wallets wait for their key', { retryAfterSeconds: 30 });
  }

  /** Whether a wallet's generation may begin now: there is room after the waiting wallets whose turn is earlier. */
  async isNext(manager: EntityManager, walletId: string): Promise<boolean> {
    if (performance.now() < this.fullUntil) return false;
    const [turn] = await manager.query<{ free: number; place: number }[]>(
      `select $2::int - (select count(*) from wallets w where ${isBeingGenerated})::int as free,
              (select count(*) from workflow_outbox o
                where o.kind = own.kind and (o.turn, o.outbox_id) <= (own.turn, own.outbox_id)
                  -- a message that is neither due nor new has just failed: it does not delay the others
                  and (o.deliver_after <= clock_timestamp() or o.created_at > clock_timestamp() - interval '2 seconds'))::int as place
         from workflow_outbox own where kind = 'start_key_generation' and subject_id = $1`,
      [walletId, this.settings.maxInFlight],
    );
    // another process has delivered the message meanwhile
    if (!turn) return false;
    if (turn.free <= 0) this.fullUntil = performance.now() + fullForMs;
    return turn.place <= turn.free;
  }
}
