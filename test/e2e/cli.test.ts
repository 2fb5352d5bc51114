import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { projectRoot } from '../../dev/paths';
import { createActiveWallet, send, stack, waitFor } from '../stack/client';
import { gateway, json, nodeCerts } from './gateway';
import { type Account, addAsset, balances, call, fundedAccount, transferAndWait } from './support';

/** The operators' command line on the running stack, each command a process of its own. */

const outside = '0x52908400098527886E0F7030069857D2E4169EE7';
const name = `acme ${Date.now()}`;

const login = (api_key: string, api_secret: string) =>
  send<{ token: string }>('POST', `${stack().base_url}/auth/token`, {
    headers: { 'x-api-key': api_key, 'x-api-secret': api_secret },
  });
const transfer = (from: Account, changes: object = {}) =>
  call('POST', '/transfer', {
    body: { from_address: from.address, to_address: outside, chain: 'ethereum', token_symbol: 'USDT', amount: '2', ...changes },
  });

let walletId: string;
let account: Account;
beforeAll(async () => {
  // not the one that all test files share: this one is limited and suspended
  walletId = (await createActiveWallet()).wallet_id;
  account = await fundedAccount('ethereum', { ETH: '1', USDT: '50' }, walletId);
});

describe('clients, users and API keys', () => {
  test('the key of a new client works and shows nothing of other clients; its secret is shown once', async () => {
    const client = await json('client', 'create', name);
    expect(client).toMatchObject({ client_id: expect.any(String), name, status: 'ACTIVE' });
    const user = await json('user', 'create', name, 'ops');
    const key = await json('api-key', 'create', client.client_id, user.user_id);
    const { status, body } = await login(key.api_key, key.api_secret);
    expect(status).toBe(200);
    const wallets = await send('GET', `${stack().base_url}/wallets`, { headers: { authorization: `Bearer ${body.token}` } });
    expect(wallets.body).toEqual({ data: [], total: 0, has_more: false });

    const listed = await gateway(['api-key', 'list', name]);
    expect(listed.out).toContain(key.api_key);
    const rows = await query('select row_to_json(k)::text as row from api_keys k');
    for (const text of [listed.out, JSON.stringify(await json('api-key', 'list')), JSON.stringify(rows)])
      expect(text).not.toContain(key.api_secret);
    expect((await gateway(['api-key', 'create', name, 'ops'])).out).toMatch(
      /api_secret +gs_\S{43}\n[\s\S]*cannot be shown again/,
    );
  });

  test.each<[string, (key: { api_key: string }, userId: string) => string[], string[] | null]>([
    ['a revoked key', ({ api_key }) => ['api-key', 'revoke', api_key, '--yes'], null],
    ['a disabled user', (_, userId) => ['user', 'disable', userId], ['user', 'enable']],
    ['a disabled client', () => ['client', 'disable', name], ['client', 'enable', name]],
  ])('%s stops working within 5 s', async (_, disable, enable) => {
    const [{ user_id }] = await json('user', 'list', name);
    const key = await json('api-key', 'create', name, user_id as string);
    const { body } = await login(key.api_key, key.api_secret);
    const read = () => send('GET', `${stack().base_url}/wallets`, { headers: { authorization: `Bearer ${body.token}` } });
    expect((await read()).status).toBe(200);
    await json(...disable(key, user_id as string));
    const answers = waitFor(async () => (await read()).status === 401, { timeoutMs: 5_000, intervalMs: 100 });
    expect((await login(key.api_key, key.api_secret)).status).toBe(401);
    await answers;
    if (!enable) return;
    await json(...enable, ...(enable[0] === 'user' ? [user_id as string] : []));
    expect((await login(key.api_key, key.api_secret)).status).toBe(200);
  });

  test('the policy for a client’s transfers is shown and set', async () => {
    expect(await json('client', 'policy', name)).toMatchObject({ whitelist: 'off', cooling_seconds: 0, self_approval: 'refuse' });
    const set = { whitelist: 'approve', cooling_seconds: 60, self_approval: 'allow' };
    const changes = ['--whitelist', 'approve', '--cooling', '60', '--self-approval', 'allow'];
    expect(await json('client', 'policy', name, ...changes)).toMatchObject(set);
    const wrong = await gateway(['client', 'policy', name, '--whitelist', 'never']);
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('must be one of off, approve, only')]);
    expect(await json('client', 'policy', name)).toMatchObject(set);
  });

  test('names are unique, and what is unknown or wrong ends with its exit code and a sentence', async () => {
    for (const [args, code, sentence] of [
      [['client', 'create', name], 1, `There is already a client named ${name}`],
      [['client', 'create', ''], 1, 'A name must have 1 to 100 characters'],
      [['user', 'create', name, 'ops'], 1, 'This client already has a user named ops'],
      [['api-key', 'create', name, 'nobody'], 1, 'user nobody of this client not found'],
      [['api-key', 'revoke', 'nope', '--yes'], 1, 'API key nope not found'],
      [['api-key', 'revoke', 'nope'], 1, 'cannot be undone: repeat the command with --yes'],
      [['api-key', 'revoke', 'nope', '--yes', '--reason', ' '], 2, 'must have 1 to 500 characters'],
      [['explain', 'nope'], 1, 'not found'],
      [['account', 'list', '--wallet', 'nope'], 1, 'wallet nope not found'],
      [['asset', 'list', 'nope'], 1, 'account nope not found'],
      [['wallet', 'suspend', 'nope'], 1, 'wallet nope not found'],
      [['client'], 2, 'Usage: gateway client'],
      [['nope'], 2, "unknown command 'nope'"],
      [['asset', 'unfreeze', 'nope', '--yes'], 1, 'asset nope not found'],
      [['orders', 'show', 'nope'], 1, 'transaction nope not found'],
      [['audit', 'list', '--since', 'yesterday'], 2, 'a time such as 2025-01-31'],
      [['audit', 'verify', '--head', '1:abc'], 2, 'number:hash'],
      [['transfers', 'list', '--limit', '0'], 2, 'must be a number from 1 to 1000'],
    ] as [string[], number, string][]) {
      const { code: ended, err } = await gateway(args);
      expect({ args, ended, err }).toEqual({ args, ended: code, err: expect.stringContaining(sentence) });
    }
    expect(await gateway(['client', 'list'], { DATABASE_URL: 'postgres://a:b@127.0.0.1:1/c' })).toMatchObject({
      code: 69,
      err: 'gateway: the database is unreachable\n',
    });
    expect(await gateway(['client', 'list'], { DATABASE_URL: 'nope' })).toMatchObject({
      code: 78,
      err: expect.stringContaining('DATABASE_URL'),
    });
  });
});

