import { listAuditLog } from '../../../src/audit/list';
import { audit } from '../../../src/audit/log';
import type { ChainClient } from '../../../src/chains/chain-client';
import { recordDoubtedOrdinal, recordForeignOrdinals } from '../../../src/chains/reservations';
import { acceptCount } from '../../../src/cli/accept-count';
import { dropExplained } from '../../../src/cli/reconcile-doubts';
import { compareRebuilt, type EqualityOptions, isAllCompared } from '../../../src/cli/reconcile-equality';
import { nodeIndexes } from '../../../src/messages/nodes';
import { ConfigError } from '../../../src/platform/config';
import { newId } from '../../../src/platform/ids';
import { estimateTransfer } from '../../../src/transfers/accept/estimate';
import { acceptDependencies } from '../../ledger';
import { ether, type Fixture, registry, usdc } from '../ledger/fixture';
import { useFundedFixture } from './fixture';

/** What `gateway reconcile` says of rebuilt transfers: of what it has not compared, and of what differs for a moment. Nodes and chain are given. */

let fixture: Fixture;
const { locked, request } = useFundedFixture((it) => (fixture = it));

const verifyIdentity = () => Promise.resolve();
/** Final transactions of every address on the chain. */
let used: bigint;
beforeEach(() => (used = 0n));

/** What the chain shows more than the ledger has, by symbol; one element for each reading. */
type Excess = readonly Partial<Record<'ETH' | 'USDC', bigint>>[];

function compare(options: Partial<EqualityOptions> = {}, excess: Excess = []) {
  const readings = { ETH: 0, USDC: 0 };
  const balance = (_: string, token: string | null) => {
    const symbol = token === null ? 'ETH' : 'USDC';
    const more = excess[readings[symbol]++]?.[symbol] ?? 0n;
    return Promise.resolve(more + (symbol === 'ETH' ? 10n * ether : 1000n * usdc));
  };
  return compareRebuilt({
    ...{ database: fixture.database, orders: 0, needed: 3, againAfterMs: 1 },
    readJournals: () => Promise.resolve(nodeIndexes.map((node) => ({ node, entries: [], refusals: [], isComplete: true }))),
    getClient: () => ({ balance, verifyIdentity, usedOrdinals: () => Promise.resolve(used) }) as unknown as ChainClient,
    ...options,
  });
}

const record = (action: 'orders.rebuilt' | 'orders.accepted_as_missing', id: string) =>
  audit(fixture.database.manager, {
    ...{ action, outcome: 'success', actor: { type: 'operator', id: 'anna' }, clientId: null },
    subject: { type: 'transaction', id },
  });

async function rebuilt(count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await record('orders.rebuilt', await locked());
}

test('all is compared only when no rebuilt transfer is left out, each chain is asked and nothing was accepted as missing', async () => {
  await rebuilt(3);
  const all = await compare();
  expect(all).toMatchObject({
    transfers: 3,
    older: 0,
    acceptedAsMissing: 0,
    open: 3,
    balances: 2,
    notAsked: [],
    differences: [],
  });
  expect(isAllCompared(all)).toBe(true);

  const newest = await compare({ maxTransfers: 2 });
  expect(newest).toMatchObject({ transfers: 2, older: 1, differences: [] });
  const unasked = await compare({ getClient: () => ({ verifyIdentity }) as unknown as ChainClient });
  expect(unasked).toMatchObject({ balances: 0, notAsked: ['ethereum'], differences: [] });
  await record('orders.accepted_as_missing', newId());
  const missing = await compare();
  expect(missing).toMatchObject({ transfers: 3, older: 0, acceptedAsMissing: 1, differences: [] });
  expect([newest, unasked, missing].map(isAllCompared)).toEqual([false, false, false]);
});

