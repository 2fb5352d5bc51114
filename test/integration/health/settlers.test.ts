import type { Client } from '@temporalio/client';
import { getFamily } from '../../../src/chains/families';
import { dropDoubtedOrdinal, recordDoubtedOrdinal } from '../../../src/chains/reservations';
import { HealthService } from '../../../src/health/service';
import { type HealthChecks, startHealthListener } from '../../../src/platform/metrics';
import { fundAccount } from '../../factories';
import { createFixture, type Fixture, registry } from '../http/fixture';
import { buildSettler } from '../x402/settlement-fixture';

/** What /health/ready says of settlers and accounts, with the login of the API. */

const [ethereum, base] = [registry.get('ethereum'), registry.get('base')];
let fixture: Fixture;

beforeEach(async () => {
  fixture = await createFixture({ poolSize: 3 });
});
afterEach(() => fixture.close());

/** Nothing is remembered of an earlier call. Temporal and signing nodes are away. */
const ready = (): Promise<HealthChecks> =>
  new HealthService({ database: fixture.apiDatabase, temporal: {} as Client, registry, getFamily, signerUrls: [] }).ready();
const settlerOn = (chain: typeof ethereum) => buildSettler(fixture.database, chain);
type Built = Awaited<ReturnType<typeof settlerOn>>;
const fund = ({ account }: Built, chain: typeof ethereum) => fundAccount(fixture.database, account, chain, 'ETH', 10n ** 18n);

test('those that are dry are named by chain, and no check fails for it', async () => {
  const before = await ready();
  expect(Object.keys(before).filter((key) => key.startsWith('settlers'))).toEqual([]);
  const [funded, first, second, onBase] = [
    ...[await settlerOn(ethereum), await settlerOn(ethereum), await settlerOn(ethereum)],
    await settlerOn(base),
  ] as [Built, Built, Built, Built];
  await fund(funded, ethereum);
  expect(await ready()).toEqual({
    ...before,
    'settlers:ethereum': `dry: ${first.settler.settlerId}, ${second.settler.settlerId}`,
    'settlers:base': `dry: ${onBase.settler.settlerId}`,
  });
  await fund(first, ethereum);
  await fixture.database.query(`update settlers set status = 'DRAINING' where settler_id = any($1)`, [
    [second.settler.settlerId, onBase.settler.settlerId],
  ]);
  expect(await ready()).toEqual(before);
});

test('accounts of which a chain counts more transactions than the rows are named too, until they are explained', async () => {
  const before = await ready();
  const { account } = await settlerOn(base);
  await fund({ account } as Built, base);
  const owner = { chain: 'base', accountId: account.accountId, addressKey: account.addressKey };
  await recordDoubtedOrdinal(fixture.database.manager, owner, { reported: 7n, expected: 5n });
  const name = `accounts:${base.name}`;
  expect(await ready()).toMatchObject({ ...before, [name]: `used elsewhere: ${account.accountId}` });
  await dropDoubtedOrdinal(fixture.database.manager, owner, 7n);
  expect(await ready()).not.toHaveProperty([name]);
});

test('only the listener for operators says so', async () => {
  const { settlerId } = (await settlerOn(ethereum)).settler;
  const listener = await startHealthListener({ process: 'api', host: '127.0.0.1', port: 0, ready });
  const own = await (await fetch(`http://127.0.0.1:${listener.port}/health/ready`)).json();
  await listener.close();
  expect(own).toMatchObject({ checks: { 'settlers:ethereum': `dry: ${settlerId}` } });
  expect(await (await fetch(`${fixture.origin}/health/ready`)).text()).not.toMatch(/settlers|dry/);
});
