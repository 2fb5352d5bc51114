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
}

/** The follower as one long activity: heartbeats at every poll, ends by cancellation, worker shutdown or its slice. */
export function createFollowActivity(dependencies: FollowDependencies): Pick<ChainActivities, 'followChain'> {
  const { clients, registry, ...rest } = dependencies;
  return {
    async followChain({ chain: name }) {
      const context = Context.current();
      const chain = registry.get(name);
      const client = clients.get(name);
      if (!client) throw new Error(`no client for ${name}`);
      const result = await followChain({
        ...rest,
        chain,
        client,
        signal: context.cancellationSignal,
        heartbeat: (details) => context.heartbeat(details),
      });
      // `cancelled` rejects: Temporal has to learn that the work was cut short and not that the slice is over
      return context.cancellationSignal.aborted ? await context.cancelled : result;
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
