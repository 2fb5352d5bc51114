import { randomBytes } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { Client } from 'pg';
import { nodeIndexes } from '../../../src/messages/nodes';
import type { KeyAttestation } from '../../../src/messages/key-generation';
import { metrics } from '../../../src/platform/metrics';
import { newId } from '../../../src/platform/ids';
import type { KeyedWallet } from '../../../src/wallets/attested-keys';
import type { AttestationsView } from '../../../src/wallets/schema';
import { attestationOf, attestationsOf } from '../../attestations';
import { type BuiltWallet, buildAccount, buildWallet, randomAddress } from '../../factories';
import { formerKeyOf, keyOf, nodeKeys } from '../../node-refusals';
import { attestedKey, type KnownNodes } from '../../verify-attestations';
import {
  buildFunded,
  buildTenant,
  createFixture,
  ethereum,
  expectProblem,
  type Fixture,
  type Funded,
  type Tenant,
} from './fixture';
import { newKeyPair } from '../../keys';

/** Wallets and addresses that the database describes otherwise than the signing nodes. */

let fixture: Fixture;
let tenant: Tenant;
beforeAll(async () => {
  fixture = await createFixture();
  tenant = await buildTenant(fixture);
});
afterAll(() => fixture.close());

const get = async (path: string, as = tenant) => fixture.call('GET', path, { tenant: as });
const transferFrom = (address: string) =>
  fixture.call('POST', '/transfer', {
    tenant,
    body: { from_address: address, to_address: randomAddress(), chain: 'ethereum', token_symbol: 'USDC', amount: '1' },
  });
const addAccount = (walletId: string) =>
  fixture.call('POST', '/accounts', { tenant, body: { wallet_id: walletId, chain: 'ethereum' } });
/** As whoever owns the database can: no trigger runs. */
const rewrite = (statement: string, values: unknown[]) =>
  fixture.database.transaction(async (manager) => {
    await manager.query(`set local session_replication_role = 'replica'`);
    await manager.query(statement, values);
  });
const alertsOf = (field: 'wallet_id' | 'account_id', id: string) =>
  fixture.alerts.filter((alert) => alert[field] === id).map(({ alert }) => alert);
const counted = async (name: string) => (await metrics.getSingleMetric(name)?.get())?.values[0]?.value ?? 0;
/** As a client has them from the nodes' operators. */
const knownNodes = (): KnownNodes =>
  Object.fromEntries(
    [...nodeKeys].map(([node, keys]) => [node, keys.map((key) => key.export({ type: 'spki', format: 'pem' }).toString())]),
  );
const ownWallet = (attest = attestationsOf) => buildWallet(fixture.database, tenant as never, { attest });
const listed = async (walletId: string, accountId: string) =>
  (await get(`/accounts?wallet_id=${walletId}`)).body.data.find((account) => account['account_id'] === accountId)?.['address'];

/** The wallet is not usable, and an alarm says so once. */
async function expectUnusable(walletId: string): Promise<void> {
  const before = await counted('gateway_wallet_keys_not_attested_total');
  expect((await get(`/wallets/${walletId}`)).body).toMatchObject({ status: 'SUSPENDED', key_status: 'UNVERIFIED' });
  const { data } = (await get('/wallets?page_size=100')).body;
  expect(data.find((wallet) => wallet['wallet_id'] === walletId)).toMatchObject({ key_status: 'UNVERIFIED' });
  const refused = await addAccount(walletId);
  expectProblem(refused, 400, 'wallet_not_active');
  expect(refused.body['reason']).toBe('key_not_attested');
  expect(alertsOf('wallet_id', walletId)).toEqual(['key_not_attested']);
  expect((await counted('gateway_wallet_keys_not_attested_total')) - before).toBeGreaterThanOrEqual(3);
}

