import { backUp, restore } from '../stack/backup';
import { waitFor } from '../stack/client';
import { alarms, isReady, metric, nodeEnvironment, nodeIsBack, nodeQuery, stopNode } from './nodes';
import { isConfirmed, Scene, withoutWorker } from './scene';
import { assemble } from './transfers';

/** SECURITY.md, protection “Each node's own records”: the backup of a node's database is put back, and its journal mark is not. */

const restored = 2;
const away = 3;

const scene = new Scene();

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
  const signed = await withoutWorker(async () => {
    const lost = [await scene.order(), await scene.order()] as const;
    await scene.temporal.sign(lost[0], { initiator: 1, peer: restored });
    await scene.temporal.sign(lost[1], { initiator: restored, peer: away });
    return lost;
  });
  for (const transfer of signed) await isConfirmed(transfer);

  const peerBack = await stopNode(away);
  try {
    const startAgain = await stopNode(restored);
    try {
      await restore(database());
    } finally {
      startAgain();
    }
    await waitFor(async () => (await metric(restored, 'mpc_journal_behind')) === 1, { timeoutMs: 60_000 });
    for (const { txId } of signed) expect(await outcomes(txId)).not.toContain('signed');
    const waiting = await withoutWorker(async () => {
      const real = await scene.order();
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
      assemble(real, (await scene.temporal.sign(real, { initiator: 1, peer: restored })).signatures);
      return real;
    });
    await isConfirmed(waiting);
    expect(await metric(restored, 'mpc_journal_behind')).toBe(0);
  } finally {
    peerBack();
    await nodeIsBack(away);
  }
});