test.each(['bitcoin', 'tron'])('settlers are not created on %s, where no payments are settled', async (chain) => {
  const { code, out, err } = await gateway(['settlers', 'create', chain], { CHAINS: chain, ...nodeCerts() });
  expect({ code, out, err }).toEqual({
    ...{ code: 1, out: '' },
    err: `gateway: chain: no payments are settled on ${chain}, so it needs no settler\n`,
  });
});

describe('settings of operators', () => {
  test('a wallet’s limit refuses a transfer with business_error until it is cleared', async () => {
    expect(await json('wallet', 'limit', 'set', walletId, 'USDT', '--max-single', '1.5')).toEqual({
      symbol: 'USDT',
      max_single: '1.5',
      max_daily: null,
    });
    const over = await transfer(account);
    expect([over.status, over.body.code, over.body.detail]).toEqual([400, 'business_error', expect.stringContaining('1.5 USDT')]);
    await json('wallet', 'limit', 'set', walletId, 'USDT', '--max-single', 'none', '--max-daily', '0.5');
    expect((await transfer(account, { amount: '1' })).body).toMatchObject({ code: 'business_error' });
    expect(await json('wallet', 'limit', 'show', walletId)).toContainEqual({
      symbol: 'USDT',
      max_single: null,
      max_daily: '0.5',
    });
    expect((await balances(account.account_id, 'ethereum')).USDT).toEqual({ balance: '50', locked_balance: '0' });
    expect(await json('wallet', 'limit', 'clear', walletId, 'USDT')).toMatchObject({ max_single: null, max_daily: null });
    expect((await transfer(account)).status).toBe(202);
    expect((await gateway(['wallet', 'limit', 'set', walletId, 'USDT', '--max-single', '-1'])).code).toBe(1);
    expect(await gateway(['wallet', 'limit', 'set', walletId, 'usdt', '--max-single', '1'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('Allowed choices are'),
    });
  });

  test('a suspended wallet answers wallet_not_active to transfers and accounts', async () => {
    expect(await json('wallet', 'suspend', walletId)).toMatchObject({ status: 'SUSPENDED' });
    const body = { wallet_id: walletId, chain: 'ethereum' };
    for (const answer of [await transfer(account), await call('POST', '/accounts', { body })])
      expect([answer.status, answer.body.code]).toEqual([400, 'wallet_not_active']);
    expect((await call('GET', `/wallets/${walletId}`)).body.status).toBe('SUSPENDED');
    await json('wallet', 'resume', walletId);
    expect((await call('POST', '/accounts', { body })).status).toBe(201);
  });

  test('a disabled account answers account_not_active to transfers and assets', async () => {
    expect(await json('account', 'disable', account.account_id)).toMatchObject({ status: 'INACTIVE' });
    const body = { account_id: account.account_id, symbol: 'USDC', chain: 'ethereum' };
    for (const answer of [await transfer(account), await call('POST', '/assets', { body })])
      expect([answer.status, answer.body.code]).toEqual([400, 'account_not_active']);
    await json('account', 'enable', account.account_id);
    await addAsset(account.account_id, 'USDC', 'ethereum');
  });
});

describe('transfers and the ledger', () => {
  test('list and show', async () => {
    const body = { from_address: account.address, to_address: outside, chain: 'ethereum', token_symbol: 'USDT', amount: '1' };
    const { tx_id, tx_hash } = await transferAndWait(body);
    // other files send more than a hundred meanwhile
    const newest = await json('transfers', 'list', '--client', 'demo', '--status', 'CONFIRMED', '--limit', '1000');
    const listed = { tx_id, tx_hash, amount: '1', symbol: 'USDT', status: 'CONFIRMED', failure_code: null };
    expect(newest).toContainEqual(expect.objectContaining(listed));
    expect(await json('transfers', 'list', '--client', name)).toEqual([]);
    const shown = await json('transfers', 'show', tx_id as string);
    expect(shown.timeline.map(({ status }: { status: string }) => status)).toEqual([
      'PENDING',
      'SIGNING',
      'SUBMITTED',
      'CONFIRMED',
    ]);
    expect(shown.attempts).toEqual([expect.objectContaining({ attempt: 1, kind: 'first', tx_hash })]);
    expect((await gateway(['transfers', 'show', tx_id as string])).out).toMatch(/Timeline\n[\s\S]*CONFIRMED[\s\S]*Attempts\n/);
    const { orders } = await json('orders', 'show', tx_id as string);
    expect(orders).toEqual([expect.objectContaining({ attempt: 1, kind: 'transfer', signature: 'not checked' })]);
    const secrets = path.join(path.dirname(process.env.GATEWAY_TEST_STACK ?? ''), 'secrets');
    const keys = { ORDER_KEYS_FILE: path.join(secrets, 'order-keys.json'), ...nodeCerts() };
    expect((await gateway(['orders', 'show', tx_id as string], keys)).out).toMatch(
      /kid +signature[\s\S]* valid [\s\S]*Nodes\n[\s\S]*Journals\n[\s\S]* admitted .* signed /,
    );
    const joined = JSON.parse((await gateway(['orders', 'show', tx_id as string, '--json'], keys)).out);
    expect(joined.nodes.map(({ state }: { state: string }) => state)).toEqual(['verified', 'verified', 'verified']);
    expect(joined.without_order).toEqual([]);
    const signed = joined.orders[0].journal.filter(({ outcome }: { outcome: string }) => outcome === 'signed');
    expect(signed).toHaveLength(2);
    for (const record of signed)
      expect(record).toMatchObject({ as_ordered: true, session: expect.stringMatching(/^[0-9a-f]+$/) });
    for (const act of ['retry', 'abandon'])
      expect(await gateway(['transfers', act, tx_id as string, '--dry-run'])).toMatchObject({
        code: 1,
        err: expect.stringContaining('would not be taken now: the transaction is CONFIRMED'),
      });
    await replays(tx_id as string);
    expect(await gateway(['transfers', 'retry', tx_id as string])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/CONFIRMED.*retr(y|ied)/),
    });
  });

  test('ledger verify: 0 while the books balance', async () => {
    expect(await gateway(['ledger', 'verify'])).toMatchObject({ code: 0, out: 'the ledger balances\n' });
    expect(await json('ledger', 'verify')).toEqual([]);
  });

  test('the audit log: list, head, and verify, which ends with 1 and names the row when one was changed', async () => {
    const [disabled, ...more] = await json('audit', 'list', '--client', name, '--action', 'client.disabled', '--limit', '1');
    expect([disabled, more]).toEqual([
      expect.objectContaining({ action: 'client.disabled', outcome: 'success', actor_type: 'operator', subject_type: 'client' }),
      [],
    ]);
    expect((await gateway(['audit', 'list', '--subject', disabled.subject_id as string])).out).toMatch(/client\.created/);

    // sealed by the running API
    const sealed = 'select audit_id from audit_seal_entries where audit_id = $1';
    await waitFor(async () => (await query(sealed, [disabled.audit_id])).length > 0);
    const { found: none, head } = await json('audit', 'verify');
    expect(none).toBe(0);
    expect(await json('audit', 'head')).toMatchObject({ seq: expect.any(Number), hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(await gateway(['audit', 'verify', '--head', head])).toMatchObject({
      code: 0,
      out: expect.stringContaining('the audit log matches its seals'),
    });

    const change = (actor: string) =>
      asSuperuser('audit_events', 'update audit_events set actor_id = $1 where audit_id = $2', [actor, disabled.audit_id]);
    await change('nobody');
    const [found, shown] = [await gateway(['audit', 'verify', '--json']), await gateway(['audit', 'verify'])];
    await change(disabled.actor_id as string);
    expect([found.code, found.err]).toEqual([1, 'gateway: 1 finding\n']);
    expect(JSON.parse(found.out).findings).toEqual([
      { audit_id: disabled.audit_id, seal: expect.any(Number), problem: 'was changed after it was sealed' },
    ]);
    expect([shown.code, shown.out]).toEqual([1, expect.stringContaining(disabled.audit_id as string)]);
    expect((await gateway(['audit', 'verify', '--head', head])).code).toBe(0);
  });

  test('migrate and temporal setup have nothing left to do', async () => {
    expect(await json('migrate')).toEqual([]);
    expect(await json('temporal', 'setup')).toEqual([]);
  });

  test('temporal setup makes the namespace once, and refuses to work in one that is missing', async () => {
    const other = { TEMPORAL_NAMESPACE: 'made-by-setup' };
    expect((await gateway(['temporal', 'setup'], other)).code).toBe(1);
    const made = await gateway(['temporal', 'setup', '--create-namespace', '--retention-days', '3'], other);
    expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^made: namespace made-by-setup\n(all|registered)/)]);
    const again = await gateway(['temporal', 'setup', '--create-namespace'], other);
    expect([again.code, again.out]).toEqual([0, 'all search attributes are registered\n']);
  });
});

