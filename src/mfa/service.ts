import { createHash } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import { audit } from '../audit/log';
import type { Caller } from '../http/context';
import { inTransaction } from '../platform/database';
import { GatewayError } from '../platform/errors';
import type { SecretBox } from '../platform/secret-box';
import { toTimeStep, totpOwner } from './totp';

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
  /** Seconds, not positive once the lock has ended; null when there is none. */
  locked_for: number | null;
}

type Verdict =
  | { outcome: 'accepted' }
  /** `failures`: how many wrong codes there will have been, should this one count as wrong. */
  | { outcome: 'repeated'; failures: number }
  | { outcome: 'refused'; error: GatewayError };

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
          return { refused: await countFailure(nested, request, verdict.failures) };
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

    // a lock that has ended leaves no wrong codes behind
    const failures = (totp.locked_for === null ? totp.failures : 0) + 1;
    const step = toTimeStep(this.box.open(totp.secret, totpOwner(caller.userId)), code);
    if (step === null) return { outcome: 'refused', error: await countFailure(manager, request, failures) };
    const hash = createHash('sha256').update(act).digest();
    const earlier = await accept(manager, caller.userId, step, hash);
    if (earlier === null) return { outcome: 'accepted' };
    if (earlier.equals(hash)) return { outcome: 'repeated', failures };
    return { outcome: 'refused', error: await countFailure(manager, request, failures) };
  }
}

/** The row is locked by `check`: nobody else counts at the same moment. */
async function countFailure(manager: EntityManager, request: MfaRequest, failures: number): Promise<GatewayError> {
  const { caller, requestId } = request;
  const isLocked = failures >= failureLimit;
  await manager.query(
    `update user_totp set failures = $2, locked_until = case when $3 then clock_timestamp() + make_interval(mins => $4) end
      where user_id = $1`,
    [caller.userId, failures, isLocked, lockMinutes],
  );
  await audit(manager, {
    action: isLocked ? 'mfa.locked' : 'mfa.refused',
    outcome: 'refused',
    actor: { type: 'user', id: caller.userId },
    clientId: caller.clientId,
    subject: { type: 'user', id: caller.userId },
    requestId,
  });
  return new GatewayError('MFA_INVALID', 'mfa_code is wrong, has expired or was used before');
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
