import { Context } from '@temporalio/activity';
import type { ChainRegistry } from '../src/chains/registry';
import type { ChainAlarms } from '../src/following/chain-alarms';
import { followChain } from '../src/following/follower';
import { ObservationNotifier } from '../src/following/observation-notifier';
import type { DepositsPort, SignalTransfer } from '../src/following/ports';
import type { FollowerActivities } from '../src/messages/following';
import { getClient, type ObserveDependencies } from '../src/transfers/dependencies';
import { observeTransfer } from '../src/transfers/confirm/observe';
import { correctReorged } from '../src/transfers/confirm/reconcile-reorg';
import { withHeartbeat } from './heartbeat';

export interface FollowDependencies extends ObserveDependencies {
  registry: ChainRegistry;
  deposits: DepositsPort;
  signalTransfer: SignalTransfer;
  chainAlarms: ChainAlarms;
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
  const { registry, stop, signalTransfer, ...rest } = dependencies;
  // they outlive a run of the activity, so that the next one does not signal everything again
  const notifiers = new Map<string, ObservationNotifier>();
  return {
    async followChain({ chain: name }) {
      const context = Context.current();
      const chain = registry.get(name);
      const client = getClient(dependencies, name);
      const notifier = notifiers.get(name) ?? new ObservationNotifier(signalTransfer, rest.logger.child({ chain: name }));
      notifiers.set(name, notifier);
      const signal = stop ? AbortSignal.any([context.cancellationSignal, stop]) : context.cancellationSignal;
      const onConfirmedReorged = (txId: string) => correctReorged({ ...rest, client }, { txId });
      const observe = (txId: string) => observeTransfer(dependencies, { txId });
      const result = await withHeartbeat((heartbeat) =>
        followChain({ ...rest, notifier, onConfirmedReorged, observe, chain, client, signal, heartbeat }),
      );
      // `cancelled` rejects, so that Temporal records a cancellation and not a completed activity
      return context.cancellationSignal.aborted ? await context.cancelled : result;
    },
  };
}
