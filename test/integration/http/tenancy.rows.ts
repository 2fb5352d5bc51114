import { buildTotp, randomAddress, totpCode } from '../../factories';
import { boxes, buildFunded, ethereum, type Fixture, type Call, type Funded, type Tenant } from './fixture';

/** One client as the matrix needs it: a user with a second factor. */
export interface Actor extends Tenant {
  /** An unused code; at most three per test. */
  code: () => string;
}

export interface Owner extends Actor {
  fixture: Fixture;
  funded: Funded;
}

/** A request that refers to a resource of the owner, sent by the given actor. */
export type Reach = (as: Actor) => { path: string; body?: Call['body'] };

/** Creates a resource of the owner; returns the request that refers to it. */
type Row = (owner: Owner) => Promise<Reach> | Reach;

export async function actor(fixture: Fixture, tenant: Tenant): Promise<Actor> {
  const secret = await buildTotp(fixture.database, boxes.totp, tenant);
  const steps = [0, 1, -1];
  return { ...tenant, code: () => totpCode(secret, steps.shift() ?? 2) };
}

export async function owner(fixture: Fixture, tenant: Tenant): Promise<Owner> {
  return { ...(await actor(fixture, tenant)), fixture, funded: await buildFunded(fixture, tenant) };
}

/** Creates a transfer of the owner that waits for its workflow; returns its id. */
async function transfer({ fixture, funded, ...tenant }: Owner): Promise<string> {
  const { status, body, text } = await fixture.call('POST', '/transfer', { tenant, body: transferFrom(funded.account.address) });
  if (status !== 202) throw new Error(`POST /transfer answered ${status}: ${text}`);
  return String(body['tx_id']);
}

/** The same, and it waits for an approval. */
async function waitingTransfer(from: Owner): Promise<string> {
  await from.fixture.database.query(`update clients set whitelist_mode = 'approve' where client_id = $1`, [from.clientId]);
  const txId = await transfer(from);
  await from.fixture.workflows.ledger.screenTransfer({ txId });
  await from.fixture.resources.outbox.settled();
  return txId;
}

const transferFrom = (fromAddress: string) => ({
  from_address: fromAddress,
  to_address: randomAddress(),
  chain: 'ethereum',
  token_symbol: 'USDC',
  amount: '1',
});

/** Creates a payment of the owner that waits for its workflow; returns its id. */
async function payment({ fixture, funded, ...tenant }: Owner): Promise<string> {
  const usdc = ethereum.tokens.find(({ symbol }) => symbol === 'USDC');
  const paymentRequirements = {
    ...{ scheme: 'exact', network: ethereum.caip2, asset: usdc?.contract, amount: '1000', payTo: randomAddress() },
    ...{ maxTimeoutSeconds: 60, extra: { name: 'USD Coin', version: '2' } },
  };
  const body = { x402Version: 2, payer: funded.account.address, paymentRequirements };
  const answer = await fixture.call('POST', '/x402/sign', { tenant, body, headers: { Prefer: 'respond-async' } });
  if (answer.status !== 202) throw new Error(`POST /x402/sign answered ${answer.status}: ${answer.text}`);
  return String(answer.body['txId']);
}

async function factor({ fixture, code, ...tenant }: Owner): Promise<string> {
  const body = { factor_type: 'WHITELIST', chain: 'ethereum', address: randomAddress(), mfa_code: code() };
  const answer = await fixture.call('POST', '/client/security-factors', { tenant, body });
  if (answer.status !== 201) throw new Error(`POST /client/security-factors answered ${answer.status}: ${answer.text}`);
  return String(answer.body['factor_id']);
}

async function webhook({ fixture, code, ...tenant }: Owner): Promise<string> {
  const body = { url: 'http://127.0.0.1:9/events', mfa_code: code() };
  const answer = await fixture.call('POST', '/webhooks', { tenant, body });
  if (answer.status !== 201) throw new Error(`POST /webhooks answered ${answer.status}: ${answer.text}`);
  return String(answer.body['webhook_id']);
}

const ofFactor =
  (reach: (path: string, as: Actor) => ReturnType<Reach>): Row =>
  async (from) => {
    const path = `/client/security-factors/${await factor(from)}`;
    return (as) => reach(path, as);
  };
const ofWebhook =
  (reach: (path: string, as: Actor) => ReturnType<Reach>): Row =>
  async (from) => {
    const path = `/webhooks/${await webhook(from)}`;
    return (as) => reach(path, as);
  };

/**
 * A row for everything in the OpenAPI document that names something of a client's, by `method path` and, where it is not
 * the path that names it, `?field` of the query or `#field` of the body. tenancy.test.ts fails for what has no row.
 */
