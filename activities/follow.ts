import { Context } from '@temporalio/activity';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { ChainRegistry } from '../src/chains/registry';
import { followChain } from '../src/following/follower';
import type { DepositsPort, SignalTransfer } from '../src/following/ports';
import type { FollowerActivities } from '../src/messages/following';
import { chainObservedSignal } from '../src/messages/transfer';
import { transferWorkflowId } from '../src/messages/workflow-ids';
import { type ChainDependencies, getClient } from '../src/transfers/dependencies';
import { correctReorged } from '../src/transfers/reconcile-reorg';
import { withHeartbeat } from './heartbeat';

export interface FollowDependencies extends ChainDependencies {
  registry: ChainRegistry;
  deposits: DepositsPort;
  signalTransfer: SignalTransfer;
  /** Called for ended transfers whose block was reorganised away. */
  onConfirmedReorged: (txId: string) => Promise<void>;
  /** Stops the follower with the process, before the worker's grace time is over. */
  stop?: AbortSignal;
}

/**
 * The follower as one long activity: sends a heartbeat at every poll; ends by cancellation, worker shutdown or after its work
 * period.
 */
export function createFollowActivity(dependencies: FollowDependencies): FollowerActivities {
  const { registry, stop, ...rest } = dependencies;
  return {
    async followChain({ chain: name }) {
      const context = Context.current();
      const chain = registry.get(name);
      const client = getClient(dependencies, name);
      const signal = stop ? AbortSignal.any([context.cancellationSignal, stop]) : context.cancellationSignal;
      const onConfirmedReorged = (txId: string) => correctReorged({ ...rest, client }, { txId });
      const result = await withHeartbeat((heartbeat) =>
        followChain({ ...rest, onConfirmedReorged, chain, client, signal, heartbeat }),
      );
      // `cancelled` rejects, so that Temporal records a cancellation and not a completed activity
      return context.cancellationSignal.aborted ? await context.cancelled : result;
    },
  };
}

/** Signals transfers through Temporal. */
export function transferSignaller(client: Client): SignalTransfer {
  return async (txId, observation) => {
    try {
      await client.withDeadline(Date.now() + 5_000, () =>
        client.workflow.getHandle(transferWorkflowId(txId)).signal(chainObservedSignal, observation),
      );
      return 'sent';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'gone';
      throw error;
    }
  };
}
