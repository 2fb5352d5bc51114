import { randomBytes } from 'node:crypto';
import type { ClientEntity, UserEntity } from '../../../src/auth/entity';
import { MfaService } from '../../../src/mfa/service';
import { resealSecrets } from '../../../src/cli/reseal-secrets';
import type { Enrolment } from '../../../src/cli/totp-enrolment';
import { TotpOperations } from '../../../src/cli/totp-operations';
import { GatewayError } from '../../../src/platform/errors';
import { newId } from '../../../src/platform/ids';
import { SecretBox } from '../../../src/platform/secret-box';
import { buildClient, buildUser, totpCode } from '../../factories';
import { createTestDatabase, type TestDatabase } from '../../stack/database';

const key = randomBytes(32).toString('hex');
const box = new SecretBox(key, 'TOTP_SECRETS_KEY');
let db: TestDatabase;
let totp: TotpOperations;
let mfa: MfaService;
let client: ClientEntity;
let user: UserEntity;

beforeAll(async () => {
  db = await createTestDatabase();
  totp = new TotpOperations(db.database, () => box);
  mfa = new MfaService(db.database, box);
});
afterAll(() => db.drop());
beforeEach(async () => {
  client = await buildClient(db.database);
  user = await buildUser(db.database, client);
});

const enroll = (replace = false) => totp.enroll(user.userId, { replace });
const confirmed = async (): Promise<Enrolment & { codes: string[] }> => {
  const enrolment = await enroll();
  return { ...enrolment, codes: await totp.confirm(user.userId, totpCode(enrolment.secret)) };
};
const authorise = (code: string) => {
  const caller = { clientId: client.clientId, userId: user.userId, keyId: newId() };
  return mfa.authorize({ caller, code, operation: newId(), requestId: newId() }, () => Promise.resolve('done'));
};
const refusal = (code: string, message?: RegExp) =>
  expect.objectContaining({ code, ...(message && { message: expect.stringMatching(message) }) });
const audited = () =>
  db.database.query<{ action: string; outcome: string; actor_type: string; subject_id: string; detail: object }[]>(
    'select action, outcome, actor_type, subject_id, detail from audit_events where client_id = $1 order by audit_id',
    [client.clientId],
  );
const everything = async () =>
  JSON.stringify(
    await db.database.query(
      `select (select json_agg(t) from user_totp t) totp, (select json_agg(c) from totp_recovery_codes c) codes, (select json_agg(a) from audit_events a) audit`,
    ),
  );

