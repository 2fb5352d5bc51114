import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseUnits } from 'viem';
import { ApiClient } from '../stack/api-client';
import { devPaths } from '../../dev/paths';
import type { AccountView } from '../../src/accounts/schema';
import { newTotpSecret, totpOwner } from '../../src/mfa/totp';
import { SecretBox } from '../../src/platform/secret-box';
import type { WalletView } from '../../src/wallets/schema';
import { gatewayQuery } from '../adversary/processes';
import { totpCode } from '../factories';
import { describeOnStack, nodeOf } from '../families';
import { dataFolder, fund, stack, waitFor } from '../stack/client';
import { json } from './gateway';

/** Transfers of a client who wants them approved, on every chain. Its own, since a policy is of all transfers of a client. */

const name = `approving ${Date.now()}`;

let api: ApiClient;
let secret: string;
let walletId: string;

beforeAll(async () => {
  const { client_id: clientId } = await json('client', 'create', name);
  const { user_id: userId } = await json('user', 'create', name, 'ops');
  const key = await json('api-key', 'create', clientId as string, userId as string);
  api = new ApiClient(stack().base_url, key as ApiClient['credentials']);
  await json('client', 'policy', name, '--whitelist', 'approve');
  const { body } = await api.request<WalletView>('POST', '/wallets', { body: { wallet_name: name } });
  walletId = body.wallet_id;
  secret = await enroll(userId as string);
  await waitFor(async () => (await call('GET', `/wallets/${walletId}`)).body.status === 'ACTIVE', { timeoutMs: 420_000 });
});

/** A second factor, as the stack gives one to its own client. */
async function enroll(userId: string): Promise<string> {
  const key = path.join(devPaths(dataFolder()).secrets, 'totp-secrets.kek');
  const created = newTotpSecret();
  const sealed = new SecretBox(readFileSync(key, 'utf8'), 'TOTP_SECRETS_KEY').seal(created, totpOwner(userId));
  await gatewayQuery('insert into user_totp (user_id, secret, confirmed_at) values ($1, $2, now())', [userId, sealed]);
  return created;
}

const stepMs = 30_000;
let lastStep = 0;
/** A code that was not used yet: each is good once, from one step before its time on, and five wrong ones lock the factor. */
async function nextCode(): Promise<string> {
  const step = await waitFor(
    () => [0, 1].map((ahead) => Math.floor(Date.now() / stepMs) + ahead).find((candidate) => candidate > lastStep),
    { timeoutMs: 2 * stepMs },
  );
  lastStep = step;
  return totpCode(secret, step - Math.floor(Date.now() / stepMs));
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- assertions look into parsed JSON
const call = (...request: Parameters<ApiClient['request']>) => api.request<any>(...request);

describeOnStack('transfers that need an approval', (fixture) => {
  const { chain, symbol, amount: coins } = fixture;
  let account: AccountView;
  const asset = async () => {
    const { body } = await call('GET', `/assets?account_id=${account.account_id}`);
    return body.data[0] as { balance: string; locked_balance: string } | undefined;
  };
  const reads = (txId: string, status: string) =>
    waitFor(
      async () => {
        const { body } = await call('GET', `/transactions/${txId}`);
        return body.status === status && body;
      },
      { timeoutMs: 120_000 },
    );
  const send = async (to: string) => {
    const request = { from_address: account.address, to_address: to, chain, token_symbol: symbol, amount: coins('0.1') };
    const { status, body } = await call('POST', '/transfer', { body: request });
    expect(status).toBe(202);
    return reads(body.tx_id as string, 'AWAITING_APPROVAL');
  };
  const timelineOf = ({ timeline }: { timeline: { status: string }[] }) => timeline.map(({ status }) => status);

  beforeAll(async () => {
    // a key of its own may take longer than a request waits for it
    account = await waitFor(
      async () => {
        const { status, body } = await api.request<AccountView>('POST', '/accounts', { body: { wallet_id: walletId, chain } });
        return status === 201 && body;
      },
      { timeoutMs: 420_000 },
    );
    await fund(chain, symbol, account.address, coins('0.5'));
    await waitFor(async () => (await asset())?.balance === coins('0.5'), { timeoutMs: 120_000 });
  });

  test('cancelled while it waits: CANCELLED, everything is unlocked; a live status until then', async () => {
    const { tx_id: txId } = await send(fixture.newAddress());
    // of another transfer there may be none before it has ended: a busy worker does not answer in time
    const live = await waitFor(async () => (await call('GET', `/transactions/${txId}`)).body.live, { timeoutMs: 120_000 });
    expect(live).toEqual({ step: expect.any(String), attempt: expect.any(Number), detail: expect.any(String) });
    expect(Number((await asset())?.locked_balance)).toBeGreaterThan(Number(coins('0.1')));
    const cancelled = await call('POST', `/transactions/${txId}/cancel`);
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'CANCELLED']);
    const ended = await reads(txId as string, 'CANCELLED');
    expect([timelineOf(ended), ended.live]).toEqual([['PENDING', 'AWAITING_APPROVAL', 'CANCELLED'], null]);
    expect(await asset()).toMatchObject({ balance: coins('0.5'), locked_balance: '0' });
  });

  test('approved: signed and CONFIRMED, paid once', async () => {
    const to = fixture.newAddress();
    const { tx_id: txId } = await send(to);
    const approved = await call('POST', `/transactions/${txId}/approve`, { body: { mfa_code: await nextCode() } });
    expect(approved.status).toBe(200);
    const confirmed = await reads(txId as string, 'CONFIRMED');
    expect(timelineOf(confirmed)).toEqual(['PENDING', 'AWAITING_APPROVAL', 'PENDING', 'SIGNING', 'SUBMITTED', 'CONFIRMED']);
    expect(await nodeOf(chain).balanceOf(to)).toBe(parseUnits(coins('0.1'), fixture.decimals));
    const late = await call('POST', `/transactions/${txId}/cancel`);
    expect([late.status, late.body.code]).toEqual([409, 'not_cancellable']);
  });
});
