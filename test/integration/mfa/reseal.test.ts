import { randomBytes } from 'node:crypto';
import { type ResealedBoxes, resealSecrets } from '../../../src/cli/reseal-secrets';
import { totpOwner } from '../../../src/mfa/totp';
import { TotpOperations } from '../../../src/cli/totp-operations';
import { ConfigError } from '../../../src/platform/config';
import { SecretBox } from '../../../src/platform/secret-box';
import { buildClient, buildUser } from '../../factories';
import { createTestDatabase, type TestDatabase } from '../../stack/database';

/** `gateway keys rotate secrets`. Secrets of webhooks are in test/integration/webhooks/api.test.ts. */

const users = 5;
const [old, next] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
const boxes = (totp: string): ResealedBoxes => ({
  totp: new SecretBox(totp, 'TOTP_SECRETS_KEY'),
  webhooks: new SecretBox(randomBytes(32).toString('hex'), 'WEBHOOK_SECRETS_KEY'),
});
let db: TestDatabase;

beforeEach(async () => {
  db = await createTestDatabase();
  const totp = new TotpOperations(db.database, () => boxes(old).totp);
  const client = await buildClient(db.database);
  for (let user = 0; user < users; user += 1)
    await totp.enroll((await buildUser(db.database, client)).userId, { replace: false });
});
afterEach(() => db.drop());

interface Row {
  user_id: string;
  secret: Buffer;
}
const rows = () => db.database.query<Row[]>('select user_id, secret from user_totp order by user_id');
const audited = async () => {
  const [row] = await db.database.query<{ events: string; secrets: string }[]>(
    `select count(*) as events, coalesce(sum((detail ->> 'secrets')::int), 0) as secrets from audit_events
      where action = 'secrets.resealed'`,
  );
  return { events: Number(row?.events), secrets: Number(row?.secrets) };
};

test('an interrupted run has resealed whole batches, and the next one finishes the rest', async () => {
  const both = boxes(`${next},${old}`);
  const before = (await rows()).map(({ user_id, secret }) => both.totp.open(secret, totpOwner(user_id)));
  let batches = 0;
  const interrupted = resealSecrets(db.database, both, {
    batchSize: 2,
    onBatch: () => {
      batches += 1;
      throw new Error('interrupted');
    },
  });
  await expect(interrupted).rejects.toThrow('interrupted');
  expect(batches).toBe(1);
  for (const { user_id, secret } of await rows()) both.totp.open(secret, totpOwner(user_id));

  expect(await resealSecrets(db.database, both, { batchSize: 2 })).toEqual({ totp_secrets: 3, webhook_secrets: 0, unchanged: 2 });
  const { totp } = boxes(next);
  expect((await rows()).map(({ user_id, secret }) => totp.open(secret, totpOwner(user_id)))).toEqual(before);
  expect(await audited()).toEqual({ events: 3, secrets: users });
  expect(await resealSecrets(db.database, both)).toEqual({ totp_secrets: 0, webhook_secrets: 0, unchanged: users });
  expect(await audited()).toEqual({ events: 3, secrets: users });
});

test('without the right old key nothing is changed, and the variable is named', async () => {
  const before = await rows();
  for (const keys of [next, `${next},${randomBytes(32).toString('hex')}`])
    await expect(resealSecrets(db.database, boxes(keys))).rejects.toThrow(
      new ConfigError(`${users} secrets in user_totp need a key that is not in TOTP_SECRETS_KEY: nothing was changed`),
    );
  expect(await rows()).toEqual(before);
  expect(await audited()).toEqual({ events: 0, secrets: 0 });
});
