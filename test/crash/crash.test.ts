import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { expectEnd } from './ends';
import { gapNames, type GapName } from './gaps';
import { crashWith, type Transfers } from './round';
import { type InGap, Scene } from './scene';
import { victims } from './victims';

/** A transfer in every gap between two steps, each of an account of its own, while one part is killed. */

let scene: Scene;
beforeAll(async () => {
  scene = await Scene.setUp();
});
afterAll(async () => {
  await scene.tearDown();
  expect(await recordDifferences()).toEqual([]);
});

describe.each(victims)('%s killed before', (victim) => {
  let transfers: Transfers;
  beforeAll(async () => {
    transfers = await crashWith(scene, victim, { isLast: victim === victims.at(-1) });
  });

  test.each(gapNames)('%s', (name: GapName) => expectEnd(transfers.get(name) as InGap));

  test('the ledger verifies', async () => expect(await ledgerDifferences()).toEqual([]));
});
