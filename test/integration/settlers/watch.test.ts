import { getFamily } from '../../../src/chains/families';
import { newId } from '../../../src/platform/ids';
import { metrics } from '../../../src/platform/metrics';
import { settlerRunway, settlerSupply } from '../../../src/settlers/metrics';
import { reportSettlers } from '../../../src/settlers/report';
import { SettlerWatch } from '../../../src/settlers/watch';
import { buildClient, fundAccount } from '../../factories';
import { base, createFixture, ethereum, type Fixture } from '../ledger/fixture';
import { allowSettling, buildSettler } from '../x402/settlement-fixture';
import { createSettling } from '../x402/settling';

/** What a settler has and has to do, as operators see it. */

let fixture: Fixture;
let settlerId: string;
let account: Awaited<ReturnType<typeof buildSettler>>['account'];
let settling: ReturnType<typeof createSettling>;
let logged: [level: string, message: unknown][];
let watch: SettlerWatch;

beforeEach(async () => {
  fixture = await createFixture({ poolSize: 3 });
  const built = await buildSettler(fixture.database, ethereum);
  account = built.account;
  ({ settlerId } = built.settler);
  settling = createSettling(fixture, built);
  logged = [];
  const logs =
    (level: string) =>
    (...line: unknown[]) =>
      void logged.push([level, line[1]]);
  watch = new SettlerWatch(getFamily, { error: logs('error'), warn: logs('warn'), info: logs('info') });
});
afterEach(() => fixture.close());

const measure = () => watch.run(fixture.database.manager);

const fund = (amount: bigint) => fundAccount(fixture.database, account, ethereum, 'ETH', amount);
const report = async () => (await reportSettlers(fixture.database.manager, getFamily)).find((it) => it.settlerId === settlerId);

test('a new settler has nothing to do and nothing to spend', async () => {
  expect(await report()).toEqual({
    ...{ settlerId, accountId: account.accountId, chain: 'ethereum', status: 'ACTIVE' },
    ...{ balance: 0n, spendable: 0n, open: 0, refusedClients: 0, oldestAt: null, runway: null },
  });
});

test('what is open is counted, the balance is that of the ledger, and the runway goes by the median cost', async () => {
  await fund(1_000_000n);
  for (const fee of [10n, 1_000n, 100n]) await settling.settleFor(fee);
  await settling.accept();
  const first = await report();
  expect(first).toMatchObject({ balance: 998_890n, open: 1, runway: 9_988n });
  await settling.accept();
  expect(await report()).toMatchObject({ open: 2, oldestAt: first?.oldestAt });
});

describe('a settlement that the limits of two nodes have refused', () => {
  /** Its cancellation is to be ordered. */
  const refused = async () => {
    const txId = await settling.accept();
    expect(await settling.begin(txId)).toMatchObject({ outcome: 'begun' });
    await fixture.database.query(`update transactions set cancellation_reason = 'node_policy' where tx_id = $1`, [txId]);
    return txId;
  };
  const begunAgo = (txId: string, minutes: number) =>
    fixture.database.transaction(async (manager) => {
      await manager.query('set local session_replication_role = replica');
      const sql = 'update transactions set signing_begun_at = now() - make_interval(mins => $2) where tx_id = $1';
      await manager.query(sql, [txId, minutes]);
    });
  const reserved = () => fixture.database.query<unknown[]>('select from reservations where released_at is null');

  test('keeps back what creates a wallet alone, where it would have created one', async () => {
    await fund(10n ** 18n);
    const first = await refused();
    const [plain, creating] = [await settling.accept(), await settling.accept()];
    await fixture.database.transaction(async (manager) => {
      await manager.query('set local session_replication_role = replica');
      await manager.query(
        `update x402_settlements set sponsoring = 'deployment', action = action || '{"deployment": {"factory": "0x01", "data": "0x"}}'
          where tx_id = any($1)`,
        [[first, creating]],
      );
    });
    await fixture.database.query(`update x402_policies set wallet_factories = array['0x01']`);
    expect(await settling.begin(creating)).toMatchObject({ outcome: 'refused', code: 'node_policy' });
    expect(await report()).toMatchObject({ refusedClients: 1 });
    expect(await settling.begin(plain)).toMatchObject({ outcome: 'begun' });
  });

  test('keeps further ones of its client from taking a nonce, for ten minutes', async () => {
    await fund(10n ** 18n);
    const first = await refused();
    const second = await settling.accept();
    expect(await settling.begin(second)).toMatchObject({ outcome: 'refused', code: 'node_policy' });
    expect(await reserved()).toHaveLength(1);
    expect(await report()).toMatchObject({ refusedClients: 1 });
    await measure();
    expect(await metrics.getSingleMetricAsString('gateway_settler_refused_clients')).toMatch(new RegExp(`"${settlerId}"} 1`));
    await begunAgo(first, 9);
    expect(await settling.begin(second)).toMatchObject({ outcome: 'refused', code: 'node_policy' });
    await begunAgo(first, 11);
    expect(await settling.begin(second)).toMatchObject({ outcome: 'begun' });
    expect(await report()).toMatchObject({ refusedClients: 0 });
  });

  test('keeps no other client from it', async () => {
    await fund(10n ** 18n);
    await refused();
    const { clientId } = await buildClient(fixture.database);
    await allowSettling(fixture.database, { clientId, chain: 'ethereum' });
    expect(await settling.begin(await settling.accept({ clientId }))).toMatchObject({ outcome: 'begun' });
  });
});

