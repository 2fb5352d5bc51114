import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { Address } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { statusQuery } from '../../src/messages/progress';
import { distributeBlacklistWorkflowId, transferWorkflowId } from '../../src/messages/workflow-ids';
import { stack, waitFor } from '../stack/client';
import { withTemporal } from '../stack/temporal';
import { call, ends, fundedAccount, transactionWhen, type Account } from './support';

let account: Account;
let database: Client;
let clientId: string;
beforeAll(async () => {
  account = await fundedAccount('ethereum', { ETH: '1' });
  database = new Client({ connectionString: stack().postgres.url });
  await database.connect();
  const { rows } = await database.query<{ client_id: string }>('select client_id from accounts where account_id = $1', [
    account.account_id,
  ]);
  clientId = String(rows[0]?.client_id);
});
afterAll(() => database.end());

const transfer = (to: Address) =>
  call('POST', '/transfer', {
    body: { from_address: account.address, to_address: to, chain: 'ethereum', token_symbol: 'ETH', amount: '0.1' },
  });
const setStatus = (address: Address, status: 'active' | 'inactive') =>
  database.query('update security_factors set status = $2 where address = $1', [address, status]);

/** The transfers of other files on the chain may be carried out first. */
const afterOthers = { timeoutMs: 90_000 };

/** Resolves once all three nodes have the client's current blacklist. */
async function delivered(): Promise<void> {
  await waitFor(async () => {
    const { rows } = await database.query('select 1 from blacklist_versions where client_id = $1 and dispatched = version', [
      clientId,
    ]);
    return rows.length > 0;
  }, afterOthers);
  await withTemporal((temporal) => temporal.workflow.getHandle(distributeBlacklistWorkflowId(clientId)).result());
}

test('a blacklisted address is refused by the API, and by the nodes themselves when all before them let it pass', async () => {
  const to = privateKeyToAccount(generatePrivateKey()).address;
  await database.query(
    `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, added_by)
     select $1, $2, 'BLACKLIST', 'ethereum', $3, lower($3), user_id from users where client_id = $2 limit 1`,
    [randomUUID(), clientId, to],
  );
  const refused = await transfer(to.toLowerCase() as Address);
  expect([refused.status, refused.body.code]).toEqual([403, 'address_blacklisted']);
  await delivered();

  // simulates tampering with the gateway's database: the nodes get no change
  await database.query('alter table security_factors disable trigger security_factors_changed');
  await setStatus(to, 'inactive');
  const { status, body } = await transfer(to);
  expect(status).toBe(202);
  const txId = body.tx_id as string;
  const waiting = await waitFor(async () => {
    const { body: tx } = await call('GET', `/transactions/${txId}`);
    // its client is not told what nodes say
    if (tx.status !== 'SIGNING' || /on this node's copy/.test(JSON.stringify(tx))) return false;
    const said = await withTemporal((temporal) => temporal.workflow.getHandle(transferWorkflowId(txId)).query(statusQuery));
    return /on this node's copy of the client's blacklist/.test(said.detail) && tx;
  }, afterOthers);
  expect(waiting).toMatchObject({ status: 'SIGNING', tx_hash: null });

  // removed from the list regularly, in one step: the nodes get the change and sign
  await database.query('begin');
  await setStatus(to, 'active');
  await database.query('alter table security_factors enable trigger security_factors_changed');
  await setStatus(to, 'inactive');
  await database.query('commit');
  expect((await transactionWhen(txId, ends)).status).toBe('CONFIRMED');
});
