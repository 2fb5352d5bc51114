import type { DataSource } from 'typeorm';
import type { AuditAction } from '../audit/log';
import { inTransaction } from '../platform/database';
import { GatewayError, notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import type { SecretBox } from '../platform/secret-box';
import {
  auditFactor,
  beginEnrolment,
  completeEnrolment,
  type Enrolment,
  findConfirmingStep,
  type TotpUser,
  useRecoveryCode,
} from './totp-enrolment';
import { withReason } from './confirmation';

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
  async enroll(reference: string, options: { replace: boolean; reason?: string | undefined }): Promise<Enrolment> {
    const box = this.openBox();
    const user = await this.findUser(reference);
    return inTransaction(this.database, (manager) => beginEnrolment(manager, box, user, options));
  }

  /**
   * Confirms the open enrolment. Returns the recovery codes, which are stored as hashes only; earlier ones become invalid.
   * @throws GatewayError not_found, business_error (no open enrolment), MFA_INVALID.
   */
  async confirm(reference: string, code: string): Promise<string[]> {
    const box = this.openBox();
    const user = await this.findUser(reference);
    return inTransaction(this.database, async (manager) =>
      completeEnrolment(manager, user, await findConfirmingStep(manager, box, user, code)),
    );
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
  async remove(reference: string, reason?: string): Promise<TotpUser> {
    const sql = 'delete from user_totp where user_id = $1 returning user_id';
    return this.change(reference, 'totp.removed', sql, reason);
  }

  /** Ends a lock after wrong codes. @throws GatewayError not_found. */
  async unlock(reference: string, reason?: string): Promise<TotpUser> {
    const sql = 'update user_totp set failures = 0, locked_until = null, locks = 0 where user_id = $1 returning user_id';
    return this.change(reference, 'mfa.unlocked', sql, reason);
  }

  /**
   * Uses a recovery code and begins a new enrolment, which ends the current second factor. The remaining codes stay valid until the new
   * enrolment is confirmed, so that an interrupted enrolment can be repeated with another code.
   * @throws GatewayError not_found, business_error (unknown or used code).
   */
  async recover(reference: string, recoveryCode: string, reason?: string): Promise<Enrolment> {
    const box = this.openBox();
    const user = await this.findUser(reference);
    const enrolment = await inTransaction(this.database, async (manager) =>
      (await useRecoveryCode(manager, user, recoveryCode)) ? beginEnrolment(manager, box, user, { replace: true, reason }) : null,
    );
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

  private async change(reference: string, action: AuditAction, sql: string, reason?: string): Promise<TotpUser> {
    const user = await this.findUser(reference);
    return inTransaction(this.database, async (manager) => {
      const [rows] = await manager.query<[unknown[], number]>(sql, [user.userId]);
      if (rows.length === 0) throw notFound(`second factor of ${user.name}`);
      await auditFactor(manager, user, action, { detail: withReason(reason) });
      return user;
    });
  }
}
