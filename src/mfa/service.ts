import { createHash } from 'node:crypto';
import { verifySync } from 'otplib';
import type { DataSource, EntityManager } from 'typeorm';
import { audit, type AuditAction } from '../audit/log';
import type { Caller } from '../http/context';
import { inTransaction } from '../platform/database';
import { GatewayError } from '../platform/errors';
import type { SecretBox } from '../platform/secret-box';

const periodSeconds = 30;
/** Wrong codes in a row before MFA is locked, and for how long. */
const failureLimit = 5;
const lockMinutes = 15;

export interface MfaRequest {
  caller: Caller;
  /** 6 digits; undefined when the body has none. */
  code: string | undefined;
  /** What the code is to authorise: method, path and body without the code, in a canonical form. */
  act: string;
  requestId: string;
}

interface TotpRow {
  secret: Buffer;
  failures: number;
  /** Seconds; null when not locked. */
  locked_for: number | null;
}

type Verdict = { outcome: 'accepted' } | { outcome: 'repeated' } | { outcome: 'refused'; error: GatewayError };

/** Names a user's secret to the SecretBox. */
export const totpOwner = (userId: string): string => `totp:${userId}`;

/**
 * Second factor by TOTP (RFC 6238: SHA-1, 6 digits, 30 s), one step of drift either way. An accepted step is on record and is never
 * accepted again, also by a request at the same moment; five wrong codes lock MFA for 15 minutes.
 */
export class MfaService {
  constructor(
    private readonly database: DataSource,
    private readonly box: SecretBox,
  ) {}

  /**
   * Checks the code, then does `work`, in one database transaction: the code is used up even when `work` refuses. A code that
   * has authorised this very act before does nothing twice: `repeated` may say why the act cannot be done again (409), and
   * otherwise the code counts as wrong.
   * @throws GatewayError MFA_NOT_ENABLED, MFA_REQUIRED, MFA_INVALID, rate_limited (locked), and what `work` throws.
   */
  async authorize<T>(
    request: MfaRequest,
    work: (manager: EntityManager) => Promise<T>,
    repeated: (manager: EntityManager) => Promise<void> = () => Promise.resolve(),
  ): Promise<T> {
    const result = await inTransaction(this.database, async (manager): Promise<{ done: T } | { refused: GatewayError }> => {
      const verdict = await this.check(manager, request);
      if (verdict.outcome === 'refused') return { refused: verdict.error };
      try {
        // a savepoint: what the act refuses is undone, the code stays used
        return await manager.transaction(async (nested) => {
          if (verdict.outcome === 'accepted') return { done: await work(nested) };
          await repeated(nested);
          return { refused: await this.countFailure(nested, request) };
        });
      } catch (error) {
        if (error instanceof GatewayError && error.code !== 'unavailable') return { refused: error };
        throw error;
      }
    });
    if ('refused' in result) throw result.refused;
    return result.done;
  }

  private async check(manager: EntityManager, request: MfaRequest): Promise<Verdict> {
    const { caller, code, act } = request;
    // the row's lock makes requests of one user wait for each other
    const [totp] = await manager.query<TotpRow[]>(
      `select secret, failures, ceil(extract(epoch from locked_until - clock_timestamp()))::int as locked_for
         from user_totp where user_id = $1 and confirmed_at is not null for no key update`,
      [caller.userId],
    );
    if (!totp) return refused('MFA_NOT_ENABLED', 'This user has no second factor: an operator enrols it');
    if (code === undefined) return refused('MFA_REQUIRED', 'mfa_code is required');
    if (totp.locked_for !== null && totp.locked_for > 0) return { outcome: 'refused', error: locked(totp.locked_for) };

    const epoch = Math.floor(Date.now() / 1000);
    const result = verifySync({
      secret: this.box.open(totp.secret, totpOwner(caller.userId)),
      token: code,
      epoch,
      epochTolerance: periodSeconds,
    });
    if (!result.valid || !('timeStep' in result)) return { outcome: 'refused', error: await this.countFailure(manager, request) };
    const hash = createHash('sha256').update(act).digest();
    const earlier = await accept(manager, caller.userId, result.timeStep, hash);
    if (earlier === null) return { outcome: 'accepted' };
    if (earlier.equals(hash)) return { outcome: 'repeated' };
    return { outcome: 'refused', error: await this.countFailure(manager, request) };
  }

  private async countFailure(manager: EntityManager, { caller, requestId }: MfaRequest): Promise<GatewayError> {
    const [rows] = await manager.query<[{ failures: number }[], number]>(
      `update user_totp
          set failures = (case when locked_until < clock_timestamp() then 0 else failures end) + 1,
              locked_until = case when (case when locked_until < clock_timestamp() then 0 else failures end) + 1 >= $2
                                  then clock_timestamp() + make_interval(mins => $3) end
        where user_id = $1 returning failures`,
      [caller.userId, failureLimit, lockMinutes],
    );
    const isLocked = (rows[0]?.failures ?? 0) >= failureLimit;
    const action: AuditAction = isLocked ? 'mfa.locked' : 'mfa.refused';
    await audit(manager, {
      action,
      outcome: 'refused',
      actor: { type: 'user', id: caller.userId },
      clientId: caller.clientId,
      subject: { type: 'user', id: caller.userId },
      requestId,
    });
    return new GatewayError('MFA_INVALID', 'mfa_code is wrong, has expired or was used before');
  }
}

/** Records the step as used. Returns null, or what it was used for before. */
async function accept(manager: EntityManager, userId: string, step: number, act: Buffer): Promise<Buffer | null> {
  const added = await manager.query<unknown[]>(
    `insert into totp_steps (user_id, step, act) values ($1, $2, $3) on conflict do nothing returning step`,
    [userId, step, act],
  );
  if (added.length === 0) {
    const [row] = await manager.query<{ act: Buffer }[]>(`select act from totp_steps where user_id = $1 and step = $2`, [
      userId,
      step,
    ]);
    return row?.act ?? Buffer.alloc(0);
  }
  await manager.query(`update user_totp set failures = 0, locked_until = null where user_id = $1`, [userId]);
  // those that no code can name any more
  await manager.query(`delete from totp_steps where user_id = $1 and step < $2`, [userId, step - 10]);
  return null;
}

const refused = (code: 'MFA_NOT_ENABLED' | 'MFA_REQUIRED', message: string): Verdict => ({
  outcome: 'refused',
  error: new GatewayError(code, message),
});

const locked = (retryAfterSeconds: number): GatewayError =>
  new GatewayError('rate_limited', 'Too many wrong codes: MFA is locked for a while', { retryAfterSeconds });
