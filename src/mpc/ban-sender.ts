import type { Logger } from '../platform/logging';
import type { NodeIndex } from '../messages/nodes';
import type { SignedStatement } from './statement';

/** A peer that is down gets the bans when it is back. */
const retryMs = 30_000;

/** Tells both peers of this node's bans, so that they can return them after a restored backup and raise an alarm of their own; repeated until they have answered. */
export class BanSender {
  private readonly undelivered: { peer: NodeIndex; statement: SignedStatement }[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isBusy = false;

  constructor(
    private readonly peers: readonly NodeIndex[],
    private readonly deliver: (peer: NodeIndex, statement: SignedStatement) => Promise<void>,
    private readonly logger: Logger,
  ) {}

  /** At most two a ban, and bans are few: one a key and peer. */
  send(statement: SignedStatement): void {
    for (const peer of this.peers) this.undelivered.push({ peer, statement });
    if (this.timer) void this.run();
  }

  start(): void {
    this.timer = setInterval(() => void this.run(), retryMs).unref();
    void this.run();
  }

  close(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Every undelivered one once. */
  private async run(): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      for (let left = this.undelivered.length; left > 0 && this.timer; left -= 1) {
        const next = this.undelivered.shift();
        if (!next) break;
        await this.deliver(next.peer, next.statement).catch((error: unknown) => {
          this.undelivered.push(next);
          this.logger.warn(
            { peer: next.peer, reason: error instanceof Error ? error.message : String(error) },
            'a peer was not told of a ban',
          );
        });
      }
    } finally {
      this.isBusy = false;
    }
  }
}