describe('GET /wallets/{id}/attestations', () => {
  test('a client verifies by itself whose key its wallet has', async () => {
    const wallet = await ownWallet();
    const { status, body } = await get(`/wallets/${wallet.walletId}/attestations`);
    expect(status).toBe(200);
    expect((await get(`/wallets/${wallet.walletId.toUpperCase()}`)).body).toMatchObject({ key_status: 'ACTIVE' });
    const known = knownNodes();
    const attestations = body['attestations'] as unknown as AttestationsView['attestations'];
    expect(attestations.map(({ node, public_key }) => [node, public_key])).toEqual(
      nodeIndexes.map((node) => [node, known[node]?.[0]]),
    );
    const owner = { wallet_id: wallet.walletId, client_id: tenant.clientId };
    expect(attestedKey(attestations, owner, known)).toEqual({
      ...owner,
      key_id: wallet.keyId,
      protocol: 'ecdsa-secp256k1',
      public_key: `0x${wallet.publicKey.toString('hex')}`,
      chain_code: `0x${wallet.chainCode.toString('hex')}`,
    });
    expect(() => attestedKey(attestations.slice(1), owner, known)).toThrow(/all three/);
    expect(() => attestedKey(attestations, { ...owner, wallet_id: newId() }, known)).toThrow(/key is of/);
    const swapped = { ...known, 2: known[3]! };
    expect(() => attestedKey(attestations, owner, swapped)).toThrow(/not signed by node 2/);
  });

  test('what a node attested before its identity was replaced stays valid, for the API and for a client', async () => {
    const before = (wallet: KeyedWallet) => nodeIndexes.map((node) => attestationOf(node, wallet, { by: formerKeyOf(node) }));
    const { walletId } = await ownWallet((wallet) => [...before(wallet).slice(0, 2), attestationOf(3, wallet)]);
    expect((await get(`/wallets/${walletId}`)).body).toMatchObject({ status: 'ACTIVE', key_status: 'ACTIVE' });
    expect((await addAccount(walletId)).status).toBe(201);
    const { body } = await get(`/wallets/${walletId}/attestations`);
    const attestations = body['attestations'] as unknown as AttestationsView['attestations'];
    const known = knownNodes();
    expect(attestations.map(({ public_key }) => public_key)).toEqual([known[1]?.[1], known[2]?.[1], known[3]?.[0]]);
    const owner = { wallet_id: walletId, client_id: tenant.clientId };
    expect(attestedKey(attestations, owner, known)).toMatchObject(owner);
  });

  test('has none before the wallet has its key, and 404 for another client’s wallet', async () => {
    const { body } = await fixture.call('POST', '/wallets', { tenant, body: { wallet_name: 'new' } });
    const path = `/wallets/${String(body['wallet_id'])}/attestations`;
    expect((await get(path)).body).toEqual({ wallet_id: body['wallet_id'], attestations: [] });
    expectProblem(await get(path, fixture.other), 404, 'not_found');
  });
});

describe('GET /accounts/{id}/attestations', () => {
  test('of an account whose key is a child of its wallet’s: what the nodes say of the wallet’s', async () => {
    const wallet = await ownWallet();
    const accountId = String((await addAccount(wallet.walletId)).body['account_id']);
    const path = `/accounts/${accountId}/attestations`;
    const ofWallet = (await get(`/wallets/${wallet.walletId}/attestations`)).body;
    expect((await get(path)).body).toEqual({
      ...ofWallet,
      ...{ account_id: accountId, key_protocol: 'ecdsa-secp256k1', derivation_path: 'm/60/0' },
    });
    expect(ofWallet['attestations']).toHaveLength(3);
    expectProblem(await get(path, fixture.other), 404, 'not_found');
    expectProblem(await get('/accounts/no-uuid/attestations'), 404, 'not_found');
  });
});

