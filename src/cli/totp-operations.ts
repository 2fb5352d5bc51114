import { createHash } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import { audit, type AuditAction } from '../audit/log';
import { findRecoveryHash, hashRecoveryCode, newRecoveryCodes } from '../mfa/recovery';
import { newTotpSecret, otpauthUri, toTimeStep, totpOwner } from '../mfa/totp';
import { inTransaction } from '../platform/database';
import { GatewayError, notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import type { SecretBox } from '../platform/secret-box';
import { currentOperator } from './operator';

/** An enrolment that is not confirmed within this time must be repeated, since others may have seen its secret. */
const confirmWithinHours = 24;

export interface TotpUser {
  userId: string;
  clientId: string;
  /** `client/user`. */
  name: string;
}

/** Shown once: the secret is stored encrypted only. */
export interface Enrolment {
  user: TotpUser;
  /** Base32. */
  secret: string;
  /** otpauth://totp/… */
  uri: string;
}

export interface TotpStatus {
  user: TotpUser;
  state: 'none' | 'waiting' | 'confirmed';
  confirmedAt: Date | null;
  lockedUntil: Date | null;
  /** Wrong codes in a row. */
  failures: number;
  recoveryCodesLeft: number;
}

interface StatusRow {
  confirmed_at: Date | null;
  locked_until: Date | null;
  failures: number;
  codes_left: number;
}

/** Operations on second factors. Users are identified by id or as `client/user`. */
export class TotpOperations {
  /** @param openBox called only by operations on secrets: the others do not need the key */
  constructor(
    private readonly database: DataSource,
    private readonly openBox: () => SecretBox,
  ) {}

  /**
   * Begins an enrolment, which takes effect after `confirm`. With `replace`, an existing second factor ends immediately.
   * @throws GatewayError not_found, business_error (already confirmed, without `replace`).
   */
  async enroll(reference: string, { replace }: { replace: boolean }): Promise<Enrolment> {
    const box = this.openBox();
    const user = await this.findUser(reference);
    return inTransaction(this.database, (manager) => begin(manager, box, user, replace));
  }

  /**
   * Confirms the open enrolment. Returns the recovery codes, which are stored as hashes only; earlier ones become invalid.
   * @throws GatewayError not_found, business_error (no open enrolment), MFA_INVALID.
   */
  async confirm(reference: string, code: string): Promise<string[]> {
    const box = this.openBox();
    const user = await this.findUser(reference);
    return inTransaction(this.database, async (manager) => {
      const [row] = await manager.query<{ secret: Buffer; confirmed: boolean; expired: boolean }[]>(
        `select secret, confirmed_at is not null as confirmed, created_at < now() - make_interval(hours => $2) as expired
           from user_totp where user_id = $1 for no key update`,
        [user.userId, confirmWithinHours],
      );
      if (!row) throw new GatewayError('business_error', `${user.name} has no enrolment to confirm`);
      if (row.confirmed) throw new GatewayError('business_error', `The second factor of ${user.name} is already confirmed`);
      if (row.expired)
        throw new GatewayError('business_error', `This enrolment is older than ${confirmWithinHours} hours: enroll again`);
      const step = toTimeStep(box.open(row.secret, totpOwner(user.userId)), code.replace(/\s/g, ''));
      if (step === null)
        throw new GatewayError(
          'MFA_INVALID',
          'The code is wrong or has expired; check the clocks of the phone and of this machine',
        );
      return complete(manager, user, step);
    });
  }

  /** @throws GatewayError not_found (the user). */
  async status(reference: string): Promise<TotpStatus> {
    const user = await this.findUser(reference);
    const [row] = await this.database.query<StatusRow[]>(
      `select confirmed_at, case when locked_until > now() then locked_until end as locked_until, failures,
              (select count(*)::int from totp_recovery_codes c where c.user_id = t.user_id and used_at is null) as codes_left
         from user_totp t where user_id = $1`,
      [user.userId],
    );
    if (!row) return { user, state: 'none', confirmedAt: null, lockedUntil: null, failures: 0, recoveryCodesLeft: 0 };
    return {
      user,
      state: row.confirmed_at ? 'confirmed' : 'waiting',
      confirmedAt: row.confirmed_at,
      lockedUntil: row.locked_until,
      failures: row.failures,
      recoveryCodesLeft: row.codes_left,
    };
  }

  /** Removes the second factor and its recovery codes. @throws GatewayError not_found. */
  async remove(reference: string): Promise<TotpUser> {
    const sql = 'delete from user_totp where user_id = $1 returning user_id';
    return this.change(reference, 'totp.removed', sql);
  }

  /** Ends a lock after wrong codes. @throws GatewayError not_found. */
  async unlock(reference: string): Promise<TotpUser> {
    const sql = 'update user_totp set failures = 0, locked_until = null, locks = 0 where user_id = $1 returning user_id';
    return this.change(reference, 'mfa.unlocked', sql);
  }

  /**
   * Uses a recovery code and begins a new enrolment, which ends the current second factor. The remaining codes stay valid until the new
   * enrolment is confirmed, so that an interrupted enrolment can be repeated with another code.
   * @throws GatewayError not_found, business_error (unknown or used code).
   */
  async recover(reference: string, recoveryCode: string): Promise<Enrolment> {
    const box = this.openBox();
    const user = await this.findUser(reference);
    const enrolment = await inTransaction(this.database, async (manager) => {
      await manager.query('select 1 from user_totp where user_id = $1 for no key update', [user.userId]);
      const rows = await manager.query<{ code_hash: Buffer }[]>(
        'select code_hash from totp_recovery_codes where user_id = $1 and used_at is null',
        [user.userId],
      );
      const found = findRecoveryHash(
        recoveryCode,
        rows.map(({ code_hash }) => code_hash),
      );
      if (!found) {
        await record(manager, user, 'totp.recovery_code_used', { outcome: 'refused' });
        return null;
      }
      await manager.query('update totp_recovery_codes set used_at = now() where user_id = $1 and code_hash = $2', [
        user.userId,
        found,
      ]);
      await record(manager, user, 'totp.recovery_code_used', { detail: { codes_left: rows.length - 1 } });
      return begin(manager, box, user, true);
    });
    // thrown after the commit, so that the audit row of the refusal is kept
    if (!enrolment) throw new GatewayError('business_error', `This is not an unused recovery code of ${user.name}`);
    return enrolment;
  }

  private async findUser(reference: string): Promise<TotpUser> {
    const where = isUuid(reference) ? 'u.user_id = $1' : `c.name || '/' || u.name = $1`;
    const users = await this.database.query<{ user_id: string; client_id: string; name: string }[]>(
      `select u.user_id, u.client_id, c.name || '/' || u.name as name
         from users u join clients c on c.client_id = u.client_id where ${where} limit 2`,
      [reference],
    );
    const [user, another] = users;
    if (!user) throw notFound(`user ${reference} (an id, or client/user)`);
    // names may contain slashes
    if (another) throw new GatewayError('business_error', `More than one user is called ${reference}: use the id instead`);
    return { userId: user.user_id, clientId: user.client_id, name: user.name };
  }

  private async change(reference: string, action: AuditAction, sql: string): Promise<TotpUser> {
    const user = await this.findUser(reference);
    return inTransaction(this.database, async (manager) => {
      const [rows] = await manager.query<[unknown[], number]>(sql, [user.userId]);
      if (rows.length === 0) throw notFound(`second factor of ${user.name}`);
      await record(manager, user, action);
      return user;
    });
  }
}

async function begin(manager: EntityManager, box: SecretBox, user: TotpUser, replace: boolean): Promise<Enrolment> {
  const secret = newTotpSecret();
  const begun = await manager.query<unknown[]>(
    `insert into user_totp as t (user_id, secret) values ($1, $2)
     on conflict (user_id) do update set
       secret = excluded.secret, confirmed_at = null, failures = 0, locked_until = null, locks = 0, created_at = now()
     where t.confirmed_at is null or $3
     returning user_id`,
    [user.userId, box.seal(secret, totpOwner(user.userId)), replace],
  );
  if (begun.length === 0)
    throw new GatewayError('business_error', `${user.name} already has a second factor: use --replace to begin a new enrolment`);
  // time steps used with the earlier secret do not matter for the new one
  await manager.query('delete from totp_steps where user_id = $1', [user.userId]);
  await record(manager, user, 'totp.enrolled');
  return { user, secret, uri: otpauthUri(secret, user.name) };
}

async function complete(manager: EntityManager, user: TotpUser, step: number): Promise<string[]> {
  const codes = newRecoveryCodes();
  await manager.query('update user_totp set confirmed_at = now() where user_id = $1', [user.userId]);
  // the code that confirms the enrolment cannot be used for anything else
  const operation = createHash('sha256').update('totp confirm').digest();
  await manager.query('insert into totp_steps (user_id, step, operation_hash) values ($1, $2, $3)', [
    user.userId,
    step,
    operation,
  ]);
  await manager.query('delete from totp_recovery_codes where user_id = $1', [user.userId]);
  await manager.query('insert into totp_recovery_codes (user_id, code_hash) select $1, unnest($2::bytea[])', [
    user.userId,
    codes.map(hashRecoveryCode),
  ]);
  await record(manager, user, 'totp.confirmed');
  return codes;
}

function record(
  manager: EntityManager,
  user: TotpUser,
  action: AuditAction,
  { outcome = 'success', detail = {} }: { outcome?: 'success' | 'refused'; detail?: Record<string, number> } = {},
): Promise<void> {
  const subject = { type: 'user', id: user.userId };
  return audit(manager, { action, outcome, actor: currentOperator(), clientId: user.clientId, subject, detail });
}
