import type { DataSource } from 'typeorm';
import type { ClientEntity } from '../../../src/auth/entity';
import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';
import { X402PolicyOperations } from '../../../src/cli/x402-policy-operations';
import { houseClientId } from '../../../src/platform/house';
import { buildClient } from '../../factories';
import { createTestDatabase, openDatabase, type TestDatabase } from '../../stack/database';
import { registry } from '../ledger/fixture';

let gateway: TestDatabase;
/** With the login of operators. */
let asOperator: DataSource;
let client: ClientEntity;
let policies: X402PolicyOperations;

beforeAll(async () => {
  gateway = await createTestDatabase();
  const { gateway_operator: url } = await gateway.logins();
  asOperator = await openDatabase(url);
  policies = new X402PolicyOperations(asOperator, registry, getFamily);
});
beforeEach(async () => void (client = await buildClient(gateway.database)));
afterAll(async () => {
  await asOperator.destroy();
  await gateway.drop();
});

const nothing = {
  settle: 'refuse',
  gasPerDay: 'unlimited',
  sponsorPermit: 'refuse',
  sponsorApproval: 'refuse',
  topUpPerDay: '0',
  walletFactories: 'none',
  failuresPerPayer: '5',
};
const factory = '0xBA5ED110eFDBa3D005bfC882d75358ACBbB85842';
const otherFactory = '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67';
const rows = () =>
  gateway.database.query<unknown[]>(
    'select chain, is_enabled, gas_per_day, top_up_per_day from x402_policies where client_id = $1',
    [client.clientId],
  );

test('the house pays nothing for a client that no operator has enabled', async () => {
  expect(await policies.show(client.clientId, 'ethereum')).toEqual(nothing);
  expect(await rows()).toEqual([]);
});

test('what is left out stays as it was; amounts are stored in atomic units, for one chain', async () => {
  await policies.set(client.clientId, 'ethereum', { settle: 'allow', gasPerDay: '0.05' });
  const changed = { ...nothing, settle: 'allow', gasPerDay: '0.05', sponsorPermit: 'allow', topUpPerDay: '0.002' };
  expect(await policies.set(client.clientId, 'ethereum', { sponsorPermit: 'allow', topUpPerDay: '0.002' })).toEqual(changed);
  expect(await policies.show(client.clientId, 'ethereum')).toEqual(changed);
  expect(await policies.show(client.clientId, 'base')).toEqual(nothing);
  expect(await rows()).toEqual([
    { chain: 'ethereum', is_enabled: true, gas_per_day: '50000000000000000', top_up_per_day: '2000000000000000' },
  ]);
  expect(await policies.set(client.clientId, 'ethereum', { gasPerDay: 'unlimited' })).toMatchObject({ gasPerDay: 'unlimited' });
});

test('factories of wallets are stored in canonical form, each once, and taken back', async () => {
  const stored = () => gateway.database.query<unknown[]>('select wallet_factories from x402_policies');
  const both = `${factory.toLowerCase()}, ${otherFactory},${factory}`;
  const shown = { walletFactories: `${factory},${otherFactory}` };
  expect(await policies.set(client.clientId, 'base', { walletFactories: both })).toMatchObject(shown);
  expect(await policies.show(client.clientId, 'base')).toMatchObject(shown);
  expect(await stored()).toContainEqual({ wallet_factories: [factory.toLowerCase(), otherFactory.toLowerCase()] });
  expect(await policies.set(client.clientId, 'base', { topUpPerDay: '1' })).toMatchObject(shown);
  expect(await policies.set(client.clientId, 'base', { walletFactories: 'none' })).toMatchObject({ walletFactories: 'none' });
});

test('the failed payments of one payer that are taken in an hour', async () => {
  const { clientId } = client;
  const stored = () =>
    gateway.database.query<unknown[]>('select failures_per_payer from x402_policies where client_id = $1', [clientId]);
  expect(await policies.set(clientId, 'base', { failuresPerPayer: '12' })).toMatchObject({ failuresPerPayer: '12' });
  expect(await policies.set(clientId, 'base', { topUpPerDay: '1' })).toMatchObject({ failuresPerPayer: '12' });
  expect(await stored()).toEqual([{ failures_per_payer: 12 }]);
  expect(await policies.set(clientId, 'base', { failuresPerPayer: 'unlimited' })).toMatchObject({
    failuresPerPayer: 'unlimited',
  });
  expect(await stored()).toEqual([{ failures_per_payer: null }]);
});

test('every change is audited with all that holds from then on', async () => {
  await policies.set(client.clientId, 'base', { settle: 'allow', gasPerDay: 'unlimited' });
  const events = await gateway.database.query<unknown[]>(
    `select action, actor_type, detail from audit_events where client_id = $1`,
    [client.clientId],
  );
  const detail = {
    chain: 'base',
    settle: 'allow',
    gas_per_day: 'unlimited',
    sponsor_permit: 'refuse',
    sponsor_approval: 'refuse',
    top_up_per_day: '0',
    wallet_factories: 'none',
    failures_per_payer: '5',
  };
  expect(events).toEqual([{ action: 'x402.policy_changed', actor_type: 'operator', detail }]);
});

test.each([
  [{ settle: 'yes' }],
  [{ settle: 'allow' }],
  [{ gasPerDay: '-1' }],
  [{ gasPerDay: '1e18' }],
  [{ topUpPerDay: 'default' }],
  [{ sponsorApproval: '' }],
  [{ failuresPerPayer: '0' }],
  [{ failuresPerPayer: '1001' }],
  [{ failuresPerPayer: '1.5' }],
  [{ failuresPerPayer: 'none' }],
  [{ walletFactories: '' }],
  [{ walletFactories: 'everybody' }],
  [{ walletFactories: `${factory},none` }],
  [{ walletFactories: Array.from({ length: 21 }, (_, index) => `0x${String(index).padStart(40, '0')}`).join() }],
])('%j is refused and changes nothing', async (change) => {
  await expect(policies.set(client.clientId, 'ethereum', change)).rejects.toMatchObject({ code: 'invalid_parameter' });
  expect(await rows()).toEqual([]);
});

test.each(['bitcoin', 'tron'])('none is set on %s, where no payments are settled', async (chain) => {
  const elsewhere = new X402PolicyOperations(asOperator, loadRegistry('local', [chain]), getFamily);
  await expect(elsewhere.set(client.clientId, chain, { settle: 'allow', gasPerDay: '1' })).rejects.toMatchObject({
    code: 'invalid_parameter',
    message: `chain: no payments are settled on ${chain}`,
  });
  expect(await rows()).toEqual([]);
});

test('a chain that is not enabled has no policy, and the house has none', async () => {
  await expect(policies.show(client.clientId, 'polygon')).rejects.toMatchObject({ code: 'invalid_parameter' });
  await expect(policies.set(houseClientId, 'ethereum', { settle: 'allow', gasPerDay: '1' })).rejects.toThrow(
    /x402_policies_client_id_check/,
  );
});