export const rows: Record<string, Row> = {
  'get /wallets/{id}':
    ({ funded }) =>
    () => ({ path: `/wallets/${funded.wallet.walletId}` }),
  'get /wallets/{id}/attestations':
    ({ funded }) =>
    () => ({ path: `/wallets/${funded.wallet.walletId}/attestations` }),
  'get /accounts/{id}':
    ({ funded }) =>
    () => ({ path: `/accounts/${funded.account.accountId}` }),
  'get /accounts/{id}/attestations':
    ({ funded }) =>
    () => ({ path: `/accounts/${funded.account.accountId}/attestations` }),
  'get /accounts?wallet_id':
    ({ funded }) =>
    () => ({ path: `/accounts?wallet_id=${funded.wallet.walletId}` }),
  'post /accounts#wallet_id':
    ({ funded }) =>
    () => ({
      path: '/accounts',
      body: { wallet_id: funded.wallet.walletId, chain: 'ethereum' },
    }),
  'get /assets/{id}': async ({ fixture, ...tenant }) => {
    const { body } = await fixture.call('GET', '/assets', { tenant });
    const assetId = String(body.data[0]?.['asset_id']);
    return () => ({ path: `/assets/${assetId}` });
  },
  'get /assets?account_id':
    ({ funded }) =>
    () => ({ path: `/assets?account_id=${funded.account.accountId}` }),
  'post /assets#account_id':
    ({ funded }) =>
    () => ({
      path: '/assets',
      body: { account_id: funded.account.accountId, symbol: 'USDT', chain: 'ethereum' },
    }),
  'post /transfer#from_address':
    ({ funded }) =>
    () => ({ path: '/transfer', body: transferFrom(funded.account.address) }),
  'post /transfer/estimate#from_address':
    ({ funded }) =>
    () => ({ path: '/transfer/estimate', body: transferFrom(funded.account.address) }),
  'get /transactions?wallet_id':
    ({ funded }) =>
    () => ({ path: `/transactions?wallet_id=${funded.wallet.walletId}` }),
  'get /transactions?account_id':
    ({ funded }) =>
    () => ({ path: `/transactions?account_id=${funded.account.accountId}` }),
  'get /transactions?from_address': async (from) => {
    await transfer(from);
    // its delivery changes rows too
    await from.fixture.resources.outbox.settled();
    return () => ({ path: `/transactions?from_address=${from.funded.account.address}` });
  },
  'get /approvals?wallet_id': async (from) => {
    await waitingTransfer(from);
    return () => ({ path: `/approvals?wallet_id=${from.funded.wallet.walletId}` });
  },
  'get /approvals?account_id': async (from) => {
    await waitingTransfer(from);
    return () => ({ path: `/approvals?account_id=${from.funded.account.accountId}` });
  },
  'get /approvals?from_address': async (from) => {
    await waitingTransfer(from);
    return () => ({ path: `/approvals?from_address=${from.funded.account.address}` });
  },
  'get /transactions/{tx_id}': async (from) => {
    const txId = await transfer(from);
    return () => ({ path: `/transactions/${txId}` });
  },
  'get /x402/sign/{tx_id}': async (from) => {
    const txId = await payment(from);
    return () => ({ path: `/x402/sign/${txId}` });
  },
  'post /transactions/{tx_id}/cancel': async (from) => {
    const txId = await transfer(from);
    return () => ({ path: `/transactions/${txId}/cancel` });
  },
  'get /client/security-factors/{factor_id}': ofFactor((path) => ({ path })),
  'put /client/security-factors/{factor_id}/status': ofFactor((path, as) => ({
    path: `${path}/status`,
    body: { status: 'inactive', mfa_code: as.code() },
  })),
  'delete /client/security-factors/{factor_id}': ofFactor((path, as) => ({ path, body: { mfa_code: as.code() } })),
  'get /webhooks/{id}': ofWebhook((path) => ({ path })),
  'put /webhooks/{id}': ofWebhook((path, as) => ({ path, body: { description: 'other', mfa_code: as.code() } })),
  'delete /webhooks/{id}': ofWebhook((path, as) => ({ path, body: { mfa_code: as.code() } })),
  'post /webhooks/{id}/rotate-secret': ofWebhook((path, as) => ({
    path: `${path}/rotate-secret`,
    body: { mfa_code: as.code() },
  })),
  'post /webhooks/{id}/test': ofWebhook((path) => ({ path: `${path}/test` })),
  'get /webhooks/{id}/deliveries': ofWebhook((path) => ({ path: `${path}/deliveries` })),
  'post /webhooks/{id}/resend-failed': ofWebhook((path) => ({
    path: `${path}/resend-failed`,
    body: { since: '2026-01-01T00:00:00.000Z' },
  })),
  'post /webhooks/{id}/deliveries/{delivery_id}/resend': async (from) => {
    const path = `/webhooks/${await webhook(from)}`;
    const { body } = await from.fixture.call('POST', `${path}/test`, { tenant: from });
    return () => ({ path: `${path}/deliveries/${String(body['delivery_id'])}/resend` });
  },
  'post /transactions/{tx_id}/approve': async (from) => {
    const txId = await waitingTransfer(from);
    return (as) => ({ path: `/transactions/${txId}/approve`, body: { mfa_code: as.code() } });
  },
};