/** From a file that the command has written, and from the Temporal of the stack. */
async function replays(txId: string): Promise<void> {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'history-')), 'history.json');
  writeFileSync(file, (await gateway(['transfers', 'history', txId])).out);
  for (const source of [file, txId]) {
    const command = [path.join(projectRoot, 'dist/dev/replay/index.js'), source];
    const { stdout } = await promisify(execFile)(process.execPath, command, { env: process.env });
    expect(stdout).toMatch(/^transfer, started at [\s\S]* broadcast: accepted\n[\s\S]* end: CONFIRMED\n\nREPLAYS: /);
  }
  rmSync(path.dirname(file), { recursive: true });
}

async function query(statement: string, parameters: unknown[] = []): Promise<unknown[]> {
  const database = new Client(stack().postgres.url);
  await database.connect();
  try {
    return (await database.query(statement, parameters)).rows;
  } finally {
    await database.end();
  }
}

/** Bypasses the triggers of a table in one database transaction, so that they stay enabled for all others. */
async function asSuperuser(table: string, statement: string, parameters: unknown[]): Promise<void> {
  const database = new Client(stack().postgres.url);
  await database.connect();
  try {
    await database.query(`begin; alter table ${table} disable trigger user`);
    await database.query(statement, parameters);
    await database.query(`alter table ${table} enable trigger user; commit`);
  } finally {
    await database.end();
  }
}