test('what differs in another place at each reading is of the moment; what differs in one place each time is reported', async () => {
  await rebuilt(1);
  expect((await compare({}, [{ ETH: 1n }, { USDC: 1n }, { ETH: 1n }, { USDC: 1n }])).differences).toEqual([]);
  const { differences } = await compare({}, [{ ETH: 1n }, { ETH: 2n, USDC: 1n }, { ETH: 3n }, { ETH: 4n }]);
  expect(differences).toEqual([
    expect.objectContaining({ check: 'the chain holds what the ledger says', actual: String(10n * ether + 4n) }),
  ]);
});

test('nodes are asked about several transfers at once, since one that is down answers late; without their journals nothing is equal', async () => {
  await rebuilt(3);
  let asked = 0;
  let allAsked = () => {};
  const areAsked = new Promise<void>((resolve) => (allAsked = resolve));
  const { differences } = await compare({
    readJournals: async () => {
      asked += 1;
      if (asked === 3) allAsked();
      await areAsked;
      return [];
    },
  });
  expect(differences.map(({ check }) => check)).toEqual(Array.from({ length: 3 }, () => 'the nodes show their journals'));
});

test('an endpoint of another chain is a difference that names it, and the rest is compared', async () => {
  await rebuilt(1);
  const message = 'CHAIN_ETHEREUM_RPC_URLS entry 1 serves chain id 5, ethereum (local) has 1';
  const wrong = { verifyIdentity: () => Promise.reject(new ConfigError(message)) } as unknown as ChainClient;
  const compared = await compare({ getClient: () => wrong });
  expect(compared).toMatchObject({ transfers: 1, balances: 0, notAsked: ['ethereum'] });
  expect(compared.differences).toEqual([
    { check: 'the endpoints are of the chain', subject: 'ethereum', expected: 'ethereum', actual: message },
  ]);
});

test('where balances consist of outputs, those that the database knows are compared with what the chain has of them', async () => {
  await rebuilt(1);
  const { database, account } = fixture;
  const add = (resource: string, amount: bigint, spentBy: string | null = null) =>
    database.query(
      `insert into chain_outputs (chain, resource, owner, amount, block_number, spendable_from, made_by, spent_by, spent_block)
       values ('ethereum', $1, $2, $3, 1, 1, 'a', $4, case when $4::text is null then null else 2 end)`,
      [resource, account.addressKey, amount.toString(), spentBy],
    );
  await add('a:0', 4n * ether);
  await add('a:1', 6n * ether);
  await add('a:2', ether, 'b');
  const asked: string[][] = [];
  const compareOutputs = (spent: string[]) => {
    const unspent = (resources: string[]) => {
      asked.push(resources);
      return Promise.resolve(new Set(resources.filter((it) => !spent.includes(it))));
    };
    return compare({ getClient: () => ({ unspent, verifyIdentity }) as unknown as ChainClient });
  };
  // of a token nobody can be asked there
  expect(await compareOutputs([])).toMatchObject({ balances: 1, notAsked: ['ethereum'], differences: [] });
  expect(asked[0]?.sort()).toEqual(['a:0', 'a:1']);
  expect((await compareOutputs(['a:0'])).differences).toEqual([
    expect.objectContaining({ expected: String(10n * ether), actual: String(6n * ether) }),
  ]);
});

