import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { renderUnicodeCompact } from 'uqr';
import { projectRoot } from '../../../dev/paths';
import { MfaService } from '../../../src/mfa/service';
import { newId } from '../../../src/platform/ids';
import { SecretBox } from '../../../src/platform/secret-box';
import { buildClient, buildUser, totpCode } from '../../factories';
import { createTestDatabase, type TestDatabase } from '../../stack/database';

/** `gateway totp …` as operators run it, each command a process of its own. */

jest.setTimeout(180_000);

interface Result {
  code: number | null;
  out: string;
  err: string;
}

const key = randomBytes(32).toString('hex');
let db: TestDatabase;
let operatorUrl: string;
let clientId: string;
let userId: string;
let name: string;

beforeAll(async () => {
  db = await createTestDatabase();
  operatorUrl = (await db.logins()).gateway_operator;
});
afterAll(() => db.drop());
beforeEach(async () => {
  const client = await buildClient(db.database);
  const user = await buildUser(db.database, client, { name: 'ops' });
  [clientId, userId, name] = [client.clientId, user.userId, `${client.name}/ops`];
});

/** `answers` returns the input for each question; without it stdin is empty. */
function gateway(
  args: string[],
  { answer, env = {} }: { answer?: (question: string, out: string) => string; env?: Record<string, string> } = {},
): Promise<Result> {
  const child = spawn(process.execPath, [path.join(projectRoot, 'bin', 'gateway.js'), 'totp', ...args], {
    env: {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: operatorUrl,
      TOTP_SECRETS_KEY: key,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      GATEWAY_OPERATOR: 'alice',
      ...env,
    },
  });
  const result: Result = { code: null, out: '', err: '' };
  child.stdout.on('data', (text: Buffer) => void (result.out += text.toString()));
  child.stderr.on('data', (text: Buffer) => {
    result.err += text.toString();
    if (answer && /: $/.test(result.err)) child.stdin.write(`${answer(result.err, result.out)}\n`);
  });
  if (!answer) child.stdin.end();
  return new Promise((resolve) => child.on('close', (code) => resolve({ ...result, code })));
}

const secretIn = (out: string): string => /^secret +([A-Z2-7]{32})$/m.exec(out)?.[1] ?? '';
const recoveryCodesIn = (out: string): string[] => out.match(/^([A-Z2-7]{4}-){3}[A-Z2-7]{4}$/gm) ?? [];
const authorise = (code: string) =>
  new MfaService(db.database, new SecretBox(key, 'TOTP_SECRETS_KEY')).authorize(
    { caller: { clientId, userId, keyId: newId() }, code, operation: newId(), requestId: newId() },
    () => Promise.resolve('done'),
  );

test('enroll shows QR code, URI and secret, asks until the code is right, and shows ten recovery codes; recover starts again', async () => {
  let asked = 0;
  const enrolled = await gateway(['enroll', name], {
    answer: (_, out) => {
      asked += 1;
      return totpCode(secretIn(out), asked === 1 ? 7 : 0);
    },
  });
  expect({ code: enrolled.code, asked }).toEqual({ code: 0, asked: 2 });
  const uri = /^uri +(otpauth:\/\/totp\/custody-gateway:\S+)$/m.exec(enrolled.out)?.[1] as string;
  expect(enrolled.out).toContain(renderUnicodeCompact(uri, { border: 2 }));
  expect(enrolled.err).toContain('The code is wrong or has expired');
  const codes = recoveryCodesIn(enrolled.out);
  expect(codes).toHaveLength(10);
  expect(await authorise(totpCode(secretIn(enrolled.out), 1))).toBe('done');

  const unasked = await gateway(['recover', userId]);
  expect(unasked).toMatchObject({ code: 1, err: expect.stringContaining('repeat the command with --yes') });
  const recovered = await gateway(['recover', userId, '--yes', '--reason', 'phone lost'], {
    answer: (question, out) => (/Code of the app: $/.test(question) ? totpCode(secretIn(out)) : (codes[3] as string)),
  });
  expect({ code: recovered.code, codes: recoveryCodesIn(recovered.out).length }).toEqual({ code: 0, codes: 10 });
  expect(secretIn(recovered.out)).not.toBe(secretIn(enrolled.out));
  const [reasons] = await db.database.query<{ stated: string }[]>(
    `select string_agg(detail ->> 'stated_reason', ',') as stated from audit_events where client_id = $1`,
    [clientId],
  );
  expect(reasons).toEqual({ stated: 'phone lost' });
  const rows = await db.database.query(
    `select action, actor_type, actor_id from audit_events where client_id = $1 and actor_type = 'operator' order by audit_id`,
    [clientId],
  );
  expect(rows).toEqual(
    ['totp.enrolled', 'totp.confirmed', 'totp.recovery_code_used', 'totp.enrolled', 'totp.confirmed'].map((action) => ({
      action,
      actor_type: 'operator',
      actor_id: 'alice',
    })),
  );
});

test('in two steps for scripts, then status, refusal without --replace, unlock and remove', async () => {
  const enrolment = JSON.parse((await gateway(['enroll', name, '--no-prompt', '--json'])).out);
  expect(enrolment).toEqual({ user_id: userId, user: name, secret: expect.any(String), uri: expect.stringMatching(/^otpauth:/) });
  expect(await gateway(['confirm', name, '000'])).toMatchObject({ code: 1, err: expect.stringContaining('The code is wrong') });
  const confirmed = JSON.parse((await gateway(['confirm', name, totpCode(enrolment.secret), '--json'])).out);
  expect(confirmed).toEqual({ state: 'confirmed', recovery_codes: expect.any(Array) });
  expect(confirmed.recovery_codes).toHaveLength(10);
  // neither command needs the key
  const status = await gateway(['status', name, '--json'], { env: { TOTP_SECRETS_KEY: '' } });
  expect(JSON.parse(status.out)).toMatchObject({ user_id: userId, state: 'confirmed', wrong_codes: 0, recovery_codes_left: 10 });
  expect(await gateway(['enroll', name])).toMatchObject({ code: 1, err: expect.stringContaining('--replace') });
  const replaced = await gateway(['enroll', name, '--replace', '--no-prompt']);
  expect(replaced).toMatchObject({ code: 1, err: expect.stringContaining('repeat the command with --yes') });
  expect((await gateway(['unlock', name])).code).toBe(0);
  const unasked = await gateway(['remove', name], { env: { TOTP_SECRETS_KEY: '' } });
  expect(unasked).toMatchObject({ code: 1, err: expect.stringContaining('repeat the command with --yes') });
  expect((await gateway(['status', name])).out).toMatch(/^state +confirmed$/m);
  expect((await gateway(['remove', name, '--yes'], { env: { TOTP_SECRETS_KEY: '' } })).code).toBe(0);
  expect((await gateway(['status', name])).out).toMatch(/^state +none$/m);
});

test('ends with a message when something is missing', async () => {
  const silent = await gateway(['enroll', name]);
  expect(silent).toMatchObject({ code: 1, err: expect.stringContaining('nothing was entered') });
  expect((await gateway(['status', name])).out).toMatch(/^state +waiting$/m);
  expect(await gateway(['enroll', 'nobody'])).toMatchObject({ code: 1, err: expect.stringContaining('user nobody') });
  expect(await gateway(['enroll', name], { env: { TOTP_SECRETS_KEY: '' } })).toMatchObject({
    code: 78,
    err: expect.stringContaining('TOTP_SECRETS_KEY'),
  });
});
