import { randomAddress } from '../factories';
import { loginOf, refusal } from './processes';
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
  ['change a limit', `delete from wallet_limits`],
  ['change a policy', `update clients set whitelist_mode = 'off'`],
  ['add a user', `insert into users (user_id, client_id, name) select gen_random_uuid(), client_id, 'mallory' from clients`],
  ['change an API key', `update api_keys set revoked_at = null`],
  ['change a stored amount', `update transactions set amount = amount + 1 where tx_id = :tx`],
  ['change a stored destination', `update transactions set to_address = :address, to_address_key = :address where tx_id = :tx`],
  ['change a stored address', `update accounts set address = :address, address_key = :address where account_id = :account`],
  ['remove an audit row', `delete from audit_events`],
])('with its login it cannot %s', async (_, statement) => {
  const values = { tx: ordered.txId, account: scene.account.account_id, address: randomAddress().toLowerCase() };
  const sql = statement.replace(/:(tx|account|address)/g, (_match, name: keyof typeof values) => `'${values[name]}'`);
  expect(await refusal(loginOf('gateway_api'), sql)).toBe(insufficientPrivilege);
});
