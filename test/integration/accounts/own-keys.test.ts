import { generateAccountKeyWorkflowId } from '../../../src/messages/workflow-ids';
import { authoriserTaskQueue, mainTaskQueue } from '../../../src/messages/task-queues';
import { nodeIndexes } from '../../../src/messages/nodes';
import { GatewayError } from '../../../src/platform/errors';
import { newId } from '../../../src/platform/ids';
import { toBase58 } from '../../../src/chains/solana/codec/base58';
import type { AccountAttestationsView } from '../../../src/accounts/schema';
import { readNodeKeys } from '../../../src/mpc/identity';
import { attestedKey } from '../../verify-attestations';
import { recordRun } from '../../replay/record-run';
import { expectProblem } from '../http/fixture';
import { createScene, type Scene } from './scene';

jest.setTimeout(120_000);

/** A request waits for ten seconds, and not twice; the rest is what a busy machine takes for everything else. */
const longestMs = 20_000;

let scene: Scene;
beforeAll(async () => (scene = await createScene()));
afterAll(() => scene.close());
afterEach(() => {
  scene.before.run = () => undefined;
});

const rows = <R extends object>(statement: string, ...values: unknown[]) => scene.fixture.database.query<R[]>(statement, values);
const accountsOf = ({ walletId }: { walletId: string }) =>
  rows<{ account_id: string; key_id: string; address: string }>('select * from accounts where wallet_id = $1', walletId);
const createdRows = ({ walletId }: { walletId: string }) =>
  rows(`select 1 from audit_events where action = 'account.created' and detail ->> 'wallet_id' = $1`, walletId);
const requestOf = ({ walletId }: { walletId: string }) =>
  rows<{ account_id: string; attempts: number; key_id: string | null }>(
    'select * from account_key_requests where wallet_id = $1',
    walletId,
  );
const expectNothing = async (wallet: { walletId: string }) => {
  expect(await accountsOf(wallet)).toEqual([]);
  expect(await createdRows(wallet)).toEqual([]);
};
const sharesOf = (accountId: string) =>
  Promise.all(
    nodeIndexes.map((node) =>
      scene.group.query<{ key_id: string; account_id: string | null; public_key: Buffer }>(
        node,
        `select key_id, account_id, public_key from key_shares where key_id like $1 || '.%' order by key_id`,
        [accountId],
      ),
    ),
  );

test('each account has a key of its own, attested by the nodes; its address is the public key in Base58', async () => {
  const wallet = await scene.wallet();
  const [one, two] = [await scene.create(wallet, newId()), await scene.create(wallet, newId())];
  expect([one.status, two.status]).toEqual([201, 201]);
  const accountId = String(one.body['account_id']);
  for (const [share] of await sharesOf(accountId)) {
    expect(share).toMatchObject({ key_id: `${accountId}.1`, account_id: accountId });
    expect(toBase58(share!.public_key)).toBe(one.body['address']);
  }
  expect(two.body['address']).not.toBe(one.body['address']);
  const stored = await rows('select * from accounts where wallet_id = $1 order by address_index', wallet.walletId);
  expect(stored).toMatchObject([
    { account_id: accountId, address_index: 0, derivation_path: 'm', key_protocol: 'frost-ed25519', key_id: `${accountId}.1` },
    { address_index: 1, derivation_path: 'm' },
  ]);
  expect(await createdRows(wallet)).toHaveLength(2);
  expect(await requestOf(wallet)).toEqual([]);
  const list = await scene.fixture.call('GET', `/accounts?wallet_id=${wallet.walletId}`);
  expect(list.body.data.map(({ address }) => address)).toEqual([two.body['address'], one.body['address']]);
  expect((await scene.fixture.call('GET', `/accounts/${accountId}`)).body).toEqual(one.body);
  await recordRun(scene.temporal.client, generateAccountKeyWorkflowId(accountId), 'generate-account-key');

  // as a client verifies it, with the nodes' certificates
  const shown = (await scene.fixture.call('GET', `/accounts/${accountId}/attestations`)).body;
  expect(shown).toMatchObject({ account_id: accountId, wallet_id: wallet.walletId, derivation_path: 'm' });
  const { attestations } = shown as unknown as AccountAttestationsView;
  const known = Object.fromEntries(
    [...readNodeKeys(scene.group.files.nodes[1].peerCerts)].map(([node, keys]) => [
      node,
      keys.map((key) => key.export({ type: 'spki', format: 'pem' }).toString()),
    ]),
  );
  const owner = { wallet_id: wallet.walletId, client_id: scene.fixture.demo.clientId };
  const key = attestedKey(attestations, owner, known);
  expect(key).toMatchObject({ ...owner, account_id: accountId, key_id: `${accountId}.1`, protocol: 'frost-ed25519' });
  expect(toBase58(Buffer.from(key.public_key.slice(2), 'hex'))).toBe(one.body['address']);
  expect(() => attestedKey(attestations.slice(1), owner, known)).toThrow(/all three/);
  expect(() => attestedKey(attestations, owner, { ...known, 2: known[3] as string[] })).toThrow(/not signed by node 2/);
});

