import { randomBytes } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import type { Caller } from '../../../src/http/context';
import { MfaService, type MfaRequest } from '../../../src/mfa/service';
import { GatewayError } from '../../../src/platform/errors';
import { newId } from '../../../src/platform/ids';
import { TotpOperations } from '../../../src/cli/totp-operations';
import { SecretBox } from '../../../src/platform/secret-box';
import { buildClient, buildTotp, buildUser, totpCode } from '../../factories';
import { createTestDatabase, type TestDatabase } from '../../stack/database';

const box = new SecretBox(randomBytes(32).toString('hex'), 'TOTP_SECRETS_KEY');
let db: TestDatabase;
let mfa: MfaService;
let caller: Caller;
let secret: string;

beforeAll(async () => {
  db = await createTestDatabase();
  mfa = new MfaService(db.database, box);
});
afterAll(() => db.drop());
beforeEach(async () => {
  caller = await newCaller();
  secret = await buildTotp(db.database, box, caller);
  // a fixed time in the middle of a step: no code expires between its creation and its check
  jest.spyOn(Date, 'now').mockReturnValue(Math.floor(Date.now() / 30_000) * 30_000 + 15_000);
});
afterEach(() => jest.restoreAllMocks());

async function newCaller(): Promise<Caller> {
  const client = await buildClient(db.database);
  const { userId } = await buildUser(db.database, client);
  return { clientId: client.clientId, userId, keyId: newId() };
}

const request = (code: string | undefined, operation = newId()): MfaRequest => ({ caller, code, operation, requestId: newId() });
/** `done`, or the code of the refusal. */
async function outcome(
  made: MfaRequest,
  work: (manager: EntityManager) => Promise<void> = () => Promise.resolve(),
  repeated?: (manager: EntityManager) => Promise<void>,
): Promise<string> {
  try {
    await mfa.authorize(made, work, repeated);
    return 'done';
  } catch (error) {
    return error instanceof GatewayError ? error.code : String(error);
  }
}
const state = async () => {
  const [row] = await db.database.query('select failures, locked_until, locks from user_totp where user_id = $1', [
    caller.userId,
  ]);
  return row as { failures: number; locked_until: Date | null; locks: number };
};
/** A code of none of the accepted steps. */
function wrongCode(): string {
  const right = [-1, 0, 1].map((steps) => totpCode(secret, steps));
  return ['000000', '111111', '222222', '333333'].find((code) => !right.includes(code)) as string;
}
const enterWrong = async (times: number) => {
  for (let n = 0; n < times; n += 1) expect(await outcome(request(wrongCode()))).toBe('MFA_INVALID');
};
const actions = async () =>
  (
    await db.database.query<{ action: string; outcome: string; actor_type: string; actor_id: string }[]>(
      'select action, outcome, actor_type, actor_id from audit_events where client_id = $1 order by audit_id',
      [caller.clientId],
    )
  ).map(({ action }) => action);

describe('valid codes', () => {
  test.each([
    [-2, 'MFA_INVALID'],
    [-1, 'done'],
    [0, 'done'],
    [1, 'done'],
    [2, 'MFA_INVALID'],
  ])('%d steps away: %s', async (steps, expected) => {
    expect(await outcome(request(totpCode(secret, steps)))).toBe(expected);
  });

  test('a code is valid once, and adjacent codes stay valid', async () => {
    for (const steps of [0, 1, -1]) expect(await outcome(request(totpCode(secret, steps)))).toBe('done');
    for (const steps of [-1, 0, 1]) expect(await outcome(request(totpCode(secret, steps)))).toBe('MFA_INVALID');
  });

  test('another user’s code is wrong', async () => {
    const other = await buildTotp(db.database, box, await newCaller());
    expect(await outcome(request(totpCode(other)))).toBe('MFA_INVALID');
  });

  test('a secret moved to another user’s row does not open', async () => {
    const other = await newCaller();
    await db.database.query(
      'insert into user_totp (user_id, secret, confirmed_at) select $2, secret, now() from user_totp where user_id = $1',
      [caller.userId, other.userId],
    );
    expect(await outcome({ ...request(totpCode(secret)), caller: other })).not.toMatch(/done|MFA/);
  });

  test('without a confirmed factor no code is valid; with one, a code is required', async () => {
    expect(await outcome(request(undefined))).toBe('MFA_REQUIRED');
    await db.database.query('update user_totp set confirmed_at = null where user_id = $1', [caller.userId]);
    for (const code of [totpCode(secret), undefined]) expect(await outcome(request(code))).toBe('MFA_NOT_ENABLED');
    await db.database.query('delete from user_totp where user_id = $1', [caller.userId]);
    for (const code of [totpCode(secret), undefined]) expect(await outcome(request(code))).toBe('MFA_NOT_ENABLED');
  });
});

