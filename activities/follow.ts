import { Context } from '@temporalio/activity';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import type { ChainClient } from '../src/chains/adapter';
import type { ChainRegistry } from '../src/chains/registry';
import { followChain } from '../src/following/follower';
import type { DepositsPort, SignalTransfer } from '../src/following/ports';
import type { Logger } from '../src/platform/logging';
import { observedSignal, transferWorkflowId } from '../workflows/messages';
import type { ChainActivities } from './types';

export interface FollowDependencies {
  clients: ReadonlyMap<string, ChainClient>;
  registry: ChainRegistry;
  database: DataSource;
  deposits: DepositsPort;
  signalTransfer: SignalTransfer;
  onConfirmedReorged: (txId: string) => Promise<void>;
  logger: Logger;
  /** Ends the follower with the process, before the worker's grace time is over. */
  stop?: AbortSignal;
}

/** Well below the time-out in workflows/steps.ts. */
const heartbeatMs = 2_000;

/** The follower as one long activity: heartbeats at every poll, ends by cancellation, worker shutdown or its slice. */
export function createFollowActivity(dependencies: FollowDependencies): Pick<ChainActivities, 'followChain'> {
  const { clients, registry, stop, ...rest } = dependencies;
  return {
    async followChain({ chain: name }) {
      const context = Context.current();
      const chain = registry.get(name);
      const client = clients.get(name);
      if (!client) throw new Error(`no client for ${name}`);
      // by the clock and not by progress: a step may wait through several RPC time-outs, a dead worker shall be noticed at once
      const heartbeat = () => context.heartbeat();
      const signal = stop ? AbortSignal.any([context.cancellationSignal, stop]) : context.cancellationSignal;
      const pulse = setInterval(heartbeat, heartbeatMs);
      try {
        const result = await followChain({ ...rest, chain, client, signal, heartbeat });
        // `cancelled` rejects: Temporal has to learn that the work was cut short and not that the slice is over
        return context.cancellationSignal.aborted ? await context.cancelled : result;
      } finally {
        clearInterval(pulse);
      }
    },
  };
}

/** Signals transfers through Temporal. */
export function transferSignaller(client: Client): SignalTransfer {
  return async (txId, observation) => {
    try {
      await client.withDeadline(Date.now() + 5_000, () =>
        client.workflow.getHandle(transferWorkflowId(txId)).signal(observedSignal, observation),
      );
      return 'sent';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'gone';
      throw error;
    }
  };
}
