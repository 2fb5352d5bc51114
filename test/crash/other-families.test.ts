import { getFamily } from '../../src/chains/families';
import { hasChildren } from '../../src/chains/key-protocols';
import { loadRegistry } from '../../src/chains/registry';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import type { Account } from '../e2e/support';
import { fixtures, isInStack } from '../families';
import type { FamilyFixture } from '../families/fixture';
import { chainGaps, ChainRounds, ofOneVictim, type OneVictim } from './chain-rounds';
import { expectEnd } from './ends';
import { gapNames, gapOf, type GapName } from './gaps';
import type { Transfers } from './round';
import { accountsOn, type InGap, Scene } from './scene';

/** kill -9 at each step on the chains that the gaps of crash.test.ts are not on. */

const usual = new Set<string>(gapNames.map((name) => gapOf(name).chain));

/** The other chains have keys of the protocol that crash.test.ts kills its victims with. */
const oneVictims = ({ chain }: FamilyFixture): OneVictim[] => {
  const { keyProtocol } = getFamily(loadRegistry('local', [chain]).get(chain).family);
  return hasChildren(keyProtocol) ? [] : (Object.keys(ofOneVictim) as OneVictim[]);
};

const others = fixtures.filter(({ chain }) => !usual.has(chain));
const accounts = new Map<string, Map<GapName, Account>>();
beforeAll(async () => {
  const create = async (fixture: FamilyFixture) => accounts.set(fixture.chain, await accountsOn(fixture, chainGaps(fixture)));
  await Promise.all(others.filter(isInStack).map(create));
});
afterAll(async () => expect(await recordDifferences()).toEqual([]));

for (const fixture of others)
  // skipped: this machine has no package or build of the chain's local node
  (isInStack(fixture) ? describe : describe.skip)(fixture.chain, () => {
    let scene: Scene;
    let rounds: ChainRounds;
    beforeAll(async () => {
      scene = await Scene.setUpOn(accounts.get(fixture.chain) ?? new Map());
      rounds = new ChainRounds(scene, fixture);
    });
    afterAll(async () => {
      await rounds.end();
      await scene.tearDown();
    });

    const expectEnds = (names: readonly GapName[], run: () => Promise<Transfers>) => {
      let transfers: Transfers;
      beforeAll(async () => {
        transfers = await run();
      });

      test.each(names)('%s', (name: GapName) => expectEnd(transfers.get(name) as InGap));

      test('the ledger verifies', async () => expect(await ledgerDifferences()).toEqual([]));
    };

    describe('all of the gateway killed before', () => expectEnds(chainGaps(fixture), () => rounds.run()));

    for (const victim of oneVictims(fixture))
      describe(`${victim} before`, () => expectEnds(ofOneVictim[victim], () => rounds.runOne(victim)));
  });
