import type { DataSource } from 'typeorm';
import { explainAccount } from '../../../src/cli/explain/account';
import { viewChain } from '../../../src/cli/explain/chain';
import { findSubjects } from '../../../src/cli/explain/find';
import { formatAccount, formatTransaction } from '../../../src/cli/explain/render';
import { newId } from '../../../src/platform/ids';
import { TransactionEntity } from '../../../src/transactions/entity';
import { loadAttempts } from '../../../src/transfers/load-attempts';
import { parkTransfer } from '../../../src/transfers/operate/park';
import { getSignedType } from '../../../src/signed-types';
import { buildAccount, buildUser, randomAddress } from '../../factories';
import { explain } from '../../explained';
import { openDatabase } from '../../stack/database';
import { type Fixture, ethereum, sign } from '../ledger/fixture';
import { useFundedFixture } from '../transfers/fixture';

/** What `gateway explain` reads, with the login of operators. With a workflow and a chain: transfers/explained.test.ts. */

let fixture: Fixture;
let asOperator: DataSource;
const { locked } = useFundedFixture((created) => {
  fixture = created;
});
beforeEach(async () => {
  await fixture.database.query('update order_comparison set compared_as = database_incarnation()');
  const { gateway_operator: url } = await fixture.logins();
  asOperator = await openDatabase(url);
});
afterEach(() => asOperator.destroy());

const find = async (text: string) => {
  const { transactions, accounts, isCut } = await findSubjects(asOperator.manager, text);
  return { transactions: transactions.map(({ txId }) => txId), accounts: accounts.map(({ accountId }) => accountId), isCut };
};
const alone = (txId: string) => ({ transactions: [txId], accounts: [], isCut: false });

test('a transfer is found by its id, by each hash of an attempt in any spelling, and by what its client calls it', async () => {
  const txId = await locked({ externalId: 'order-7' });
  const other = await locked({ externalId: newId() });
  const hash = await sign(fixture, txId);
  for (const text of [txId, txId.toUpperCase(), hash, hash.toUpperCase(), hash.slice(2), 'order-7'])
    expect({ text, ...(await find(text)) }).toEqual({ text, ...alone(txId) });
  const [{ external_id: uuid }] = await fixture.database.query<[{ external_id: string }]>(
    'select external_id from transactions where tx_id = $1',
    [other],
  );
  expect(await find(uuid)).toEqual(alone(other));
  for (const text of ['order-8', newId(), `0x${'1'.repeat(64)}`, randomAddress(), "'; drop", ''])
    expect({ text, ...(await find(text)) }).toEqual({ text, transactions: [], accounts: [], isCut: false });
});

test('an address of the gateway is its account, any other one names the transactions with it, and a name of several all of them', async () => {
  const { account } = fixture;
  for (const text of [account.address, account.address.toLowerCase(), account.accountId])
    expect(await find(text)).toEqual({ transactions: [], accounts: [account.accountId], isCut: false });
  const outside = randomAddress();
  const paid: string[] = [];
  for (let count = 0; count < 2; count += 1) paid.push(await locked({ toAddress: outside }));
  expect(await find(outside)).toEqual({ transactions: paid.reverse(), accounts: [], isCut: false });

  const txId = await locked({ externalId: account.address });
  expect(await find(account.address)).toEqual({ transactions: [txId], accounts: [account.accountId], isCut: false });
});

test('a list of candidates is cut', async () => {
  const outside = randomAddress();
  for (let count = 0; count < 21; count += 1) await locked({ toAddress: outside, amount: '1' });
  const found = await find(outside);
  expect([found.transactions.length, found.isCut]).toEqual([20, true]);
});

test('an accepted transfer: its funds are locked, its start waits, and its client may cancel it', async () => {
  const txId = await locked({ amount: '10' });
  const report = await explain({ database: asOperator }, txId);
  expect(report).toMatchObject({
    transaction: { tx_id: txId, type: 'OUTBOUND', client_id: fixture.client.clientId, client: fixture.client.name },
    state: { status: 'PENDING' },
    workflow: { state: 'missing' },
    undelivered: [{ kind: 'start_transfer' }],
    chain: { state: 'not_asked', note: 'Not asked: no endpoint is configured' },
    attempts: [],
    orders: [],
    timeline: [{ status: 'PENDING' }],
    audit: [{ action: 'transfer.accepted' }],
  });
  expect(report.locked).toContainEqual({ amount: '10', symbol: 'USDC' });
  expect(report.locked.map(({ symbol }) => symbol)).toEqual(['ETH', 'USDC']);
  expect(report.postings).toContainEqual(
    expect.objectContaining({ kind: 'lock', bucket: 'AVAILABLE', amount: '-10', symbol: 'USDC' }),
  );
  expect(report.state.why.join(' ')).toContain('The start of its workflow waits since');
  expect(report.actions.map(({ name }) => name)).toEqual(['retry', 'cancel']);
  expect(formatTransaction(report)).toContain(`POST /transactions/${txId}/cancel`);
});

