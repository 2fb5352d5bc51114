import { bodySchemaOf, type Document, type NamedOperation, operationsOf, readDocument } from '../../openapi';
import { checkOperations, endRun, fieldsSentBy, type Target } from '../../properties/run';
import { randomAddress } from '../../factories';
import { type Answer, buildFunded, buildTenant, createFixture, type Fixture, type Tenant } from './fixture';
import { freshCode } from './second-factor';

/** Sends valid and invalid requests, generated from the OpenAPI document, to every operation; for the whole stack see e2e. */

let fixture: Fixture;
let document: Document;
let address = 0;
beforeAll(async () => {
  fixture = await createFixture();
  document = readDocument((await fixture.call('GET', '/openapi.json', { tenant: null })).body);
});
afterAll(async () => {
  endRun();
  await fixture.close();
});

const takesCode = ({ operation }: NamedOperation): boolean => 'mfa_code' in (bodySchemaOf(operation)?.properties ?? {});

/** Enough for successes with a second factor, which about 8 of 100 requests have. */
const runsOf = (operation: NamedOperation): number => (takesCode(operation) ? 200 : 100);

/** A separate client per operation, since others delete and spend its resources. */
async function targetFor({ path, operation }: NamedOperation): Promise<Target> {
  const tenant = await buildTenant(fixture);
  const { wallet, account } = await buildFunded(fixture, tenant);
  const { factorId, webhookId, deliveryId, pending, waiting } = await seed(tenant, account.address);
  const assets = await fixture.call('GET', '/assets', { tenant });
  const ids: Record<string, unknown[]> = {
    wallets: [wallet.walletId],
    accounts: [account.accountId],
    assets: assets.body.data.map((asset) => asset['asset_id']),
    webhooks: [webhookId],
  };
  let requests = 0;
  return {
    baseUrl: fixture.base,
    token: () => Promise.resolve(tenant.token),
    document,
    known: {
      id: ids[path.split('/')[1] ?? ''] ?? [],
      wallet_id: [wallet.walletId],
      account_id: [account.accountId],
      tx_id: operation.operationId === 'approveTransaction' ? [waiting] : [pending, waiting],
      factor_id: [factorId],
      delivery_id: [deliveryId],
      chain: ['ethereum', 'base'],
      from_address: [account.address],
      to_address: [randomAddress(), randomAddress().toLowerCase()],
      address: Array.from({ length: 10 }, randomAddress),
      url: ['http://127.0.0.1:9/x'],
      since: [new Date(Date.now() - 60_000).toISOString()],
      token_symbol: ['ETH', 'USDC'],
      symbol: ['ETH', 'USDC', 'USDT'],
      amount: ['1', '0.5', '0', '1000000'],
      page: [1, 2],
      page_size: [1, 100],
    },
    // otherwise all requests would have one address, which ten failed logins block
    headers: () => ({ 'X-Forwarded-For': `198.51.100.${(address += 1) % 256}` }),
    finish: async (operation, request) => {
      requests += 1;
      // every fifth request keeps its generated code or has none
      if (requests % 5 === 0) return request;
      if (operation.operation.operationId === 'createToken')
        return { ...request, headers: { ...request.headers, 'X-API-Key': tenant.apiKey, 'X-API-Secret': tenant.apiSecret } };
      const fields = takesCode(operation) ? fieldsSentBy(request) : null;
      if (!fields || !/^("\d{6}")?$/.test(JSON.stringify(fields['mfa_code']) ?? '')) return request;
      return { ...request, body: JSON.stringify({ ...fields, mfa_code: await freshCode(fixture, tenant) }) };
    },
  };
}

/** One of each resource that operations refer to; of two transfers one waits for its workflow, the other for approval. */
async function seed(tenant: Tenant, fromAddress: string) {
  const make = async (path: string, body: object, withCode = true): Promise<Answer['body']> => {
    const code = withCode && { mfa_code: await freshCode(fixture, tenant) };
    const answer = await fixture.call('POST', path, { tenant, body: { ...body, ...code } });
    if (answer.status >= 300) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  };
  const factor = await make('/client/security-factors', {
    factor_type: 'BLACKLIST',
    chain: 'ethereum',
    address: randomAddress(),
  });
  const webhookId = String((await make('/webhooks', { url: 'http://127.0.0.1:9/x' }))['webhook_id']);
  const delivery = await make(`/webhooks/${webhookId}/test`, {}, false);
  const transfer = { from_address: fromAddress, chain: 'ethereum', token_symbol: 'USDC', amount: '1' };
  const send = async () => String((await make('/transfer', { ...transfer, to_address: randomAddress() }, false))['tx_id']);
  const pending = await send();
  await fixture.database.query(`update clients set whitelist_mode = 'approve' where client_id = $1`, [tenant.clientId]);
  const waiting = await send();
  await fixture.workflows.ledger.screenTransfer({ txId: waiting });
  return {
    factorId: factor['factor_id'],
    webhookId,
    deliveryId: delivery['delivery_id'],
    pending,
    waiting,
  };
}

test('every request gets a documented answer', async () => {
  const { statuses, failures } = await checkOperations(document, targetFor, runsOf);
  expect(failures.join('\n\n')).toBe('');
  const withCode = operationsOf(document).filter(takesCode);
  expect(withCode.length).toBeGreaterThan(6);
  // operations with a second factor also reach their handlers
  for (const { name } of withCode)
    expect({ name, seen: Object.keys(statuses[name] ?? {}) }).toEqual({
      name,
      seen: expect.arrayContaining([expect.stringMatching(/^2/)]),
    });
}, 180_000);