test('with a node down it is 503 within ten seconds and nothing is created; the same key afterwards gives one account', async () => {
  const wallet = await scene.wallet();
  const key = newId();
  await scene.group.stop(3);
  const began = performance.now();
  const refused = await scene.create(wallet, key);
  expectProblem(refused, 503, 'unavailable');
  expect(performance.now() - began).toBeLessThan(longestMs);
  expect(refused.headers.get('retry-after')).toBe('5');
  await expectNothing(wallet);
  const [request] = await requestOf(wallet);
  await recordRun(scene.temporal.client, generateAccountKeyWorkflowId(request!.account_id), 'generate-account-key-failed');

  await scene.group.start(3);
  const created = await scene.create(wallet, key);
  expect(created.status).toBe(201);
  expect(created.body['account_id']).toBe(request?.account_id);
  const [account] = await accountsOf(wallet);
  expect(account?.key_id).toBe(`${request?.account_id}.2`);
  const again = await scene.create(wallet, key);
  expect([again.status, again.text]).toEqual([201, created.text]);
  expect(await accountsOf(wallet)).toHaveLength(1);
});

test('a key that one node has bound is taken over by the next try', async () => {
  const wallet = await scene.wallet();
  const key = newId();
  scene.before.run = (node, activity) => {
    if (activity === 'bindKey' && node === 3) throw new GatewayError('business_error', 'not now');
  };
  expectProblem(await scene.create(wallet, key), 503, 'unavailable');
  await expectNothing(wallet);
  const [request] = await requestOf(wallet);
  const accountId = String(request?.account_id);
  expect(request).toMatchObject({ attempts: 1, key_id: `${accountId}.1` });
  expect((await sharesOf(accountId)).map(([share]) => share?.account_id)).toEqual([accountId, accountId, null]);

  scene.before.run = () => undefined;
  expect((await scene.create(wallet, key)).status).toBe(201);
  expect(await accountsOf(wallet)).toMatchObject([{ key_id: `${accountId}.1` }]);
  expect((await sharesOf(accountId)).map((shares) => shares.length)).toEqual([1, 1, 1]);
  await recordRun(scene.temporal.client, generateAccountKeyWorkflowId(accountId), 'generate-account-key-taken-over');
});

test('a worker that ends in the middle: 503, and the same key gives the account once it is back', async () => {
  const wallet = await scene.wallet();
  const key = newId();
  let stopped: Promise<void> | undefined;
  scene.before.run = (_node, activity) => {
    if (activity === 'testSign') stopped ??= scene.stopWorker(mainTaskQueue);
  };
  const began = performance.now();
  expectProblem(await scene.create(wallet, key), 503, 'unavailable');
  expect(performance.now() - began).toBeLessThan(longestMs);
  await stopped;
  expect(stopped).toBeDefined();
  await expectNothing(wallet);
  scene.before.run = () => undefined;
  await scene.startWorker(mainTaskQueue);
  expect((await scene.create(wallet, key)).status).toBe(201);
  expect(await accountsOf(wallet)).toHaveLength(1);
});