test('while the orders are not compared a cancellation is not offered, and the reason is told', async () => {
  const txId = await locked();
  await fixture.database.query(`update order_comparison set compared_as = 'before'`);
  const report = await explain({ database: asOperator }, txId);
  expect(report.actions.map(({ name }) => name)).toEqual(['retry']);
  expect(report.state.why.join(' ')).toContain('503 reconcile_required');
});

test('one that waits for an approval: until when, and who may do what; once that time is over, or it was approved, nobody decides about it', async () => {
  const { client, database } = fixture;
  await database.query(`update clients set whitelist_mode = 'approve' where client_id = $1`, [client.clientId]);
  const txId = await locked();
  const waiting = await explain({ database: asOperator }, txId);
  const until = waiting.approval?.expires_at ?? new Date(0);
  expect((until.getTime() - Date.now()) / 3_600_000).toBeCloseTo(24, 0);
  expect(waiting).toMatchObject({
    state: { status: 'AWAITING_APPROVAL' },
    approval: { expires_at: until, approved_by: null, approved_at: null },
  });
  expect(waiting.state.why[0]).toBe(`It waits until ${until.toISOString()} for a user of the client to approve it.`);
  expect(waiting.actions.filter(({ by }) => by === 'client').map(({ name }) => name)).toEqual(['approve', 'reject', 'cancel']);
  const page = formatTransaction(waiting);
  expect(page).toContain(`\nApproval\n  expires_at   ${until.toISOString()}\n  approved_by  -\n`);
  expect(page).toContain(`approve (client): POST /transactions/${txId}/approve (with an mfa_code)`);

  const byClient = async () => {
    const { actions, approval } = await explain({ database: asOperator }, txId);
    const names = actions.filter(({ by }) => by === 'client').map(({ name }) => name);
    return { names, approvedBy: approval?.approved_by ?? null };
  };
  const expiresIn = (interval: string) =>
    database.transaction(async (manager) => {
      await manager.query('set local session_replication_role = replica');
      await manager.query('update transactions set approval_expires_at = clock_timestamp() + $2::interval where tx_id = $1', [
        txId,
        interval,
      ]);
    });
  await expiresIn('-1 second');
  expect(await byClient()).toEqual({ names: ['cancel'], approvedBy: null });
  await expiresIn('1 hour');
  const { userId } = await buildUser(database, client);
  await database.query(
    `update transactions set status = 'PENDING', version = version + 1, approved_by = $2, approved_at = clock_timestamp()
      where tx_id = $1`,
    [txId, userId],
  );
  expect(await byClient()).toEqual({ names: ['cancel'], approvedBy: userId });
});

test('an account that is used elsewhere is found among many others, for its transactions and for itself', async () => {
  const { account, database, wallet } = fixture;
  const other = await buildAccount(database, wallet, ethereum);
  const txId = await locked();
  const insert = (owner: string, accountId: string) =>
    database.query('insert into doubted_ordinals (chain, owner, account_id, reported, expected) values ($1, $2, $3, 4, 3)', [
      ...[ethereum.name, owner, accountId],
    ]);
  for (let count = 0; count < 100; count += 1) await insert(`other-${count}`, other.accountId);
  await insert(account.addressKey, account.accountId);
  const command = `gateway account accept-count ${account.accountId} ${ethereum.name} <count>`;
  const { actions } = await explain({ database: asOperator }, txId);
  expect(actions).toContainEqual(expect.objectContaining({ command }));
  const ofAccount = await explainAccount(asOperator, account);
  expect(ofAccount.used_elsewhere).toEqual([{ chain: ethereum.name, executed: '4', begun: '3' }]);
  expect(ofAccount.actions.map(({ name }) => name)).toEqual(['accept-count', 'disable']);
});

test('a parked transfer without a workflow: the reason, the attempt with its nonce, the order, and that it can be started again', async () => {
  const txId = await locked();
  const hash = await sign(fixture, txId);
  await parkTransfer(
    { database: fixture.database, getSignedType, log: { error: () => undefined, warn: () => undefined } },
    { txId, code: 'stuck', reason: 'in no block' },
  );
  await fixture.database.query('delete from workflow_outbox');
  const behind = await locked();
  const report = await explain({ database: asOperator }, txId);
  expect(report).toMatchObject({
    state: { status: 'NEEDS_ATTENTION', failure_code: 'stuck', failure: 'in no block' },
    attempts: [{ attempt: 1, kind: 'first', ids: [hash], on_record: 'signed', chain_now: null }],
    orders: [{ kind: 'transfer', attempt: 1 }],
  });
  expect(report.attempts[0]?.resources).toHaveLength(1);
  expect(report.actions.map(({ name }) => name)).toEqual(['retry']);
  expect(report.state.why.join(' ')).toContain('its workflow is not running');
  // what comes after it waits for it
  expect((await explain({ database: asOperator }, behind)).state.why).toContain(
    `Transaction ${txId} of the same sender comes first.`,
  );
});

