import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';
import { version } from '../../../package.json';
import { runGateway } from '../../stack/gateway-command';
import { type Fixture } from '../ledger/fixture';
import { useFundedFixture } from '../transfers/fixture';

/** The command itself, as a process on a real database, without Temporal. On the whole stack: test/e2e/cli.test.ts. */

jest.setTimeout(180_000);

let fixture: Fixture;
let settings: Record<string, string>;
const { locked } = useFundedFixture((created) => {
  fixture = created;
});
beforeEach(async () => {
  const { gateway_operator: url } = await fixture.logins();
  settings = { DATABASE_URL: url, TEMPORAL_ADDRESS: '127.0.0.1:1', CHAINS: 'ethereum', GATEWAY_OPERATOR: 'ann' };
});
const gateway = (...args: string[]) => runGateway(args, settings);
const json = async (...args: string[]) => {
  const { code, out, err } = await gateway(...args, '--json');
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
};

test('--version needs no database', async () => {
  expect(await runGateway(['--version'], {})).toEqual({ code: 0, out: `${version}\n`, err: '' });
});

test('without a stack and without variables it says which one is missing, and how a stack is started', async () => {
  const { code, err } = await runGateway(['client', 'list'], { GATEWAY_DEV_DIR: '/nowhere' });
  expect([code, err]).toEqual([
    78,
    expect.stringMatching(/^gateway: DATABASE_URL is required\ngateway: no stack .*`npm run dev`/),
  ]);
});

test('a reader that closes the pipe ends nothing with an error', async () => {
  await locked();
  const env = { PATH: process.env.PATH ?? '', GATEWAY_ENV: 'local', ...settings };
  const child = spawn(process.execPath, [path.join(projectRoot, 'bin', 'gateway.js'), 'transfers', 'list'], { env });
  // before anything is written
  child.stdout.destroy();
  let err = '';
  child.stderr.on('data', (text) => (err += String(text)));
  const [code] = (await once(child, 'close')) as [number | null];
  expect({ code, err }).toEqual({ code: 0, err: '' });
});

test('accounts and assets are listed, since commands need their ids', async () => {
  const { account, client, wallet } = fixture;
  const row = { account_id: account.accountId, address: account.address, status: 'ACTIVE' };
  expect(await json('account', 'list')).toMatchObject([row]);
  expect(await json('account', 'list', client.name, '--wallet', wallet.walletId)).toMatchObject([row]);
  expect(await json('asset', 'list', account.accountId)).toMatchObject([
    { symbol: 'ETH', available: '10', frozen_for: null },
    { symbol: 'USDC', available: '1000', frozen_for: null },
  ]);
  expect(await json('asset', 'list', '--frozen')).toEqual([]);
  expect((await gateway('account', 'list', '--wallet', 'nope')).err).toBe('gateway: wallet nope not found\n');
});

test('what cannot be undone needs --yes where nobody can be asked, and its reason is in the audit log', async () => {
  const { database } = fixture;
  await database.query(`update ledger_accounts set frozen_reason = 'a shortfall' where symbol = 'ETH'`);
  const [{ asset_id: id }] = await json('asset', 'list', '--frozen');
  const refused = await gateway('asset', 'unfreeze', id);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('repeat the command with --yes') });
  expect(await json('asset', 'list', '--frozen')).toHaveLength(1);
  expect(await json('asset', 'unfreeze', id, '--yes', '--reason', 'paid back')).toMatchObject({ was_frozen_for: 'a shortfall' });
  const [row] = await json('audit', 'list', '--action', 'asset.unfrozen');
  expect(row).toMatchObject({ actor_id: 'ann', detail: { reason: 'a shortfall', stated_reason: 'paid back' } });
});