test('settlements that cost nothing stop neither report nor watch', async () => {
  await fund(10n);
  const free = await settling.accept();
  await fixture.database.transaction(async (manager) => {
    await manager.query('set local session_replication_role = replica');
    await manager.query(
      `insert into transactions (tx_id, client_id, wallet_id, account_id, chain, transaction_type, direction, is_held, is_signed, parent_tx_id,
         from_address, to_address, token_symbol, decimals, amount, status, required_confirmations)
       values ($1, $2, $3, $4, 'ethereum', 'GAS', 'out', false, false, $5, $6, $6, 'ETH', 18, 0, 'CONFIRMED', 1)`,
      [newId(), account.clientId, account.walletId, account.accountId, free, account.address],
    );
  });
  expect(await report()).toMatchObject({ balance: 10n, runway: null });
  await measure();
  expect(logged).toEqual([]);
});

test('settlers are told apart, by chain too', async () => {
  const { settler: other } = await buildSettler(fixture.database, base);
  await fund(5n);
  const balances = (await reportSettlers(fixture.database.manager, getFamily)).map((it) => [it.settlerId, it.balance]);
  expect(new Map(balances as [string, bigint][])).toEqual(
    new Map([
      [settlerId, 5n],
      [other.settlerId, 0n],
    ]),
  );
  expect((await reportSettlers(fixture.database.manager, getFamily, 'base')).map((it) => it.settlerId)).toEqual([
    other.settlerId,
  ]);
});

test('running out of coins is logged once for each step, and so is having enough again', async () => {
  await measure();
  await measure();
  expect(logged).toEqual([['error', expect.stringContaining('fewer than 50')]]);
  await fund(100n + 400n * 100n);
  await settling.settleFor(100n);
  for (let times = 1; times <= 2; times += 1) await measure();
  await fund(400n * 100n);
  await measure();
  expect(logged.slice(1)).toEqual([
    ['warn', expect.stringContaining('fewer than 500')],
    ['info', expect.stringContaining('enough coins again')],
  ]);
});

test('a drained settler needs no coins', async () => {
  await fixture.database.query(`update settlers set status = 'DRAINING' where settler_id = $1`, [settlerId]);
  await measure();
  expect(logged).toEqual([]);
});

test('balance, runway and what is open are measured', async () => {
  await fund(1_100n);
  await settling.settleFor(100n);
  await settling.accept();
  await measure();
  const text = await metrics.metrics();
  const labels = `{chain="ethereum",settler="${settlerId}"}`;
  expect(text).toContain(`gateway_settler_balance${labels} 1000`);
  expect(text).toContain(`gateway_settler_runway_settlements${labels} 10`);
  expect(text).toContain(`gateway_settler_open_settlements${labels} 1`);
});

test('a settler that is not there any more has no values, nor has one a runway that it had', async () => {
  const gone = { chain: 'base', settler: newId() };
  settlerSupply.set(gone, 0);
  await fund(1_100n);
  settlerRunway.set({ chain: 'ethereum', settler: settlerId }, 7);
  await measure();
  const text = await metrics.metrics();
  expect(text).not.toContain(gone.settler);
  expect(text).not.toContain('gateway_settler_runway_settlements{');
  expect(text).toContain(`gateway_settler_balance{chain="ethereum",settler="${settlerId}"} 1100`);
});
