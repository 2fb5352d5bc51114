import { randomUUID } from 'node:crypto';
import { call } from '../e2e/support';
import { randomAddress } from '../factories';
import { pids } from '../stack/pause';
import { environmentOf, gatewayQuery, loginOf, query, refusal } from './processes';
import { isConfirmed, Scene, withoutWorker } from './scene';
import { type OrderedTransfer } from './transfers';

/** SECURITY.md, row `API`: somebody has the API's login. What it can start is what any client can. */

const insufficientPrivilege = '42501';

const scene = new Scene();
let ordered: OrderedTransfer;
beforeAll(async () => {
  ordered = await withoutWorker(() => scene.order());
}, 120_000);
afterAll(() => isConfirmed(ordered));

test.each([
  [
    'begin signing',
    `update transactions set status = 'SIGNING', version = version + 1, signing_begun_at = now() where tx_id = :tx`,
  ],
  ['insert an order', `insert into orders (jti, seq, kind, claims) values (gen_random_uuid(), 1, 'transfer', '{}')`],
  [
    'insert a reservation',
    `insert into reservations (chain, owner, resource, ordinal, tx_id) values ('ethereum', :address, '9', 9, :tx)`,
  ],
  ['credit a balance', `update ledger_accounts set available = available + 1`],
  [
    'post a deposit',
    `insert into ledger_postings (posting_id, tx_id, kind, seq, entries) values (gen_random_uuid(), :tx, 'deposit', 9, 2)`,
  ],
  [
    'lock the balance of another transfer',
    `insert into ledger_postings (posting_id, tx_id, kind, seq, entries) values (gen_random_uuid(), :tx, 'lock_more', 9, 2)`,
  ],
  ['report what a chain has executed', `update transfer_attempts set success = true where tx_id = :tx`],
  ['end a transfer', `update transactions set status = 'FAILED', version = version + 1 where tx_id = :tx`],
  ['change a limit', `delete from wallet_limits`],
  ['change a policy', `update clients set whitelist_mode = 'off'`],
  ['add a user', `insert into users (user_id, client_id, name) select gen_random_uuid(), client_id, 'mallory' from clients`],
  ['change a user', `update users set status = 'disabled'`],
  ['change an API key', `update api_keys set revoked_at = null`],
  ['change a stored amount', `update transactions set amount = amount + 1 where tx_id = :tx`],
  ['change a stored destination', `update transactions set to_address = :address, to_address_key = :address where tx_id = :tx`],
  ['change a stored address', `update accounts set address = :address, address_key = :address where account_id = :account`],
  ['attest a key', `insert into wallet_attestations (wallet_id, node, statement, signature) values (:wallet, 1, '', '')`],
  ['read orders', `select claims from orders`],
  ['remove an audit row', `delete from audit_events`],
])('with its login it cannot %s', async (_, statement) => {
  const { account_id: account, walletId: wallet } = scene.account;
  const values = { tx: ordered.txId, account, wallet, address: randomAddress().toLowerCase() };
  const sql = statement.replace(/:(tx|account|wallet|address)/g, (_match, name: keyof typeof values) => `'${values[name]}'`);
  expect(await refusal(loginOf('gateway_api'), sql)).toBe(insufficientPrivilege);
});

test('it has neither the order key nor anything of a node’s but certificates', () => {
  const [pid = 0] = pids('api');
  const names = Object.keys(environmentOf(pid)).filter((name) => /^(ORDER_KEY|DEPLOYMENT_ID|MPC_NODE_)/.test(name));
  expect(names.sort()).toEqual(['MPC_NODE_HEALTH_URLS', 'MPC_NODE_PEER_CERTS_FILE']);
});

test('can store an address of its own for a new account, which an honest API does not show', async () => {
  const [accountId, address] = [randomUUID(), randomAddress()];
  await query(
    loginOf('gateway_api'),
    `insert into accounts (account_id, wallet_id, client_id, family, chain, network, address, address_key, key_id, key_protocol,
       derivation_path, address_index)
     select $1, wallet_id, client_id, family, chain, network, $2, lower($2), key_id, key_protocol, derivation_path, address_index + 1000
       from accounts where account_id = $3`,
    [accountId, address, scene.account.account_id],
  );
  try {
    expect(await call('GET', `/accounts/${accountId}`)).toMatchObject({ status: 409, body: { code: 'address_differs' } });
    expect(JSON.stringify(await call('GET', `/accounts?wallet_id=${scene.account.walletId}`))).not.toContain(address);
  } finally {
    await gatewayQuery('delete from accounts where account_id = $1', [accountId]);
  }
});