test('--dry-run says what would be done, asks nobody and changes nothing', async () => {
  const { database } = fixture;
  const txId = await locked();
  await database.query(`update ledger_accounts set frozen_reason = 'a shortfall' where symbol = 'ETH'`);
  const [{ asset_id: id }] = await json('asset', 'list', '--frozen');
  const before = await json('audit', 'list');
  expect(await json('asset', 'unfreeze', id, '--dry-run')).toMatchObject({ asset_id: id, frozen_for: 'a shortfall' });
  expect(await json('asset', 'list', '--frozen')).toHaveLength(1);
  // without Temporal nobody knows what would be done
  for (const act of ['retry', 'abandon'])
    expect(await gateway('transfers', act, txId, '--dry-run')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining(`${act} would not be taken now: the transaction is PENDING. Temporal did not answer`),
    });
  expect(await json('audit', 'list')).toEqual(before);
});

test('migrate says what it would apply, and asks before it changes a schema that is in use', async () => {
  const { database } = fixture;
  const migrate = (...args: string[]) =>
    runGateway(['migrate', ...args], { DATABASE_OWNER_URL: fixture.url, GATEWAY_OPERATOR: 'ann' });
  expect(await migrate('--dry-run')).toEqual({ code: 0, out: 'the schema is up to date\n', err: '' });
  const [newest] = await database.query<{ id: number; name: string }[]>(
    'select id, name from migrations order by id desc limit 1',
  );
  await database.query('delete from migrations where id = $1', [newest?.id]);
  expect(await migrate('--dry-run')).toMatchObject({ code: 0, out: `would be applied: ${newest?.name}\n` });
  expect(await migrate()).toMatchObject({ code: 1, out: '', err: expect.stringContaining(`${newest?.name} cannot be undone`) });
  expect(await json('audit', 'list', '--action', 'schema.migrated')).toEqual([]);
});

test('the reason of what can be undone is in the audit log too', async () => {
  const { account, client, wallet } = fixture;
  const acts: [string, string[]][] = [
    ['wallet.suspended', ['wallet', 'suspend', wallet.walletId]],
    ['wallet.limit_changed', ['wallet', 'limit', 'set', wallet.walletId, 'USDC', '--max-single', '5']],
    ['account.disabled', ['account', 'disable', account.accountId]],
    ['client.policy_changed', ['client', 'policy', client.name, '--whitelist', 'only']],
  ];
  for (const [action, act] of acts) {
    await json(...act, '--reason', `as ${action}`);
    const [row] = await json('audit', 'list', '--action', action);
    expect(row).toMatchObject({ actor_id: 'ann', outcome: 'success', detail: { stated_reason: `as ${action}` } });
  }
});

describe('explain', () => {
  let silent: Server;
  const sockets = new Set<import('node:net').Socket>();
  beforeEach(async () => {
    silent = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  test('without Temporal, and with an endpoint that takes connections and says nothing: the page is there, and says so', async () => {
    const txId = await locked({ externalId: 'order-1' });
    settings.CHAIN_ETHEREUM_RPC_URLS = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/secret-key`;
    // each waits for the endpoint
    const [{ code, out, err }, report] = await Promise.all([gateway('explain', 'order-1'), json('explain', txId)]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(txId);
    expect(out).toContain('Temporal did not answer');
    expect(out).toContain('The endpoint of ethereum did not answer');
    expect(out).toContain(`cancel (client): POST /transactions/${txId}/cancel`);
    // whether its workflow is running is not known
    expect(out).not.toContain('transfers retry');
    expect(out).not.toContain('secret-key');
    expect(report).toMatchObject({
      transaction: { tx_id: txId, external_id: 'order-1' },
      chain: { state: 'silent' },
      workflow: { state: 'silent' },
    });
  });

  test('what is not found, and what names several, ends with exit code 1', async () => {
    expect(await gateway('explain', 'nope')).toMatchObject({ code: 1, out: '', err: expect.stringContaining('not found') });
    const { account } = fixture;
    expect((await json('explain', account.address)).account).toMatchObject({ account_id: account.accountId });
    await locked({ externalId: account.address });
    const several = await gateway('explain', account.address, '--json');
    expect(several).toMatchObject({ code: 1, err: expect.stringContaining('names several') });
    expect(JSON.parse(several.out)).toMatchObject({
      candidates: { accounts: [{ account_id: account.accountId }], transactions: [{ status: 'PENDING' }], is_cut: false },
    });
  });
});
