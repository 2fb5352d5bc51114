import { log, sleep, uuid4 } from '@temporalio/workflow';
import { authoriserActivities, nodeActivities } from './activities';
import { toProblem } from './failures';
import { confirmOnEveryNode, generationSeconds, signWithEveryShare } from './key-stages';
import { WorkflowProgress } from './progress';

/** Keys of one run: its history stays short. */
const mostKeys = 20;
/** Together less than an order is valid. */
const idleTries = 100;
const betweenTriesSeconds = 5;
/** After a failure, before the worker starts another run. */
const restSeconds = 30;

/**
 * Generates keys before wallets want them, one after the other, while the authoriser orders them and the nodes are idle. A key is offered
 * when every node has stored its share and has signed with it. One that fails is dropped: the nodes keep a bounded number of them.
 */
export async function generateKeysAhead(): Promise<void> {
  const progress = new WorkflowProgress('Keys generated ahead');
  try {
    for (let number = 1; number <= mostKeys; number += 1) {
      const keyId = `ahead-${uuid4()}.1`;
      const ordered = await authoriserActivities.orderKeyAhead({ keyId });
      if (ordered === null) return;
      progress.report('generating', `Distributed key generation of ${keyId}`, number);
      await confirmOnEveryNode(await generateWhenIdle(ordered));
      progress.report('testing', 'Test signatures that use each share', number);
      await signWithEveryShare(async () => (await authoriserActivities.orderKeyAhead({ keyId })) ?? ordered);
      await authoriserActivities.offerKeyAhead({ keyId });
      progress.report('offered', keyId, number);
    }
  } catch (error) {
    const problem = toProblem(error);
    log.warn('a key that was to be generated ahead is dropped', { code: problem.code, reason: problem.message });
    progress.report('waiting', problem.message);
    await sleep(1000 * restSeconds);
  }
}

/** A node that signs refuses, with nothing begun: the same order holds for the next try. */
async function generateWhenIdle(ordered: { order: string }) {
  for (let round = 1; ; round += 1) {
    try {
      return await nodeActivities(1, generationSeconds, `generate key ahead, try ${round}`).generateKey(ordered);
    } catch (error) {
      if (!toProblem(error).retryable || round >= idleTries) throw error;
      await sleep(1000 * betweenTriesSeconds);
    }
  }
}
