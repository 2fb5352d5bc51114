import { randomBytes } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { evmFamily } from '../../src/chains/evm/family';
import { deriveAddress } from '../../src/accounts/derivation';
import { call } from '../e2e/support';
import { randomAddress } from '../factories';
import { killProcess, stack, waitFor } from '../stack/client';
import { pids } from '../stack/pause';
import { alarmsOf, environmentOf, gatewayQuery, metricOf, refusal } from './processes';
import { type Rewrite, toStatement, whileRewritten } from './rewrites';
import { Scene } from './scene';
import { amount, chain } from './transfers';

/** SECURITY.md, list “Gateway database, its owner or an administrator”: its owner has money sent elsewhere by rewriting addresses and public keys. */

const scene = new Scene();

const integrity = '23000';
const apiMetric = async (name: string) => metricOf(environmentOf(pids('api')[0] ?? 0), name);
/** How often the API has logged this alarm about an account or a wallet. */
const alarmed = (alert: string, id: string): number =>
  alarmsOf('api').filter((alarm) => alarm.alert === alert && (alarm.account_id ?? alarm.wallet_id) === id).length;

const transferFrom = (address: string) =>
  call('POST', '/transfer', {
    body: { from_address: address, to_address: randomAddress(), chain, token_symbol: 'ETH', amount },
  });

/** No answer has an address of the account, neither its own nor the rewritten one. */
async function expectNoAddress(rewritten: string): Promise<void> {
  const { account_id: accountId, address, walletId } = scene.account;
  expect(await call('GET', `/accounts/${accountId}`)).toMatchObject({ status: 409, body: { code: 'address_differs' } });
  const pages = [`/accounts?wallet_id=${walletId}`, `/transactions?account_id=${accountId}`];
  for (const page of pages) {
    const { status, body } = await call('GET', page);
    expect(status).toBe(200);
    expect((body.data as unknown[]).length).toBeGreaterThan(0);
    const shown = JSON.stringify(body).toLowerCase();
    for (const hidden of [address, rewritten]) expect(shown).not.toContain(hidden.toLowerCase());
  }
}

test('a rewritten accounts.address is neither shown nor used, and raises an alarm', async () => {
  const { account_id: accountId, address } = scene.account;
  const other = randomAddress();
  const change: Rewrite = { table: 'accounts', id: accountId, to: { address: other, address_key: other.toLowerCase() } };
  const { text, values } = toStatement(change);
  expect(await refusal(stack().postgres.url, text, values)).toBe(integrity);
  const before = await apiMetric('gateway_account_addresses_differ_total');
  await whileRewritten(change, async () => {
    await expectNoAddress(other);
    expect(await transferFrom(other)).toMatchObject({ status: 409, body: { code: 'address_differs' } });
    expect(await transferFrom(address)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
  expect(await apiMetric('gateway_account_addresses_differ_total')).toBeGreaterThan(before);
  expect(alarmed('address_differs', accountId)).toBe(1);
  expect(await call('GET', `/accounts/${accountId}`)).toMatchObject({ status: 200, body: { address } });
});

test('a rewritten public key, with the address that it gives: the wallet is unusable, also after a restart, and raises an alarm', async () => {
  const { account_id: accountId, address, walletId, keyId } = scene.account;
  const [row] = await gatewayQuery<{ address_index: number }>('select address_index from accounts where account_id = $1', [
    accountId,
  ]);
  const own = { keyId, publicKey: Buffer.from(secp256k1.keygen().publicKey), chainCode: randomBytes(32) };
  const derived = deriveAddress({ ...own, protocol: evmFamily.keyProtocol }, evmFamily, row?.address_index ?? 0);
  const toWallet: Rewrite = { table: 'wallets', id: walletId, to: { public_key: own.publicKey, chain_code: own.chainCode } };
  const toAccount: Rewrite = { table: 'accounts', id: accountId, to: { address: derived.address, address_key: derived.key } };
  const { text, values } = toStatement(toWallet);
  expect(await refusal(stack().postgres.url, text, values)).toBe(integrity);

  const expectUnusable = async () => {
    expect((await call('GET', `/wallets/${walletId}`)).body).toMatchObject({ status: 'SUSPENDED', key_status: 'UNVERIFIED' });
    await expectNoAddress(derived.address);
    expect(await transferFrom(derived.address)).toMatchObject({ status: 400, body: { code: 'wallet_not_active' } });
    const create = await call('POST', '/accounts', { body: { wallet_id: walletId, chain } });
    expect(create).toMatchObject({ status: 400, body: { code: 'wallet_not_active' } });
    expect(await apiMetric('gateway_wallet_keys_not_attested_total')).toBeGreaterThan(0);
  };
  await whileRewritten(toWallet, () =>
    whileRewritten(toAccount, async () => {
      await expectUnusable();
      // what it has verified before is no longer in its memory
      await killProcess('api');
      await waitFor(async () => (await call('GET', `/wallets/${walletId}`)).status === 200, { timeoutMs: 60_000 });
      await expectUnusable();
    }),
  );
  // once by each process
  expect(alarmed('key_not_attested', walletId)).toBe(2);
  expect(await call('GET', `/accounts/${accountId}`)).toMatchObject({ status: 200, body: { address } });
});