describe('an account of which a chain has counted more transactions than the books have', () => {
  const owner = () => ({ chain: 'ethereum', accountId: fixture.account.accountId, addressKey: fixture.account.addressKey });
  const doubted = () => fixture.database.query<object[]>('select from doubted_ordinals');
  const accept = () => locked({ idempotencyKey: newId() });

  test('is closed, for transfers and what they would cost, until the books have them all and everything is equal', async () => {
    const { database } = fixture;
    const deps = acceptDependencies(database, registry);
    await recordDoubtedOrdinal(database.manager, owner(), { reported: 2n, expected: 0n });
    const refused = { code: 'reconcile_required', message: expect.stringContaining('an operator must reconcile them') };
    await expect(accept()).rejects.toMatchObject(refused);
    await expect(estimateTransfer(deps, request())).rejects.toMatchObject(refused);

    // as many are final as were reported, and no row explains them
    used = 2n;
    const open = await compare();
    expect(open.differences).toEqual([expect.objectContaining({ expected: '0', actual: '2' })]);
    expect(open).toMatchObject({ explained: [], balances: 2 });
    await recordForeignOrdinals(database.manager, owner(), 2n);
    const equal = await compare();
    expect(equal).toMatchObject({ differences: [], explained: [{ accountId: fixture.account.accountId, reported: 2n }] });
    await expect(accept()).rejects.toMatchObject(refused);
    await dropExplained(database, equal.explained);
    expect(await doubted()).toEqual([]);
    await accept();
    const log = await listAuditLog(database.manager, { subject: fixture.account.accountId, limit: 1 });
    expect(log).toMatchObject([{ action: 'account.reconciled', detail: { chain: 'ethereum', count: '2' } }]);
  });

  test('stays closed while what was reported may become final, its chain cannot be asked, or its balance differs', async () => {
    const { database } = fixture;
    await recordDoubtedOrdinal(database.manager, owner(), { reported: 2n, expected: 0n });
    const actual = async (options: Partial<EqualityOptions> = {}, excess: Excess = []) =>
      (await compare(options, excess)).differences.map((it) => it.actual);
    expect(await actual()).toEqual([expect.stringContaining('not final yet')]);
    const noUrls = () => {
      throw new ConfigError('CHAIN_ETHEREUM_RPC_URLS is required');
    };
    expect(await actual({ getClient: noUrls })).toEqual([expect.stringContaining('not asked')]);
    await database.query(`update doubted_ordinals set seen_at = now() - interval '61 minutes'`);
    expect(await actual()).toEqual([]);
    const more = { ETH: 1n };
    expect(await actual({}, [more, more, more, more])).toEqual([String(10n * ether + 1n)]);
  });

  test('stays closed when its chain counts higher again after it was compared, or at one of several readings', async () => {
    const { database } = fixture;
    const report = () => recordDoubtedOrdinal(database.manager, owner(), { reported: 2n, expected: 0n });
    await report();
    await database.query(`update doubted_ordinals set seen_at = now() - interval '61 minutes'`);
    const { explained } = await compare();
    expect(explained).toHaveLength(1);
    await report();
    await dropExplained(database, explained);
    expect(await doubted()).toHaveLength(1);
    expect(
      await listAuditLog(database.manager, { subject: fixture.account.accountId, action: 'account.reconciled', limit: 1 }),
    ).toEqual([]);

    await database.query(`update doubted_ordinals set seen_at = now() - interval '61 minutes'`);
    const counts = [2n, 0n];
    const usedOrdinals = () => Promise.resolve(counts.shift() ?? 0n);
    const balance = (_: string, token: string | null) => Promise.resolve(token === null ? 10n * ether : 1000n * usdc);
    const getClient = () => ({ balance, verifyIdentity, usedOrdinals }) as unknown as ChainClient;
    expect(await compare({ getClient })).toMatchObject({ differences: [], explained: [] });
  });

  test('is open once an operator accepts all that are final, an hour after a higher count was reported', async () => {
    const { database } = fixture;
    const count = (value: string) =>
      acceptCount(database, registry, () => Promise.resolve(used), {
        accountId: owner().accountId,
        chain: 'ethereum',
        count: value,
      });
    await recordDoubtedOrdinal(database.manager, owner(), { reported: 9n, expected: 0n });
    await count('0');
    expect(await doubted()).toHaveLength(1);
    await database.query(`update doubted_ordinals set seen_at = now() - interval '61 minutes'`);
    used = 2n;
    await expect(count('0')).rejects.toMatchObject({ code: 'invalid_parameter' });
    await count('1');
    expect(await doubted()).toHaveLength(1);
    used = 0n;
    await count('0');
    expect(await doubted()).toEqual([]);
    await accept();
  });

  test('keeps no other one closed, nor itself on another chain', async () => {
    await recordDoubtedOrdinal(fixture.database.manager, { ...owner(), chain: 'base' }, { reported: 2n, expected: 0n });
    await accept();
  });
});
