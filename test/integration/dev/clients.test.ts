import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DevClient, seedClients } from '../../../dev/clients';
import { MfaService } from '../../../src/mfa/service';
import { newId } from '../../../src/platform/ids';
import { SecretBox } from '../../../src/platform/secret-box';
import { totpCode } from '../../factories';
import { createTestDatabase, type TestDatabase } from '../../stack/database';

describe('clients of the development stack', () => {
  let db: TestDatabase;
  const folder = mkdtempSync(path.join(tmpdir(), 'clients-'));
  const file = path.join(folder, 'clients.json');
  beforeEach(async () => void (db = await createTestDatabase()));
  afterEach(() => db.drop());
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const authorise = ({ client_id: clientId, user_id: userId }: DevClient, code: string) =>
    new MfaService(
      db.database,
      new SecretBox(readFileSync(path.join(folder, 'totp-secrets.kek'), 'utf8'), 'TOTP_SECRETS_KEY'),
    ).authorize({ caller: { clientId, userId, keyId: newId() }, code, operation: newId(), requestId: newId() }, () =>
      Promise.resolve('done'),
    );

  test('the user of demo keeps its second factor, the user of other has none', async () => {
    const [demo, other] = (await seedClients(db.database, folder)) as [DevClient, DevClient];
    expect([demo.name, other.name, other.totp_secret]).toEqual(['demo', 'other', null]);
    expect(await seedClients(db.database, folder)).toEqual([demo, other]);
    expect(await authorise(demo, totpCode(demo.totp_secret as string))).toBe('done');
    await expect(authorise(other, '123456')).rejects.toMatchObject({ code: 'MFA_NOT_ENABLED' });
  });

  test('a data folder without second factors gets one', async () => {
    const before = await seedClients(db.database, folder);
    await db.database.query('delete from user_totp');
    writeFileSync(file, JSON.stringify(before.map((client) => ({ ...client, totp_secret: null }))));
    const [demo, other] = (await seedClients(db.database, folder)) as [DevClient, DevClient];
    expect(demo).toEqual({ ...before[0], totp_secret: expect.stringMatching(/^[A-Z2-7]{32}$/) });
    expect(other).toEqual(before[1]);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([demo, other]);
    expect(await authorise(demo, totpCode(demo.totp_secret as string))).toBe('done');
  });
});
