import { Context } from '@temporalio/activity';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import type { ChainClient } from '../src/chains/adapter';
import type { ChainRegistry } from '../src/chains/registry';
import { followChain } from '../src/following/follower';
import type { DepositsPort, SignalTransfer } from '../src/following/ports';
import type { Hex } from '../src/chains/types';
import type { FollowerActivities } from '../src/messages/following';
import { chainObservedSignal } from '../src/messages/transfer';
import { transferWorkflowId } from '../src/messages/workflow-ids';
import type { Logger } from '../src/platform/logging';
import { noteIfBlacklisted } from '../src/transfers/destination';
import { reconcileReorg } from '../src/transfers/reconcile-reorg';
import { withHeartbeat } from './heartbeat';

export interface FollowDependencies {
  clients: ReadonlyMap<string, ChainClient>;
  registry: ChainRegistry;
  database: DataSource;
  deposits: DepositsPort;
  signalTransfer: SignalTransfer;
  /** Told, once everything that mends itself was tried. */
  onConfirmedReorged: (txId: string) => Promise<void>;
  logger: Logger;
  /** Ends the follower with the process, before the worker's grace time is over. */
  stop?: AbortSignal;
}

/** The follower as one long activity: heartbeats at every poll, ends by cancellation, worker shutdown or its slice. */
export function createFollowActivity(dependencies: FollowDependencies): FollowerActivities {
  const { clients, registry, stop, ...rest } = dependencies;
  return {
    async followChain({ chain: name }) {
      const context = Context.current();
      const chain = registry.get(name);
      const client = clients.get(name);
      if (!client) throw new Error(`no client for ${name}`);
      const signal = stop ? AbortSignal.any([context.cancellationSignal, stop]) : context.cancellationSignal;
      const onConfirmedReorged = correctReorged(client, rest);
      const result = await withHeartbeat((heartbeat) =>
        followChain({ ...rest, onConfirmedReorged, chain, client, signal, heartbeat }),
      );
      // `cancelled` rejects, so that Temporal records a cancellation and not a completed work slice
      return context.cancellationSignal.aborted ? await context.cancelled : result;
    },
  };
}

/**
 * An ended transfer has lost its block: the bytes that were executed are sent again (the same nonce, so money moves once),
 * and once mined anew the books follow; also to an address that was blacklisted since, of which the record then says so.
 * What had been reverted and is refunded is not sent again: it might succeed now.
 * Safe to repeat; the follower does so until the transfer stands.
 */
export function correctReorged(
  client: Pick<ChainClient, 'broadcast'>,
  { database, logger, onConfirmedReorged }: Pick<FollowDependencies, 'database' | 'logger' | 'onConfirmedReorged'>,
): FollowDependencies['onConfirmedReorged'] {
  return async (txId) => {
    const standing = await reconcileReorg({ database, log: logger }, { txId });
    if (standing === 'stands') {
      logger.info({ tx_id: txId }, 'the transfer was mined again to the same effect');
      return;
    }
    if (standing === 'absent') {
      const [attempt] = await database.query<{ signed: Hex }[]>(
        `select a.signed from transactions t join transfer_attempts a on a.tx_id = t.tx_id and a.tx_hash = t.tx_hash
          where t.tx_id = $1 and t.status = 'CONFIRMED'`,
        [txId],
      );
      if (attempt) {
        await noteIfBlacklisted(database.manager, txId);
        logger.warn({ tx_id: txId, ...(await client.broadcast(attempt.signed)) }, 'sent again');
      }
    }
    await onConfirmedReorged(txId);
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
