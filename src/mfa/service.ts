import { createHash } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import { auditUser } from '../audit/log';
import type { Caller } from '../http/context';
import { inTransaction, requestTransaction } from '../platform/database';
import { GatewayError } from '../platform/errors';
import type { SecretBox } from '../platform/secret-box';
import { toTimeStep, totpOwner } from './totp';

/** Wrong codes in a row before MFA is locked. */
const failureLimit = 5;
/**
 * Durations of successive locks without a correct code in between. The last one repeats: with a permanent lock, somebody who has a
 * user's API key could lock the user out permanently.
 */
const lockMinutes = [15, 60, 1_440];

export interface MfaRequest {
  caller: Caller;
  /** 6 digits; undefined when the body has none. */
  code: string | undefined;
  /** What the code authorises: method, path and body without the code, in a canonical form. */
  operation: string;
  requestId: string;
}

interface TotpRow {
  secret: Buffer;
  failures: number;
  /** Seconds until the lock ends; zero or negative when it has ended, null when there is none. */
  locked_for: number | null;
}

type CodeCheck =
  | { outcome: 'accepted' }
  /** `failures`: number of wrong codes in a row if this one counts as wrong. */
  | { outcome: 'repeated'; failures: number }
  | { outcome: 'refused'; error: GatewayError };

/**
 * Second factor by TOTP (RFC 6238: SHA-1, 6 digits, 30 s) with a drift of one time step in both directions. An accepted time step is
 * stored and never accepted again, not even by a concurrent request; five wrong codes in a row lock MFA. Each further lock is longer,
 * until a correct code is given.
 */
export class MfaService {
  constructor(
    private readonly database: DataSource,
    private readonly box: SecretBox,
  ) {}

  /**
   * Checks the code and runs `work` in one database transaction; the code is used up even when `work` refuses. A code that has already
   * authorised the same operation does not run `work` again: `onRepeated` can throw the reason why the operation cannot be repeated
   * (409), otherwise the code counts as wrong.
   * @throws GatewayError MFA_NOT_ENABLED, MFA_REQUIRED, MFA_INVALID, rate_limited (locked), and what `work` throws.
   */
  async authorize<T>(
    request: MfaRequest,
    work: (manager: EntityManager) => Promise<T>,
    onRepeated: (manager: EntityManager) => Promise<void> = () => Promise.resolve(),
  ): Promise<T> {
    const checkAndWork = async (manager: EntityManager): Promise<{ done: T } | { refused: GatewayError }> => {
      const check = await this.check(manager, request);
      if (check.outcome === 'refused') return { refused: check.error };
      try {
        // a savepoint: when `work` throws, its changes are rolled back but the code stays used
        return await manager.transaction(async (nested) => {
          if (check.outcome === 'accepted') return { done: await work(nested) };
          await onRepeated(nested);
          return { refused: await countFailure(nested, request, check.failures) };
        });
      } catch (error) {
        if (error instanceof GatewayError && error.code !== 'unavailable') return { refused: error };
        throw error;
      }
    };
    const result = await inTransaction(this.database, checkAndWork, requestTransaction);
    if ('refused' in result) throw result.refused;
    return result.done;
  }

  private async check(manager: EntityManager, request: MfaRequest): Promise<CodeCheck> {
    const { caller, code, operation } = request;
    // the row lock serialises the requests of one user
    const [totp] = await manager.query<TotpRow[]>(
      `select secret, failures, ceil(extract(epoch from locked_until - clock_timestamp()))::int as locked_for
         from user_totp where user_id = $1 and confirmed_at is not null for no key update`,
      [caller.userId],
    );
    if (!totp) return refused('MFA_NOT_ENABLED', 'This user has no second factor: an operator can enrol one');
    if (code === undefined) return refused('MFA_REQUIRED', 'mfa_code is required');
    if (totp.locked_for !== null && totp.locked_for > 0) return { outcome: 'refused', error: locked(totp.locked_for) };

    // after a lock has ended, counting starts at zero
    const failures = (totp.locked_for === null ? totp.failures : 0) + 1;
    const step = toTimeStep(this.box.open(totp.secret, totpOwner(caller.userId)), code);
    if (step === null) return { outcome: 'refused', error: await countFailure(manager, request, failures) };
    const hash = createHash('sha256').update(operation).digest();
    const earlier = await accept(manager, caller.userId, step, hash);
    if (earlier === null) return { outcome: 'accepted' };
    if (earlier.equals(hash)) return { outcome: 'repeated', failures };
    return { outcome: 'refused', error: await countFailure(manager, request, failures) };
  }
}

/** `check` has locked the row, so there is no concurrent count. */
async function countFailure(manager: EntityManager, request: MfaRequest, failures: number): Promise<GatewayError> {
  const { caller, requestId } = request;
  const isLocked = failures >= failureLimit;
  await manager.query(
    `update user_totp set failures = $2, locks = locks + $3::boolean::int,
            locked_until = case when $3 then clock_timestamp() + make_interval(mins => ($4::int[])[least(locks + 1, cardinality($4::int[]))]) end
      where user_id = $1`,
    [caller.userId, failures, isLocked, lockMinutes],
  );
  await auditUser(manager, caller, {
    action: isLocked ? 'mfa.locked' : 'mfa.refused',
    outcome: 'refused',
    subject: { type: 'user', id: caller.userId },
    requestId,
  });
  return new GatewayError('MFA_INVALID', 'mfa_code is wrong, has expired or was used before');
}

/** Stores the time step as used. Returns null, or the hash of the operation it was used for before. */
async function accept(manager: EntityManager, userId: string, step: number, operation: Buffer): Promise<Buffer | null> {
  const added = await manager.query<unknown[]>(
    `insert into totp_steps (user_id, step, operation_hash) values ($1, $2, $3) on conflict do nothing returning step`,
    [userId, step, operation],
  );
  if (added.length === 0) {
    const [row] = await manager.query<{ operation_hash: Buffer }[]>(
      `select operation_hash from totp_steps where user_id = $1 and step = $2`,
      [userId, step],
    );
    return row?.operation_hash ?? Buffer.alloc(0);
  }
  await manager.query(`update user_totp set failures = 0, locked_until = null, locks = 0 where user_id = $1`, [userId]);
  // steps that are too old for any valid code
  await manager.query(`delete from totp_steps where user_id = $1 and step < $2`, [userId, step - 10]);
  return null;
}

const refused = (code: 'MFA_NOT_ENABLED' | 'MFA_REQUIRED', message: string): CodeCheck => ({
  outcome: 'refused',
  error: new GatewayError(code, message),
});

const locked = (retryAfterSeconds: number): GatewayError =>
  new GatewayError('rate_limited', 'Too many wrong codes: MFA is temporarily locked', { retryAfterSeconds });
