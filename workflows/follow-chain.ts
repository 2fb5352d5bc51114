import { continueAsNew } from '@temporalio/workflow';
import { WorkflowProgress } from './progress';
import type { FollowChainWorkflowInput } from '../src/messages/following';
import { followerActivities } from './activities';

/** Keeps one follower per chain running: each run of the activity works for a limited time. */
export async function followChain({ chain }: FollowChainWorkflowInput): Promise<void> {
  const progress = new WorkflowProgress(`Following ${chain}`);
  progress.report('following', 'Reads blocks, credits deposits, signals the state of transfers. Cursor: table chain_cursors.');
  await followerActivities(chain).followChain({ chain });
  await continueAsNew<typeof followChain>({ chain });
}