test('without an authoriser it is 503, and nothing is created', async () => {
  const wallet = await scene.wallet();
  await scene.stopWorker(authoriserTaskQueue);
  expectProblem(await scene.create(wallet, newId()), 503, 'unavailable');
  await expectNothing(wallet);
  await scene.startWorker(authoriserTaskQueue);
});

test('two requests at once: of different keys each gets an account, of the same key both get one', async () => {
  const wallet = await scene.wallet();
  const different = await Promise.all([scene.create(wallet, newId()), scene.create(wallet, newId())]);
  expect(different.map(({ status }) => status)).toEqual([201, 201]);
  expect(await accountsOf(wallet)).toHaveLength(2);
  const key = newId();
  const same = await Promise.all([scene.create(wallet, key), scene.create(wallet, key)]);
  expect(same.map(({ status }) => status)).toEqual([201, 201]);
  expect(same[0].text).toBe(same[1].text);
  expect(await accountsOf(wallet)).toHaveLength(3);
});

test('a wallet that is suspended meanwhile gets no account', async () => {
  const wallet = await scene.wallet();
  scene.before.run = async (node, activity) => {
    if (activity === 'bindKey' && node === 3)
      await rows(`update wallets set status = 'SUSPENDED' where wallet_id = $1`, wallet.walletId);
  };
  expectProblem(await scene.create(wallet, newId()), 400, 'wallet_not_active');
  await expectNothing(wallet);
  expectProblem(await scene.create(wallet, newId()), 400, 'wallet_not_active');
});

test('no transaction and no lock of the wallet is held while the request waits', async () => {
  const wallet = await scene.wallet();
  let seen: { open: number } | undefined;
  scene.before.run = async (node, activity) => {
    if (activity !== 'bindKey' || node !== 2) return;
    [seen] = await rows<{ open: number }>(
      `select count(*)::int as open from pg_stat_activity where application_name = 'test-api' and state like 'idle in transaction%'`,
    );
    await rows('select 1 from wallets where wallet_id = $1 for update nowait', wallet.walletId);
  };
  expect((await scene.create(wallet, newId())).status).toBe(201);
  expect(seen).toEqual({ open: 0 });
});

test('a client has no more than eight requests waiting, and others are not refused for it', async () => {
  const wallet = await scene.wallet();
  const { clientId } = scene.fixture.demo;
  const wait = (count: number, client = clientId) =>
    rows(
      `insert into account_key_requests (account_id, wallet_id, client_id, family, in_flight_until)
       select gen_random_uuid(), $1, $2, 'solana-local', clock_timestamp() + interval '1 minute' from generate_series(1, $3)`,
      wallet.walletId,
      client,
      count,
    );
  await wait(8);
  expectProblem(await scene.create(wallet, newId()), 503, 'unavailable');
  const { other } = scene.fixture;
  expect((await scene.create(await scene.wallet(other), newId(), other)).status).toBe(201);
  await wait(16, other.clientId);
  await rows('delete from account_key_requests where client_id = $1', clientId);
  await wait(8);
  expectProblem(await scene.create(await scene.wallet(other), newId(), other), 503, 'unavailable');
  await rows('delete from account_key_requests');
  expect((await scene.create(wallet, newId())).status).toBe(201);
});

test('an address that was changed in the database is not shown', async () => {
  const wallet = await scene.wallet();
  const [one, two] = [await scene.create(wallet, newId()), await scene.create(wallet, newId())];
  const accountId = String(one.body['account_id']);
  const other = toBase58(Buffer.alloc(32, 7));
  const [stored] = await rows<{ address_key: string }>('select address_key from accounts where account_id = $1', accountId);
  const change = async (to: string, key: string) => {
    await rows('alter table accounts disable trigger accounts_guard');
    await rows('update accounts set address = $2, address_key = $3 where account_id = $1', accountId, to, key);
    await rows('alter table accounts enable trigger accounts_guard');
  };
  await change(other, other);
  expectProblem(await scene.fixture.call('GET', `/accounts/${accountId}`), 409, 'address_differs');
  const list = await scene.fixture.call('GET', `/accounts?wallet_id=${wallet.walletId}`);
  expect(list.body.data.map(({ address }) => address)).toEqual([two.body['address'], null]);
  expect(scene.fixture.alerts).toContainEqual(expect.objectContaining({ alert: 'address_differs', account_id: accountId }));
  await change(String(one.body['address']), String(stored?.address_key));
  expect((await scene.fixture.call('GET', `/accounts/${accountId}`)).status).toBe(200);
});

