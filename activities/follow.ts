import { Context } from '@temporalio/activity';
import type { ChainRegistry } from '../src/chains/registry';
import type { ChainAlarms } from '../src/following/chain-alarms';
import { followChain } from '../src/following/follower';
import { FundingMemory } from '../src/following/funding-memory';
import { ObservationNotifier } from '../src/following/observation-notifier';
import type { DepositsPort, FollowOptions, SignalTransfer } from '../src/following/ports';
import type { FollowerActivities } from '../src/messages/following';
import { Alarms } from '../src/platform/alarms';
import { getSignedType } from '../src/signed-types';
import { getClient, type ObserveDependencies } from '../src/transfers/dependencies';
import { observeTransfer } from '../src/transfers/confirm/observe';
import { correctReorged } from '../src/transfers/confirm/reconcile-reorg';
import { withHeartbeat } from './heartbeat';

interface FollowDependencies extends ObserveDependencies {
  registry: ChainRegistry;
  deposits: DepositsPort;
  signalTransfer: SignalTransfer;
  chainAlarms: ChainAlarms;
  /** Called for ended transfers whose block was reorganised away. */
  onConfirmedReorged: (txId: string) => Promise<void>;
  /** Starts the workflow that has a refunded transfer cancelled which is in no block any more. */
  cancelReopened: (txId: string) => Promise<unknown>;
  /** Stops the follower with the process, before the worker's grace time is over. */
  stop?: AbortSignal;
  /** How long a run of the activity works; by default as in FollowOptions. */
  sliceMs?: number;
}

/** The table of types is that of production unless a test has its own. `clients`: of the follower alone. */
type FollowActivityOptions = Omit<FollowDependencies, 'getSignedType' | 'alarms'> &
  Partial<Pick<FollowDependencies, 'getSignedType'>>;

/**
 * The follower as one long activity: sends a heartbeat at every poll; ends by cancellation, worker shutdown or after its work
 * period.
 */
export function createFollowActivity(options: FollowActivityOptions): FollowerActivities {
  const dependencies: FollowDependencies = { getSignedType, ...options, alarms: new Alarms(options.logger) };
  const { registry, stop, signalTransfer, ...rest } = dependencies;
  // they outlive a run of the activity, so that the next one does not signal everything again
  const memories = new Map<string, Pick<FollowOptions, 'notifier' | 'funding'>>();
  return {
    async followChain({ chain: name }) {
      const context = Context.current();
      const chain = registry.get(name);
      const client = getClient(dependencies, name);
      const notifier = () => new ObservationNotifier(signalTransfer, rest.logger.child({ chain: name }));
      const memory = memories.get(name) ?? { notifier: notifier(), funding: new FundingMemory() };
      memories.set(name, memory);
      const signal = stop ? AbortSignal.any([context.cancellationSignal, stop]) : context.cancellationSignal;
      const onConfirmedReorged = (txId: string) => correctReorged({ ...rest, client }, { txId });
      const observe = (txId: string) => observeTransfer(dependencies, { txId });
      const result = await withHeartbeat(
        (heartbeat) => followChain({ ...rest, ...memory, onConfirmedReorged, observe, chain, client, signal, heartbeat }),
        // another worker may follow the chain next, and raises what is still so
      ).finally(() => rest.chainAlarms.end(name));
      // `cancelled` rejects, so that Temporal records a cancellation and not a completed activity
      return context.cancellationSignal.aborted ? await context.cancelled : result;
    },
  };
}
