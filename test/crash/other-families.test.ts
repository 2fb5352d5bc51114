import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { fixtures, isInStack } from '../families';
import { chainGaps, ChainRounds } from './chain-rounds';
import { expectEnd } from './ends';
import { gapNames, gapOf, type GapName } from './gaps';
import type { Transfers } from './round';
import { type InGap, Scene } from './scene';

/** kill -9 at each step on the chains that the gaps of crash.test.ts are not on. */

const usual = new Set<string>(gapNames.map((name) => gapOf(name).chain));

for (const fixture of fixtures.filter(({ chain }) => !usual.has(chain)))
  // skipped: this machine has no package or build of the chain's local node
  (isInStack(fixture) ? describe : describe.skip)(`${fixture.chain}: all of the gateway killed before`, () => {
    let scene: Scene;
    let rounds: ChainRounds;
    let transfers: Transfers;
    beforeAll(async () => {
      scene = await Scene.setUpOn(fixture);
      rounds = new ChainRounds(scene, fixture);
      transfers = await rounds.run();
    }, 600_000);
    afterAll(async () => {
      await rounds.end();
      await scene.tearDown();
      expect(await recordDifferences()).toEqual([]);
    }, 240_000);

    test.each(chainGaps(fixture))('%s', (name: GapName) => expectEnd(transfers.get(name) as InGap), 180_000);

    test('the ledger verifies', async () => expect(await ledgerDifferences()).toEqual([]));
  });