test('webhooks: each event with its last answer, without the path of the url and the text of the answer', async () => {
  const { database, client } = fixture;
  const webhookId = newId();
  await database.query(
    `insert into webhook_endpoints (webhook_id, client_id, url, secret, secret_created_by) values ($1, $2, 'https://example.com/hook?key=hidden', '\\x00', $1)`,
    [webhookId, client.clientId],
  );
  const txId = await locked();
  const [{ delivery_id: deliveryId }] = await database.query<[{ delivery_id: string }]>(
    'select delivery_id from webhook_deliveries where subject_id = $1',
    [txId],
  );
  await database.query(
    `insert into webhook_attempts (delivery_id, attempt, at, duration_ms, status_code, excerpt) values ($1, 1, now(), 5, 500, 'hidden')`,
    [deliveryId],
  );
  await database.query(
    `update webhook_deliveries set status = 'failed', attempts = 1, ended_at = now(), next_attempt_at = null, undispatched_since = null where delivery_id = $1`,
    [deliveryId],
  );
  const report = await explain({ database: asOperator }, txId);
  expect(report.webhooks).toMatchObject([
    { endpoint: 'https://example.com', kind: 'transaction.created', tx_status: 'PENDING', status: 'failed', last_answer: '500' },
  ]);
  expect(report.actions).toContainEqual(
    expect.objectContaining({ name: 'resend', command: `POST /webhooks/${webhookId}/deliveries/${deliveryId}/resend` }),
  );
  expect(JSON.stringify(report) + formatTransaction(report)).not.toContain('hidden');
  await expect(asOperator.query('select excerpt from webhook_attempts')).rejects.toThrow('permission denied');
});

test('a deposit has no workflow, and its block is compared with that of the chain', async () => {
  const [{ tx_id: txId, block_hash: hash }] = await fixture.database.query<[{ tx_id: string; block_hash: string }]>(
    `select tx_id, block_hash from transactions where transaction_type = 'INBOUND' limit 1`,
  );
  const showing = (shown: string) =>
    ({
      head: () => Promise.resolve({ number: 9 }),
      block: (number: number) => Promise.resolve({ number, hash: shown, parentHash: '' }),
    }) as never;
  const report = await explain({ database: asOperator, client: showing(hash) }, txId);
  expect(report).toMatchObject({
    state: { status: 'CONFIRMED', why: ['Credited.'] },
    workflow: { state: 'none' },
    chain: { state: 'answered', note: 'Block 1 is on the chain as it is on record', head: 9 },
    actions: [],
  });
  const other = await explain({ database: asOperator, client: showing('0x') }, txId);
  expect(other.chain.note).toBe('The chain has another block 1 than the one on record');
});

test('an endpoint that fails is named with its problem; the rest of the page is there', async () => {
  const txId = await locked();
  const client = { head: () => Promise.reject(new Error('connection refused')) } as never;
  const report = await explain({ database: asOperator, client }, txId);
  expect(report.chain).toMatchObject({ state: 'silent', note: expect.stringContaining('connection refused') });
  expect(report.timeline).toHaveLength(1);
});

test('rows that cannot be read are not told as the silence of the endpoint', async () => {
  const txId = await locked();
  await sign(fixture, txId);
  const [tx, attempts] = await Promise.all([
    asOperator.manager.findOneByOrFail(TransactionEntity, { txId }),
    loadAttempts(asOperator.manager, txId),
  ]);
  const failing = { query: () => Promise.reject(new Error('connection lost')) } as never;
  const client = { head: () => Promise.resolve({ number: 9 }) } as never;
  expect(await viewChain(failing, () => client, tx, attempts)).toMatchObject({
    state: 'not_asked',
    note: 'Not asked, since its rows cannot be read: connection lost',
  });
});

test('an account: its balances and what is open of it; a frozen asset can be released', async () => {
  const { account, database } = fixture;
  const txId = await locked({ amount: '10' });
  await database.query(`update ledger_accounts set frozen_reason = 'a shortfall' where symbol = 'ETH'`);
  const report = await explainAccount(asOperator, account);
  expect(report.account).toMatchObject({ account_id: account.accountId, address: account.address, status: 'ACTIVE' });
  expect(report.balances).toMatchObject([
    { symbol: 'ETH', frozen_for: 'a shortfall' },
    { symbol: 'USDC', available: '990', locked: '10', frozen_for: null },
  ]);
  expect(report.open_transactions).toMatchObject([{ tx_id: txId, status: 'PENDING' }]);
  expect(report.actions.map(({ name }) => name)).toEqual(['unfreeze', 'disable']);
  expect(formatAccount(report)).toContain('a shortfall');
  await database.query(`update ledger_accounts set frozen_reason = null`);
});
