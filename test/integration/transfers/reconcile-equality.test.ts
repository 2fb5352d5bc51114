import { audit } from '../../../src/audit/log';
import type { ChainClient } from '../../../src/chains/chain-client';
import { compareRebuilt, type EqualityOptions, isAllCompared } from '../../../src/cli/reconcile-equality';
import { nodeIndexes } from '../../../src/messages/nodes';
import { newId } from '../../../src/platform/ids';
import { ether, type Fixture, usdc } from '../ledger/fixture';
import { useFundedFixture } from './fixture';

/** What `gateway reconcile` says of rebuilt transfers: of what it has not compared, and of what differs for a moment. Nodes and chain are given. */

let fixture: Fixture;
const { locked } = useFundedFixture((it) => (fixture = it));

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
    getClient: () => ({ balance }) as unknown as ChainClient,
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
  const unasked = await compare({ getClient: () => ({}) as ChainClient });
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
