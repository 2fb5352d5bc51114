import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { audit, type AuditAction } from '../audit/log';
import { findRecoveryHash, hashRecoveryCode, newRecoveryCodes } from '../mfa/recovery';
import { newTotpSecret, otpauthUri, toTimeStep, totpOwner } from '../mfa/totp';
import { GatewayError } from '../platform/errors';
import type { SecretBox } from '../platform/secret-box';
import { withReason } from './confirmation';
import { currentOperator } from './operator';

/** The steps of an enrolment, each in the database transaction of its caller. */

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

/**
 * Stores a new secret, which counts once it is confirmed.
 * @throws GatewayError business_error (already confirmed, without `replace`).
 */
export async function beginEnrolment(
  manager: EntityManager,
  box: SecretBox,
  user: TotpUser,
  { replace, reason }: { replace: boolean; reason?: string | undefined },
): Promise<Enrolment> {
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
  await auditFactor(manager, user, 'totp.enrolled', { detail: withReason(reason) });
  return { user, secret, uri: otpauthUri(secret, user.name) };
}

/**
 * The time step that confirms the open enrolment.
 * @throws GatewayError business_error (no open enrolment), MFA_INVALID.
 */
export async function findConfirmingStep(manager: EntityManager, box: SecretBox, user: TotpUser, code: string): Promise<number> {
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
    throw new GatewayError('MFA_INVALID', 'The code is wrong or has expired; check the clocks of the phone and of this machine');
  return step;
}

/** Confirms the enrolment. Returns new recovery codes; earlier ones become invalid. */
export async function completeEnrolment(manager: EntityManager, user: TotpUser, step: number): Promise<string[]> {
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
  await auditFactor(manager, user, 'totp.confirmed');
  return codes;
}

/** Uses a recovery code. Returns whether it was an unused one of this user; an audit row says so in either case. */
export async function useRecoveryCode(manager: EntityManager, user: TotpUser, code: string): Promise<boolean> {
  await manager.query('select 1 from user_totp where user_id = $1 for no key update', [user.userId]);
  const rows = await manager.query<{ code_hash: Buffer }[]>(
    'select code_hash from totp_recovery_codes where user_id = $1 and used_at is null',
    [user.userId],
  );
  const found = findRecoveryHash(
    code,
    rows.map(({ code_hash }) => code_hash),
  );
  if (!found) {
    await auditFactor(manager, user, 'totp.recovery_code_used', { outcome: 'refused' });
    return false;
  }
  await manager.query('update totp_recovery_codes set used_at = now() where user_id = $1 and code_hash = $2', [
    user.userId,
    found,
  ]);
  await auditFactor(manager, user, 'totp.recovery_code_used', { detail: { codes_left: rows.length - 1 } });
  return true;
}

/** What an operator does to a second factor, in the audit log. */
export function auditFactor(
  manager: EntityManager,
  user: TotpUser,
  action: AuditAction,
  { outcome = 'success', detail = {} }: { outcome?: 'success' | 'refused'; detail?: Record<string, number | string> } = {},
): Promise<void> {
  const subject = { type: 'user', id: user.userId };
  return audit(manager, { action, outcome, actor: currentOperator(), clientId: user.clientId, subject, detail });
}
