import { randomBytes } from 'node:crypto';
import { buildDeposit, randomAddress } from '../../factories';
import { recordDeposits } from '../../../src/deposits/record';
import { buildFunded, ethereum, type Funded, type Tenant } from '../http/fixture';
import { createWebhookFixture, type Endpoint, type WebhookFixture } from './fixture';

/** Events whose rows the database describes otherwise than the signing nodes. */

let fixture: WebhookFixture;
let tenant: Tenant;
let funded: Funded;
let endpoint: Endpoint;
beforeAll(async () => {
  fixture = await createWebhookFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await fixture.newTenant();
  funded = await buildFunded(fixture, tenant);
  endpoint = await fixture.endpoint(tenant);
  fixture.receiver.received.length = 0;
  fixture.alerts.length = 0;
});

/** As whoever owns the database can: no trigger runs. */
const rewrite = (statement: string, values: unknown[]) =>
  fixture.database.transaction(async (manager) => {
    await manager.query(`set local session_replication_role = 'replica'`);
    await manager.query(statement, values);
  });
async function deposit(): Promise<{ sender: string; received: string }> {
  const one = buildDeposit(funded.account, ethereum, 'USDC', 1_500_000n);
  await fixture.database.transaction((manager) => recordDeposits(manager, ethereum, [one]));
  return { sender: one.fromAddress, received: funded.account.address };
}
async function sent(): Promise<Record<string, unknown>> {
  await fixture.deliver(endpoint.webhookId);
  const [only, ...others] = fixture.receiver.received;
  expect(others).toEqual([]);
  return (JSON.parse(String(only?.body)) as { data: Record<string, unknown> }).data;
}
const alarms = () => fixture.alerts.map(({ alert }) => alert);

test('an event names the address that the signing nodes attest', async () => {
  const { sender, received } = await deposit();
  expect(await sent()).toMatchObject({ from_address: sender, to_address: received });
  expect(alarms()).toEqual([]);
});

test('an event of a deposit that names no transaction is not sent', async () => {
  await deposit();
  await rewrite(
    `update webhook_events set snapshot = jsonb_build_object('deposit_address', $2::text, 'to_address', $2::text) where client_id = $1`,
    [tenant.clientId, randomAddress()],
  );
  await fixture.deliver(endpoint.webhookId).catch(() => undefined);
  expect(fixture.receiver.received).toEqual([]);
});

test('what an event of its kind does not have is left out', async () => {
  const { walletId } = funded.wallet;
  for (const status of ['SUSPENDED', 'ACTIVE'])
    await fixture.database.query('update wallets set status = $2 where wallet_id = $1', [walletId, status]);
  await rewrite(
    `update webhook_events set snapshot = snapshot || jsonb_build_object('deposit_address', $2::text) where client_id = $1`,
    [tenant.clientId, randomAddress()],
  );
  const shown = await sent();
  expect(shown).toMatchObject({ wallet_id: walletId, key_status: 'ACTIVE' });
  expect(shown).not.toHaveProperty('deposit_address');
});

test('the address of an event that was rewritten is not sent, and raises an alarm', async () => {
  const { sender } = await deposit();
  await rewrite(
    `update webhook_events set snapshot = jsonb_set(snapshot, '{to_address}', to_jsonb($2::text)) where client_id = $1`,
    [tenant.clientId, randomAddress()],
  );
  expect(await sent()).toMatchObject({ from_address: sender, to_address: null, amount: '1.5' });
  expect(alarms()).toEqual(['address_differs']);
});

test('an address that account, transaction and event were rewritten to alike is not sent', async () => {
  await deposit();
  const other = randomAddress();
  await rewrite('update accounts set address = $2, address_key = lower($2) where account_id = $1', [
    funded.account.accountId,
    other,
  ]);
  await rewrite('update transactions set to_address = $2 where account_id = $1', [funded.account.accountId, other]);
  await rewrite(
    `update webhook_events set snapshot = jsonb_set(snapshot, '{to_address}', to_jsonb($2::text)) where client_id = $1`,
    [tenant.clientId, other],
  );
  expect(await sent()).toMatchObject({ to_address: null });
  expect(alarms()).toEqual(['address_differs']);
});

test('a wallet with another key than the nodes attest is not sent as active', async () => {
  const { walletId } = funded.wallet;
  const setStatus = (status: string) =>
    fixture.database.query('update wallets set status = $2 where wallet_id = $1', [walletId, status]);
  await setStatus('SUSPENDED');
  await setStatus('ACTIVE');
  expect(await sent()).toMatchObject({ wallet_id: walletId, status: 'ACTIVE', key_status: 'ACTIVE' });

  await rewrite('update wallets set chain_code = $2 where wallet_id = $1', [walletId, randomBytes(32)]);
  await setStatus('SUSPENDED');
  await setStatus('ACTIVE');
  fixture.receiver.received.length = 0;
  expect(await sent()).toMatchObject({ wallet_id: walletId, status: 'SUSPENDED', key_status: 'UNVERIFIED' });
  expect(alarms()).toEqual(['key_not_attested']);
});

// last: its deposit cannot be confirmed any more
test('the attested address of another client is not sent', async () => {
  const { account } = await buildFunded(fixture, fixture.other);
  await deposit();
  await rewrite('update transactions set account_id = $2, to_address = $3 where account_id = $1', [
    funded.account.accountId,
    account.accountId,
    account.address,
  ]);
  await rewrite(
    `update webhook_events set snapshot = jsonb_set(snapshot, '{to_address}', to_jsonb($2::text)) where client_id = $1`,
    [tenant.clientId, account.address],
  );
  expect(await sent()).toMatchObject({ to_address: null });
  expect(alarms()).toEqual(['address_differs']);
});
