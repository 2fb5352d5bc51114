import type { EndpointFault } from '../chains/endpoints';
import type { AlertName } from '../platform/alert-names';
import type { Logger } from '../platform/logging';
import { chainAlarms } from './metrics';

export type ChainAlert = Extract<
  AlertName,
  EndpointFault['alert'] | 'blocks_not_agreed' | 'account_used_elsewhere' | 'deposits_untraced'
>;

const repeatMs = 5 * 60_000;

interface Raised {
  reason: string;
  /** ms of the clock. */
  loggedAt: number;
}

/**
 * What is wrong with a chain although it can be read: a metric, a detail of readiness, and a line in the log, repeated every five minutes
 * until it is over. One for all chains of a process.
 */
export class ChainAlarms {
  /** By chain and alert. */
  private readonly raised = new Map<string, Map<ChainAlert, Raised>>();

  constructor(private readonly logger: Pick<Logger, 'error' | 'info'>) {}

  raise(chain: string, alert: ChainAlert, reason: string): void {
    const ofChain = this.raised.get(chain) ?? new Map<ChainAlert, Raised>();
    this.raised.set(chain, ofChain);
    const before = ofChain.get(alert);
    const now = Date.now();
    const isDue = !before || now - before.loggedAt >= repeatMs;
    ofChain.set(alert, { reason, loggedAt: isDue ? now : before.loggedAt });
    chainAlarms.set({ chain, alert }, 1);
    if (isDue) this.logger.error({ alert, chain }, reason);
  }

  clear(chain: string, alert: ChainAlert): void {
    const wasRaised = this.raised.get(chain)?.delete(alert) ?? false;
    chainAlarms.set({ chain, alert }, 0);
    if (wasRaised) this.logger.info({ alert, chain }, 'the alarm is over');
  }

  /** A run of the chain's follower is over: the next one raises what is still so, in this process or in another. */
  end(chain: string): void {
    for (const alert of this.raised.get(chain)?.keys() ?? []) chainAlarms.remove({ chain, alert });
    this.raised.delete(chain);
  }

  /** For readiness, by chain: details, which make nothing not ready. */
  get details(): Record<string, string> {
    const chains = [...this.raised].filter(([, alerts]) => alerts.size > 0);
    return Object.fromEntries(
      chains.map(([chain, alerts]) => [
        `alarms:${chain}`,
        [...alerts].map(([alert, { reason }]) => `${alert}: ${reason}`).join('; '),
      ]),
    );
  }
}
