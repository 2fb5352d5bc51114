import { backUp, restore } from '../stack/backup';
import { waitFor } from '../stack/client';
import { alarms, isReady, metric, nodeEnvironment, nodeIsBack, nodeQuery, stopNode } from './nodes';
import { isInStack } from '../families';
import { ProtocolScene } from './protocols';
import { isConfirmed, withoutWorker } from './scene';

/** SECURITY.md, protection “Each node's own records”: the backup of a node's database is put back, and its journal mark is not. */

const restored = 2;
const away = 3;

/** With keys of each protocol in one database; without Solana's where there is no node of it. */
const scenes = ProtocolScene.all().filter(({ of }) => isInStack(of.fixture));

const inEach = async <T>(work: (scene: ProtocolScene) => Promise<T>): Promise<T[]> => {
  const results: T[] = [];
  for (const scene of scenes) results.push(await work(scene));
  return results;
};

/** Every table of it. */
const database = () => ({ url: nodeEnvironment(restored).MPC_NODE_DATABASE_URL ?? '', logins: [] });

const outcomes = async (txId: string) =>
  (await nodeQuery<{ outcome: string }>(restored, 'select outcome from journal where tx_id = $1', [txId])).map(
    ({ outcome }) => outcome,
  );

test('with a peer down it signs nothing; with both peers it takes back its entries first, and then signs', async () => {
  const startBackedUp = await stopNode(restored);
  try {
    await backUp(database());
  } finally {
    startBackedUp();
  }
  await nodeIsBack(restored);
  const lost = await withoutWorker(() =>
    inEach(async (scene) => {
      const both = [await scene.order(), await scene.order()] as const;
      // the newest one with the peer that stays: what this one gives back is enough for the mark alone
      await scene.temporal.sign(both[0], { initiator: restored, peer: away });
      await scene.temporal.sign(both[1], { initiator: 1, peer: restored });
      return both;
    }),
  );
  const signed = lost.flat();
  for (const transfer of signed) await isConfirmed(transfer);

  const peerBack = await stopNode(away);
  try {
    const startAgain = await stopNode(restored);
    try {
      await restore(database());
    } finally {
      startAgain();
    }
    await waitFor(async () => (await metric(restored, 'gateway_mpc_journal_behind')) === 1, { timeoutMs: 60_000 });
    for (const [withAway, withOther] of lost) {
      await waitFor(async () => (await outcomes(withOther.txId)).includes('recovered'), { timeoutMs: 60_000 });
      expect(await outcomes(withAway.txId)).not.toContain('signed');
    }
    const waiting = await withoutWorker(async () => {
      const ordered = await inEach(async (scene) => ({ scene, real: await scene.order() }));
      for (const { scene, real } of ordered)
        for (const pair of [
          { initiator: 1, peer: restored },
          { initiator: restored, peer: 1 },
        ] as const)
          // prettier-ignore
          await expect(scene.temporal.sign(real, pair)).rejects.toMatchObject({ code: 'journal_behind' });
      expect(await isReady(restored)).toBe(false);
      expect(alarms(restored)).toContainEqual(expect.objectContaining({ alert: 'journal_behind' }));
      peerBack();
      await nodeIsBack(restored);
      for (const { txId } of signed) expect(await outcomes(txId)).toEqual(['recovered']);
      for (const { scene, real } of ordered)
        scene.assemble(real, (await scene.temporal.sign(real, { initiator: 1, peer: restored })).signatures);
      return ordered;
    });
    for (const { real } of waiting) await isConfirmed(real);
    expect(await metric(restored, 'gateway_mpc_journal_behind')).toBe(0);
  } finally {
    peerBack();
    await nodeIsBack(away);
  }
});