describe('a wallet without valid attestations of all nodes is not usable', () => {
  const stranger = newKeyPair('P-256').privateKey;
  const each = (attest: (node: 1 | 2 | 3, wallet: KeyedWallet) => KeyAttestation) => (wallet: KeyedWallet) =>
    nodeIndexes.map((node) => attest(node, wallet));
  const otherKey = () => ({ publicKey: Buffer.from(secp256k1.keygen().publicKey), chainCode: randomBytes(32) });
  test.each<[string, (wallet: KeyedWallet) => KeyAttestation[]]>([
    ['none', () => []],
    ['two', (wallet) => attestationsOf(wallet).slice(1)],
    ['one signed by another key', each((node, wallet) => attestationOf(node, wallet, node === 2 ? { by: stranger } : {}))],
    ['all signed by one node', each((node, wallet) => attestationOf(node, wallet, { by: keyOf(1) }))],
    ['one node thrice', each((_, wallet) => attestationOf(1, wallet))],
    ['another wallet’s', (wallet) => attestationsOf({ ...wallet, walletId: newId() })],
    ['another client’s', (wallet) => attestationsOf({ ...wallet, clientId: newId() })],
    ['another key’s', (wallet) => attestationsOf({ ...wallet, ...otherKey() })],
    [
      'of one node about another key',
      each((node, wallet) => attestationOf(node, node === 3 ? { ...wallet, ...otherKey() } : wallet)),
    ],
    ['changed afterwards', (wallet) => attestationsOf(wallet).map((it) => ({ ...it, text: `${it.text} ` }))],
    ['no statements', () => nodeIndexes.map(() => ({ text: 'nothing', signature: 'A'.repeat(88) }))],
  ])('%s', async (_, attest) => {
    const wallet = await ownWallet(attest);
    const account = await buildAccount(fixture.database, wallet, ethereum);
    await expectUnusable(wallet.walletId);
    expect(await listed(wallet.walletId, account.accountId)).toBeNull();
    expectProblem(await get(`/accounts/${account.accountId}`), 409, 'address_differs');
  });

  test('a worker gives a new wallet a key of its own', async () => {
    const { body } = await fixture.call('POST', '/wallets', { tenant, body: { wallet_name: 'taken' } });
    const walletId = String(body['wallet_id']);
    const own = { walletId, clientId: tenant.clientId, keyId: `${walletId}.1`, ...otherKey() };
    const worker = new Client({ connectionString: (await fixture.logins()).gateway_worker });
    await worker.connect();
    try {
      for (const node of nodeIndexes) {
        const { text, signature } = attestationOf(node, own, { by: stranger });
        await worker.query('insert into wallet_attestations (wallet_id, node, statement, signature) values ($1, $2, $3, $4)', [
          walletId,
          node,
          text,
          signature,
        ]);
      }
      await worker.query(
        `update wallets set status = 'ACTIVE', key_status = 'ACTIVE', key_id = $2, public_key = $3, chain_code = $4 where wallet_id = $1`,
        [walletId, own.keyId, own.publicKey, own.chainCode],
      );
    } finally {
      await worker.end();
    }
    await expectUnusable(walletId);
  });
});

