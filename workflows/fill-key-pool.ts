import { log, sleep, uuid4 } from '@temporalio/workflow';
import { authoriserActivities, idleNodeActivities } from './activities';
import { toProblem } from './failures';
import { confirmOnEveryNode, generatingNode, signWithEveryShare } from './key-stages';
import { nodeNotReady, WorkflowProgress } from './progress';

/** Keys of one run: its history stays short. */
const mostKeys = 20;
/** After a failure: what is refused now would be refused again, and each key costs an order. Also where none is wanted. */
const restMs = 5 * 60_000;

/**
 * Generates keys before wallets want them, one after the other, while the authoriser orders them and the nodes are idle. A key is offered
 * when every node has stored its share and has signed with it. One that fails is dropped. A run of which the authoriser orders nothing rests:
 * whoever has started it counts otherwise, and would start the next one at once.
 */
export async function fillKeyPool(): Promise<void> {
  const progress = new WorkflowProgress();
  try {
    for (let number = 1; number <= mostKeys; number += 1) {
      const keyId = `pool-${uuid4()}.1`;
      const ordered = await progress.askAuthoriser('order a key for the pool', () =>
        authoriserActivities.orderPooledKey({ keyId }),
      );
      if (ordered === null) {
        const noneWanted = 'The authoriser orders no key now';
        const nothingToDo = `**${noneWanted}**; nothing to do unless the pool is empty: docs/runbook/alerts.md#keypoolempty`;
        progress.report('waiting', noneWanted, number, nothingToDo);
        if (number === 1) await sleep(restMs, { summary: 'rest: the authoriser orders no key' });
        return;
      }
      const detail = `Distributed key generation of ${keyId}`;
      const advice = `**Needs all three signing nodes**, idle: a key is dropped if one is down. Start what is down, ${nodeNotReady}`;
      progress.report('generating', detail, number, advice);
      await generate(keyId, ordered);
      await confirmOnEveryNode(progress, keyId);
      progress.needsEveryNode('testing', 'Test signatures that use each share', number);
      await signWithEveryShare(progress, () => Promise.resolve(ordered));
      await progress.askAuthoriser('add the key to the pool', () => authoriserActivities.offerPooledKey({ keyId }));
      progress.report('offered', keyId, number);
    }
  } catch (error) {
    const problem = toProblem(error);
    log.warn('a key for the pool is dropped', { code: problem.code, reason: problem.message });
    const detail = `A key was dropped, and the next one is tried in ${restMs / 60_000} minutes`;
    const advice = `**${detail}**; if that stays so, docs/runbook/alerts.md#keypoolempty. Last answer: ${problem.message}`;
    progress.report('waiting', `${detail}: ${problem.message}`, 1, advice);
    await sleep(restMs, { summary: 'rest after a key that was dropped' });
  }
}

async function generate(keyId: string, ordered: { order: string }): Promise<void> {
  try {
    await idleNodeActivities(generatingNode, `generate ${keyId}`).generateKey(ordered);
  } catch (error) {
    // the id is used: by a try whose answer was lost, if the nodes have the key
    if (toProblem(error).code !== 'invalid_parameter') throw error;
  }
}
