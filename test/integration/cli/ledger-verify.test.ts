import { runGateway } from '../../stack/gateway-command';
import { createFixture, ether, type Fixture, fund } from '../ledger/fixture';

/** Books that are wrong, in a database of their own: tests on a stack check the books of all others beside them. */

let fixture: Fixture;
let settings: Record<string, string>;
beforeAll(async () => {
  fixture = await createFixture({ poolSize: 2 });
  await fund(fixture, 'ETH', ether);
  settings = { DATABASE_URL: (await fixture.logins()).gateway_operator };
  await fixture.database.transaction(async (manager) => {
    await manager.query(`set local session_replication_role = 'replica'`);
    await manager.query(`update ledger_accounts set available = available + 7 where symbol = 'ETH'`);
  });
});
afterAll(() => fixture.close());

const difference = {
  check: 'balances are the sums of their entries',
  subject: expect.any(String) as string,
  expected: `available ${ether}, locked 0`,
  actual: `available ${ether + 7n}, locked 0`,
};

test('gateway ledger verify ends with 1 and the differences', async () => {
  const { code, out, err } = await runGateway(['ledger', 'verify'], settings);
  expect({ code, err }).toEqual({ code: 1, err: 'gateway: 1 difference\n' });
  for (const shown of [difference.check, difference.expected, difference.actual]) expect(out).toContain(shown);
});

test('the same as JSON', async () => {
  const { code, out, err } = await runGateway(['ledger', 'verify', '--json'], settings);
  expect({ code, err, differences: JSON.parse(out) as unknown }).toEqual({
    ...{ code: 1, err: 'gateway: 1 difference\n' },
    differences: [difference],
  });
});