describe('rows that were changed after their activation', () => {
  let funded: Funded;
  let wallet: BuiltWallet;
  beforeEach(async () => {
    funded = await buildFunded(fixture, tenant);
    wallet = funded.wallet;
    // everything is in memory
    expect((await transferFrom(funded.account.address)).status).toBe(202);
    expect(await listed(wallet.walletId, funded.account.accountId)).toBe(funded.account.address);
  });
  const shownBy = async (): Promise<unknown[]> => {
    const { data } = (await get(`/transactions?account_id=${funded.account.accountId}`)).body;
    const details = [];
    for (const { tx_id: txId } of data) {
      const { status, body } = await get(`/transactions/${String(txId)}`);
      expect({ status, body }).toMatchObject({ status: 200 });
      details.push(body);
    }
    return [...data, ...details].map((tx) => tx[tx['transaction_type'] === 'INBOUND' ? 'to_address' : 'from_address']);
  };
  const expectNotShown = async (code: string, status: number, reason?: string) => {
    expect(await listed(wallet.walletId, funded.account.accountId)).toBeNull();
    expectProblem(await get(`/accounts/${funded.account.accountId}`), 409, 'address_differs');
    const refused = await transferFrom(funded.account.address);
    expectProblem(refused, status, code);
    expect(refused.body['reason']).toBe(reason);
    const addresses = await shownBy();
    expect(addresses).toHaveLength(6);
    expect(new Set(addresses)).toEqual(new Set([null]));
  };

  test.each(['public_key', 'chain_code', 'key_id', 'client_id'])('wallets.%s: no address, and an alarm', async (column) => {
    const other = { public_key: Buffer.from(secp256k1.keygen().publicKey), chain_code: randomBytes(32), key_id: newId() };
    const value = column === 'client_id' ? fixture.other.clientId : other[column as keyof typeof other];
    await rewrite(`update wallets set ${column} = $2 where wallet_id = $1`, [wallet.walletId, value]);
    if (column === 'client_id') {
      // the wallet is the other client's now, and of no use to it
      expectProblem(await get(`/wallets/${wallet.walletId}`), 404, 'not_found');
      expect((await get(`/wallets/${wallet.walletId}`, fixture.other)).body).toMatchObject({ key_status: 'UNVERIFIED' });
      expect(await listed(wallet.walletId, funded.account.accountId)).toBeNull();
      return;
    }
    await expectUnusable(wallet.walletId);
    await expectNotShown('wallet_not_active', 400, 'key_not_attested');
  });

  test('wallets without a key: no address, and an alarm', async () => {
    const none = `status = 'PROGRESSING', key_status = 'GENERATING', key_id = null, public_key = null, chain_code = null`;
    await rewrite(`update wallets set ${none} where wallet_id = $1`, [wallet.walletId]);
    expect(await listed(wallet.walletId, funded.account.accountId)).toBeNull();
    expect(alertsOf('account_id', funded.account.accountId)).toEqual(['address_differs']);
  });

  test('accounts.address: not shown, no transfer, one alarm', async () => {
    const before = await counted('gateway_account_addresses_differ_total');
    await rewrite('update accounts set address = $2 where account_id = $1', [funded.account.accountId, randomAddress()]);
    await expectNotShown('address_differs', 409);
    expect(alertsOf('account_id', funded.account.accountId)).toEqual(['address_differs']);
    expect((await counted('gateway_account_addresses_differ_total')) - before).toBeGreaterThanOrEqual(3);
    // another account of the wallet is not affected
    expect((await addAccount(wallet.walletId)).status).toBe(201);
  });

  test.each([
    ['address_index', 7],
    ['derivation_path', 'm/60/7'],
    ['key_id', 'another'],
    ['address_key', '0x00'],
    ['family', 'unknown'],
  ])('accounts.%s: not shown', async (column, value) => {
    await rewrite(`update accounts set ${column} = $2 where account_id = $1`, [funded.account.accountId, value]);
    expect(await listed(wallet.walletId, funded.account.accountId)).toBeNull();
    expectProblem(await get(`/accounts/${funded.account.accountId}`), 409, 'address_differs');
    expect(alertsOf('account_id', funded.account.accountId)).toEqual(['address_differs']);
  });

  test('an account in the name of another client’s wallet', async () => {
    const { account } = await buildFunded(fixture, fixture.other);
    await rewrite('update accounts set client_id = $2 where account_id = $1', [account.accountId, tenant.clientId]);
    expectProblem(await get(`/accounts/${account.accountId}`), 409, 'address_differs');
  });

  test('the stored answer of a repeated POST /accounts: not sent', async () => {
    const headers = { 'Idempotency-Key': newId() };
    const create = () =>
      fixture.call('POST', '/accounts', { tenant, headers, body: { wallet_id: wallet.walletId, chain: 'ethereum' } });
    const first = await create();
    expect((await create()).text).toBe(first.text);
    await rewrite('update idempotency_keys set response_body = to_jsonb($2::text) where key = $1', [
      headers['Idempotency-Key'],
      first.text.replace(String(first.body['address']), randomAddress()),
    ]);
    expectProblem(await create(), 500, 'internal_error');
  });

  test('transactions.account_id of another client’s account, whose address is attested too: not shown', async () => {
    const { account } = await buildFunded(fixture, fixture.other);
    await rewrite(
      'update transactions set account_id = $2, from_address = $3, to_address = $3 where account_id = $1 and client_id = $4',
      [funded.account.accountId, account.accountId, account.address, tenant.clientId],
    );
    const { data } = (await get(`/transactions?wallet_id=${wallet.walletId}`)).body;
    expect(data).toHaveLength(3);
    const own = data.map((tx) => tx[tx['transaction_type'] === 'INBOUND' ? 'to_address' : 'from_address']);
    expect(own).toEqual([null, null, null]);
    expect(alertsOf('account_id', account.accountId)).toEqual(['address_differs']);
  });

  test('transactions.from_address and to_address: not shown', async () => {
    await rewrite('update transactions set from_address = $2, to_address = $2 where account_id = $1', [
      funded.account.accountId,
      randomAddress(),
    ]);
    expect(new Set(await shownBy())).toEqual(new Set([null]));
    expect(await listed(wallet.walletId, funded.account.accountId)).toBe(funded.account.address);
    expect(alertsOf('account_id', funded.account.accountId)).toEqual(['address_differs']);
  });
});
