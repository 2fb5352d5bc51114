import { continueAsNew } from '@temporalio/workflow';
import { WorkflowProgress } from './progress';
import type { FollowChainWorkflowInput } from '../src/messages/following';
import { followerActivities } from './activities';

/** Keeps one follower per chain running: each run of the activity works for a limited time. */
export async function followChain({ chain }: FollowChainWorkflowInput): Promise<void> {
  const progress = new WorkflowProgress();
  progress.report(
    'following',
    `Reads the blocks of ${chain}; nothing to do. Cursor, head and endpoint: the last heartbeat of the pending activity followChain. ` +
      'If its head stays, the chain is silent: docs/runbook/alerts.md#chainsilent',
  );
  await followerActivities(chain).followChain({ chain });
  await continueAsNew<typeof followChain>({ chain });
}