describe('enrolment', () => {
  test('takes effect only once a code has confirmed it', async () => {
    const { secret, uri } = await enroll();
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const parsed = new URL(uri);
    expect([parsed.protocol, parsed.host, parsed.searchParams.get('secret'), parsed.searchParams.get('issuer')]).toEqual([
      'otpauth:',
      'totp',
      secret,
      'custody-gateway',
    ]);
    expect(decodeURIComponent(parsed.pathname)).toContain(`${client.name}/${user.name}`);
    await expect(authorise(totpCode(secret))).rejects.toEqual(refusal('MFA_NOT_ENABLED'));
    expect(await totp.status(user.userId)).toMatchObject({ state: 'waiting', confirmedAt: null, recoveryCodesLeft: 0 });

    const wrong = totpCode(secret, 5);
    await expect(totp.confirm(user.userId, wrong)).rejects.toEqual(refusal('MFA_INVALID'));
    await expect(totp.confirm(user.userId, 'abc')).rejects.toEqual(refusal('MFA_INVALID'));
    const code = totpCode(secret);
    const codes = await totp.confirm(user.userId, `${code.slice(0, 3)} ${code.slice(3)}`);
    expect(new Set(codes).size).toBe(10);
    for (const one of codes) expect(one).toMatch(/^([A-Z2-7]{4}-){3}[A-Z2-7]{4}$/);
    expect(await totp.status(user.userId)).toMatchObject({
      state: 'confirmed',
      confirmedAt: expect.any(Date),
      recoveryCodesLeft: 10,
    });
    // the code of the confirmation is used up, the next one is valid
    await expect(authorise(code)).rejects.toEqual(refusal('MFA_INVALID'));
    expect(await authorise(totpCode(secret, 1))).toBe('done');
    expect(await audited()).toMatchObject([
      { action: 'totp.enrolled', outcome: 'success', actor_type: 'operator', subject_id: user.userId },
      { action: 'totp.confirmed', outcome: 'success', actor_type: 'operator', subject_id: user.userId },
      { action: 'mfa.refused' },
    ]);
  });

  test('stores neither the secret nor a recovery code unencrypted', async () => {
    const { secret, codes } = await confirmed();
    const rows = await everything();
    for (const text of [secret, ...codes, ...codes.map((code) => code.replaceAll('-', ''))]) {
      expect(rows).not.toContain(text);
      expect(rows).not.toContain(Buffer.from(text).toString('hex'));
    }
  });

  test('begun again before its confirmation: only the latest secret is valid', async () => {
    const first = await enroll();
    const second = await enroll();
    await expect(totp.confirm(user.userId, totpCode(first.secret))).rejects.toEqual(refusal('MFA_INVALID'));
    await totp.confirm(user.userId, totpCode(second.secret));
    await expect(totp.confirm(user.userId, totpCode(second.secret, 1))).rejects.toEqual(
      refusal('business_error', /already confirmed/),
    );
  });

  test('of two concurrent confirmations one succeeds', async () => {
    const { secret } = await enroll();
    const results = await Promise.allSettled([0, 1].map((steps) => totp.confirm(user.userId, totpCode(secret, steps))));
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await totp.status(user.userId)).recoveryCodesLeft).toBe(10);
  });

  test('of a user with a confirmed factor needs --replace, which ends that factor at once', async () => {
    const { secret } = await confirmed();
    await expect(enroll()).rejects.toEqual(refusal('business_error', /--replace/));
    expect(await authorise(totpCode(secret, 1))).toBe('done');
    const fresh = await enroll(true);
    await expect(authorise(totpCode(secret, -1))).rejects.toEqual(refusal('MFA_NOT_ENABLED'));
    await totp.confirm(user.userId, totpCode(fresh.secret));
    expect(await authorise(totpCode(fresh.secret, 1))).toBe('done');
  });

  test('that was not confirmed within a day must be repeated', async () => {
    const { secret } = await enroll();
    await db.database.query(`update user_totp set created_at = now() - interval '25 hours' where user_id = $1`, [user.userId]);
    await expect(totp.confirm(user.userId, totpCode(secret))).rejects.toEqual(refusal('business_error', /enroll again/));
    const again = await enroll();
    expect(await totp.confirm(user.userId, totpCode(again.secret))).toHaveLength(10);
  });

  test('users are identified by id or as client/user; unknown and ambiguous names are refused', async () => {
    expect((await totp.status(`${client.name}/${user.name}`)).user.userId).toBe(user.userId);
    for (const reference of [newId(), user.name, `${client.name}/nobody`, ''])
      await expect(totp.status(reference)).rejects.toEqual(refusal('not_found'));
    const name = newId();
    await buildUser(db.database, await buildClient(db.database, { name }), { name: 'a/b' });
    await buildUser(db.database, await buildClient(db.database, { name: `${name}/a` }), { name: 'b' });
    await expect(totp.status(`${name}/a/b`)).rejects.toEqual(refusal('business_error', /More than one/));
    await expect(totp.confirm(user.userId, '123456')).rejects.toEqual(refusal('business_error', /no enrolment/));
  });
});

