import {
  condition,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { searchAttributes } from '../../../src/messages/progress';

type Steps = Record<
  'adopt' | 'screen' | 'prepare' | 'authorise' | 'sign' | 'broadcast' | 'settle',
  (txId: string) => Promise<string>
>;

const included = defineSignal('included');
const { adopt, screen, settle } = proxyLocalActivities<Steps>({ startToCloseTimeout: '20 seconds' });
const served = (taskQueue: string) => proxyActivities<Steps>({ taskQueue, startToCloseTimeout: '20 seconds' });
const [chain, authoriser, node] = [served('bare-chain'), served('bare-authoriser'), served('bare-node')];

/** The events and workflow tasks of a transfer on its usual way (workflows/transfer), with steps that do nothing. */
export async function bare(txId: string): Promise<string> {
  let isIncluded = false;
  setHandler(included, () => void (isIncluded = true));
  await adopt(txId);
  await screen(txId);
  await chain.prepare(txId);
  await authoriser.authorise(txId);
  await node.sign(txId);
  await chain.broadcast(txId);
  await condition(() => isIncluded, '15 seconds');
  await settle(txId);
  upsertSearchAttributes([{ key: searchAttributes.txStatus, value: 'CONFIRMED' }]);
  return 'CONFIRMED';
}
