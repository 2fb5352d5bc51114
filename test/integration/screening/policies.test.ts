import { PolicyOperations } from '../../../src/cli/policy-operations';
import { buildClient } from '../../factories';
import { createTestDatabase, type TestDatabase } from '../../stack/database';
import { auditOf } from './factors';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

test('a policy is off by default; omitted values stay unchanged; every change is audited', async () => {
  const { clientId } = await buildClient(db.database);
  const policies = new PolicyOperations(db.database);
  expect(await policies.show(clientId)).toEqual({ whitelist: 'off', coolingSeconds: 0, selfApproval: false });
  expect(await policies.set(clientId, { whitelist: 'approve' })).toEqual({
    whitelist: 'approve',
    coolingSeconds: 0,
    selfApproval: false,
  });
  expect(await policies.set(clientId, { cooling: '3600' })).toEqual({
    whitelist: 'approve',
    coolingSeconds: 3600,
    selfApproval: false,
  });
  expect(await policies.show(clientId)).toEqual({ whitelist: 'approve', coolingSeconds: 3600, selfApproval: false });
  expect(await policies.set(clientId, { selfApproval: 'allow' })).toMatchObject({ whitelist: 'approve', selfApproval: true });
  expect(await auditOf(db.database, 'client.policy_changed', clientId)).toMatchObject([
    { actor_type: 'operator', detail: { whitelist: 'approve', cooling_seconds: 0 } },
    { detail: { whitelist: 'approve', cooling_seconds: 3600, self_approval: false } },
    { detail: { self_approval: true } },
  ]);
});

test.each([
  ['--whitelist', { whitelist: 'sometimes' }],
  ['--cooling', { cooling: '-1' }],
  ['--cooling', { cooling: '2592001' }],
  ['--cooling', { cooling: 'an hour' }],
  ['--self-approval', { selfApproval: 'yes' }],
])('a wrong %s is named and changes nothing', async (field, change) => {
  const { clientId } = await buildClient(db.database);
  const policies = new PolicyOperations(db.database);
  await expect(policies.set(clientId, change)).rejects.toMatchObject({ code: 'invalid_parameter', fields: [{ field }] });
  expect(await policies.show(clientId)).toEqual({ whitelist: 'off', coolingSeconds: 0, selfApproval: false });
});