describe('recovery codes', () => {
  test('one begins a new enrolment, in any spelling, once', async () => {
    const { secret, codes } = await confirmed();
    const [code] = codes as [string];
    const typed = ` ${code.toLowerCase().replaceAll('-', ' ')} `;
    const { secret: fresh } = await totp.recover(user.userId, typed);
    expect(await totp.status(user.userId)).toMatchObject({ state: 'waiting', recoveryCodesLeft: 9 });
    await expect(authorise(totpCode(secret, 1))).rejects.toEqual(refusal('MFA_NOT_ENABLED'));
    await expect(totp.recover(user.userId, code)).rejects.toEqual(refusal('business_error', /not an unused recovery code/));
    const next = await totp.confirm(user.userId, totpCode(fresh));
    expect((await totp.status(user.userId)).recoveryCodesLeft).toBe(10);
    // earlier codes are invalid
    await expect(totp.recover(user.userId, codes[1] as string)).rejects.toBeInstanceOf(GatewayError);
    expect(await authorise(totpCode(fresh, 1))).toBe('done');
    expect(await totp.recover(user.userId, next[9] as string)).toMatchObject({ secret: expect.any(String) });
    const used = (await audited()).filter(({ action }) => action === 'totp.recovery_code_used');
    expect(used.map(({ outcome }) => outcome)).toEqual(['success', 'refused', 'refused', 'success']);
    expect(used[0]?.detail).toEqual({ codes_left: 9 });
  });

  test('is used once by concurrent recoveries', async () => {
    const { codes } = await confirmed();
    const results = await Promise.allSettled(Array.from({ length: 4 }, () => totp.recover(user.userId, codes[0] as string)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('another user’s, a wrong one and none at all change nothing', async () => {
    const { codes } = await confirmed();
    const { codes: own } = await (async () => {
      user = await buildUser(db.database, client);
      return confirmed();
    })();
    for (const code of [codes[0] as string, 'AAAA-AAAA-AAAA-AAAA', '', (own[0] as string).slice(0, -1)])
      await expect(totp.recover(user.userId, code)).rejects.toEqual(refusal('business_error'));
    expect(await totp.status(user.userId)).toMatchObject({ state: 'confirmed', recoveryCodesLeft: 10 });
  });
});

describe('maintenance', () => {
  test('unlock ends a lock', async () => {
    const { secret } = await confirmed();
    const wrong = totpCode(secret, 9);
    for (let n = 0; n < 5; n += 1) await expect(authorise(wrong)).rejects.toEqual(refusal('MFA_INVALID'));
    await expect(authorise(totpCode(secret, 1))).rejects.toEqual(refusal('rate_limited'));
    expect(await totp.status(user.userId)).toMatchObject({ failures: 5, lockedUntil: expect.any(Date) });
    await totp.unlock(user.userId);
    expect(await totp.status(user.userId)).toMatchObject({ failures: 0, lockedUntil: null });
    expect(await authorise(totpCode(secret, 1))).toBe('done');
    expect((await audited()).at(-1)).toMatchObject({ action: 'mfa.unlocked', actor_type: 'operator' });
  });

  test('remove deletes the factor and its recovery codes', async () => {
    const { secret, codes } = await confirmed();
    await totp.remove(user.userId);
    expect(await totp.status(user.userId)).toMatchObject({ state: 'none', recoveryCodesLeft: 0 });
    await expect(authorise(totpCode(secret, 1))).rejects.toEqual(refusal('MFA_NOT_ENABLED'));
    await expect(totp.recover(user.userId, codes[0] as string)).rejects.toEqual(refusal('business_error'));
    for (const verb of ['remove', 'unlock'] as const) await expect(totp[verb](user.userId)).rejects.toEqual(refusal('not_found'));
    expect((await audited()).filter(({ action }) => action === 'totp.removed')).toHaveLength(1);
  });

  test('after reseal the old key is not needed', async () => {
    const { secret } = await confirmed();
    const other = await buildUser(db.database, client);
    await totp.enroll(other.userId, { replace: false });
    const next = randomBytes(32).toString('hex');
    const webhooks = new SecretBox(randomBytes(32).toString('hex'), 'WEBHOOK_SECRETS_KEY');
    const [{ count }] = await db.database.query<[{ count: number }]>('select count(*)::int as count from user_totp');
    expect(await resealSecrets(db.database, { totp: new SecretBox(`${next},${key}`, 'TOTP_SECRETS_KEY'), webhooks })).toEqual({
      totp_secrets: count,
      webhook_secrets: 0,
      unchanged: 0,
    });
    mfa = new MfaService(db.database, new SecretBox(next, 'TOTP_SECRETS_KEY'));
    expect(await authorise(totpCode(secret, 1))).toBe('done');
    // restored for the other tests
    await resealSecrets(db.database, { totp: new SecretBox(`${key},${next}`, 'TOTP_SECRETS_KEY'), webhooks });
    mfa = new MfaService(db.database, box);
  });
});
