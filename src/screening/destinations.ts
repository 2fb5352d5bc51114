import type { EntityManager } from 'typeorm';
import type { AuditActor } from '../audit/log';

/** The destination of a transfer. */
export interface Destination {
  clientId: string;
  chain: string;
  /** Canonical form from the family's codec, so that every spelling of an address matches its entry. */
  addressKey: string;
}

export type DestinationVerdict =
  | { outcome: 'allowed' }
  /** Not on the whitelist of a client that requires approvals. */
  | { outcome: 'needs_approval' }
  | { outcome: 'refused'; code: 'address_blacklisted' | 'address_not_whitelisted'; reason: string };

/** What happens to transfers to addresses that are not on the whitelist: allowed, approval required, or refused. */
export const whitelistModes = ['off', 'approve', 'only'] as const;
export type WhitelistMode = (typeof whitelistModes)[number];

interface Row {
  mode: WhitelistMode;
  blacklisted: boolean;
  whitelisted: boolean;
}

/** The actor of refusals and cancellations that no person decided. */
export const screening: AuditActor = { type: 'system', id: 'screening' };
export const blacklistedReason = 'to_address is on your blacklist';
/** Note on a transfer that is stopped after one of its attempts was signed. */
export const cancellationNote = `${blacklistedReason}: a cancellation that moves nothing uses up the reservation`;
/** The same for families whose attempts expire. */
export const expiryNote = `${blacklistedReason}: nothing of the transfer is sent any more, and it ends when its attempts have expired`;

/**
 * The rule about destinations, used by the API, after the lock and when signing begins. The blacklist has priority; a whitelist
 * entry takes effect once the client's cooling time has passed since its last activation. `approved`: a user has approved this
 * transfer, so the whitelist does not matter.
 */
export async function evaluateDestination(
  manager: EntityManager,
  { clientId, chain, addressKey }: Destination,
  { approved = false } = {},
): Promise<DestinationVerdict> {
  const [row] = await manager.query<Row[]>(
    `select c.whitelist_mode as mode,
            coalesce(bool_or(f.factor_type = 'BLACKLIST'), false) as blacklisted,
            coalesce(bool_or(f.factor_type = 'WHITELIST'
              and f.activated_at + make_interval(secs => c.whitelist_cooling_seconds) <= clock_timestamp()), false) as whitelisted
       from clients c
       left join security_factors f on f.client_id = c.client_id and f.factor_type in ('BLACKLIST', 'WHITELIST') and f.chain = $2
        and f.address_key = $3
        and f.status = 'active' and f.deleted_at is null
      where c.client_id = $1 group by c.client_id`,
    [clientId, chain, addressKey],
  );
  if (!row) throw new Error(`there is no client ${clientId}`);
  if (row.blacklisted) return { outcome: 'refused', code: 'address_blacklisted', reason: blacklistedReason };
  if (row.mode === 'off' || row.whitelisted || approved) return { outcome: 'allowed' };
  if (row.mode === 'approve') return { outcome: 'needs_approval' };
  return {
    outcome: 'refused',
    code: 'address_not_whitelisted',
    reason: 'to_address is not on your whitelist, or its cooling time has not passed',
  };
}

/** The blacklist only: the rule that applies once signing has begun. */
export async function isBlacklisted(manager: EntityManager, destination: Destination): Promise<boolean> {
  const verdict = await evaluateDestination(manager, destination, { approved: true });
  return verdict.outcome === 'refused' && verdict.code === 'address_blacklisted';
}