describe('one code in concurrent requests', () => {
  test('in ten different requests: one succeeds, the others count as wrong until MFA locks', async () => {
    let works = 0;
    const code = totpCode(secret);
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => outcome(request(code), () => Promise.resolve(void (works += 1)))),
    );
    expect(outcomes.sort()).toEqual([...Array<string>(5).fill('MFA_INVALID'), 'done', ...Array<string>(4).fill('rate_limited')]);
    expect(works).toBe(1);
  });

  test('in twelve identical requests: one succeeds, the others get the reason why it cannot be repeated, and nothing counts as wrong', async () => {
    const made = request(totpCode(secret));
    const exists = () => Promise.reject(new GatewayError('SECURITY_FACTOR_ALREADY_EXISTS', 'there'));
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => outcome(made, undefined, exists)));
    expect(outcomes.filter((one) => one === 'done')).toHaveLength(1);
    expect(outcomes.filter((one) => one === 'SECURITY_FACTOR_ALREADY_EXISTS')).toHaveLength(11);
    expect(await state()).toEqual({ failures: 0, locked_until: null, locks: 0 });
  });

  test('an identical request that could be repeated is not executed twice either: its code counts as wrong', async () => {
    const made = request(totpCode(secret));
    expect([await outcome(made), await outcome(made)]).toEqual(['done', 'MFA_INVALID']);
    expect((await state()).failures).toBe(1);
  });
});

describe('code and work', () => {
  const mark = (manager: EntityManager) =>
    manager.query(`update users set name = 'marked' where user_id = $1`, [caller.userId]).then(() => undefined);
  const marked = async () =>
    (await db.database.query<unknown[]>(`select 1 from users where user_id = $1 and name = 'marked'`, [caller.userId])).length;

  test('work that refuses is undone, and the code is used', async () => {
    const refuse = async (manager: EntityManager) => {
      await mark(manager);
      throw new GatewayError('not_found', 'no');
    };
    expect(await outcome(request(totpCode(secret)), refuse)).toBe('not_found');
    expect(await marked()).toBe(0);
    expect(await outcome(request(totpCode(secret)), mark)).toBe('MFA_INVALID');
  });

  test('an internal error undoes everything: the code can be sent again', async () => {
    const made = request(totpCode(secret));
    const fail = async (manager: EntityManager) => {
      await mark(manager);
      throw new Error('lost');
    };
    expect(await outcome(made, fail)).toBe('Error: lost');
    expect(await outcome(made, () => Promise.reject(new GatewayError('unavailable', 'down')))).toBe('unavailable');
    expect(await marked()).toBe(0);
    expect(await outcome(made, mark)).toBe('done');
    expect(await marked()).toBe(1);
  });
});

describe('lock', () => {
  test('five wrong codes lock for 15 minutes, also for the right code, which stays unused', async () => {
    await enterWrong(5);
    const refusal = await mfa.authorize(request(totpCode(secret)), () => Promise.resolve()).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'rate_limited', status: 429 });
    const { retryAfterSeconds } = refusal as GatewayError;
    expect(retryAfterSeconds).toBeGreaterThan(890);
    expect(retryAfterSeconds).toBeLessThanOrEqual(900);
    expect(await outcome(request(undefined))).toBe('MFA_REQUIRED');
    expect(await actions()).toEqual([...Array<string>(4).fill('mfa.refused'), 'mfa.locked']);

    await endLock();
    expect(await outcome(request(totpCode(secret)))).toBe('done');
    expect(await state()).toEqual({ failures: 0, locked_until: null, locks: 0 });
  });

  test('after its end wrong codes are counted from zero', async () => {
    await enterWrong(5);
    await endLock();
    await enterWrong(1);
    expect(await state()).toEqual({ failures: 1, locked_until: null, locks: 1 });
    await enterWrong(4);
    expect(await outcome(request(wrongCode()))).toBe('rate_limited');
  });

  test('each lock is longer than the one before, up to 24 hours; after a correct code the first lasts 15 minutes again', async () => {
    for (const minutes of [15, 60, 1_440, 1_440]) {
      await enterWrong(5);
      expect(await lockedMinutes()).toBe(minutes);
      await endLock();
    }
    expect(await outcome(request(totpCode(secret)))).toBe('done');
    await enterWrong(5);
    expect(await lockedMinutes()).toBe(15);
  });

  test('unlocking by an operator resets the count of locks', async () => {
    await enterWrong(5);
    await new TotpOperations(db.database, () => box).unlock(caller.userId);
    expect(await state()).toEqual({ failures: 0, locked_until: null, locks: 0 });
  });

  test('a right code resets the counter', async () => {
    await enterWrong(4);
    expect(await outcome(request(totpCode(secret)))).toBe('done');
    await enterWrong(4);
    expect(await outcome(request(totpCode(secret, 1)))).toBe('done');
  });

  test('replayed codes lock as well', async () => {
    expect(await outcome(request(totpCode(secret)))).toBe('done');
    for (let n = 0; n < 5; n += 1) expect(await outcome(request(totpCode(secret)))).toBe('MFA_INVALID');
    expect(await outcome(request(totpCode(secret, 1)))).toBe('rate_limited');
  });

  test('one user’s lock is not another’s', async () => {
    await enterWrong(5);
    const other = await newCaller();
    const otherSecret = await buildTotp(db.database, box, other);
    expect(await outcome({ ...request(totpCode(otherSecret)), caller: other })).toBe('done');
  });

  const lockedMinutes = async () => {
    const [row] = await db.database.query<{ minutes: number }[]>(
      'select round(extract(epoch from locked_until - clock_timestamp()) / 60)::int as minutes from user_totp where user_id = $1',
      [caller.userId],
    );
    return row?.minutes;
  };
  const endLock = () =>
    db.database.query(`update user_totp set locked_until = clock_timestamp() where user_id = $1`, [caller.userId]);
});