test('an account is not stored without the attestations of all nodes', async () => {
  const wallet = await scene.wallet();
  await scene.create(wallet, newId());
  const insert = `insert into accounts (account_id, wallet_id, client_id, family, chain, network, address, address_key, key_id, key_protocol,
      derivation_path, address_index)
    select gen_random_uuid(), wallet_id, client_id, family, chain, network, 'x', 'x', 'x', key_protocol, derivation_path, 9
      from accounts where wallet_id = $1`;
  await expect(rows(insert, wallet.walletId)).rejects.toThrow(/attestations of all three nodes/);
});

describe('the authoriser orders a key', () => {
  const ask = async (input: { accountId: string; keyId: string }) => [
    await scene.authoriser.orderAccountKey(input).catch((error: GatewayError) => error.code),
    await scene.authoriser.orderAccountKeyBinding(input).catch((error: GatewayError) => error.code),
  ];
  const request = async (family = 'solana-local') => {
    const [wallet, accountId] = [await scene.wallet(), newId()];
    await rows(
      `insert into account_key_requests (account_id, wallet_id, client_id, family, in_flight_until) values ($1, $2, $3, $4, now())`,
      ...[accountId, wallet.walletId, wallet.clientId, family],
    );
    return { accountId, wallet };
  };

  test('for no account that nobody asked for', async () => {
    const accountId = newId();
    expect(await ask({ accountId, keyId: `${accountId}.1` })).toEqual(['not_found', 'not_found']);
    expect(await ask({ accountId: 'x', keyId: 'x.1' })).toEqual(['not_found', 'not_found']);
  });

  test('under no key id of another account, or of a try that was not made', async () => {
    const { accountId } = await request();
    for (const keyId of [`${newId()}.1`, `${accountId}.2`, `${accountId}.0`, `${accountId}.x`])
      expect(await ask({ accountId, keyId })).toEqual(['invalid_parameter', 'invalid_parameter']);
  });

  test('for no account whose key is its wallet’s, and no account that is there', async () => {
    const { accountId } = await request('evm');
    expect(await ask({ accountId, keyId: `${accountId}.1` })).toEqual(['invalid_parameter', 'invalid_parameter']);
    const wallet = await scene.wallet();
    const made = String((await scene.create(wallet, newId())).body['account_id']);
    await rows(
      `insert into account_key_requests (account_id, wallet_id, client_id, family, in_flight_until) values ($1, $2, $3, 'solana-local', now())`,
      ...[made, wallet.walletId, wallet.clientId],
    );
    expect(await ask({ accountId: made, keyId: `${made}.1` })).toEqual(['business_error', 'business_error']);
  });

  test('for no wallet that is suspended or of another client', async () => {
    const { accountId, wallet } = await request();
    await rows(`update wallets set status = 'SUSPENDED' where wallet_id = $1`, wallet.walletId);
    expect(await ask({ accountId, keyId: `${accountId}.1` })).toEqual(['business_error', 'business_error']);
  });

  test('once it is bound no other, and generates none', async () => {
    const { accountId } = await request();
    await rows('update account_key_requests set attempts = 2 where account_id = $1', accountId);
    const [first, second] = [1, 2].map((attempt) => ({ accountId, keyId: `${accountId}.${attempt}` }));
    await expect(scene.authoriser.orderAccountKey(first!)).resolves.toHaveProperty('order');
    await expect(scene.authoriser.orderAccountKeyBinding(second!)).resolves.toHaveProperty('order');
    expect(await ask(first!)).toEqual(['business_error', 'business_error']);
    await expect(scene.authoriser.orderAccountKeyBinding(second!)).resolves.toHaveProperty('order');
  });
});
