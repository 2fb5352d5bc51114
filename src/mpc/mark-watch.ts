import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import type { NodeIndex } from '../messages/nodes';
import type { JournalMark } from './journal-mark';
import { markUnwritable } from './metrics';

/** Between two tries to write the mark while that fails. */
const retryMs = 5_000;

export interface MarkWatchOptions {
  self: NodeIndex;
  mark: JournalMark;
  logger: Logger;
  retryMs?: number;
}

/**
 * Keeps a node from beginning sessions while its mark cannot be written (a full or read-only disk): it would leave each of them, and
 * its peers would in the end ban it for that. The mark is written again until it succeeds.
 */
export class MarkWatch {
  private retry: NodeJS.Timeout | undefined;

  constructor(private readonly options: MarkWatchOptions) {
    options.mark.onWrite((failure) => this.note(failure));
  }

  get isWritable(): boolean {
    return this.retry === undefined;
  }

  /** @throws GatewayError journal_behind */
  assertWritable(): void {
    if (!this.isWritable)
      throw new GatewayError(
        'journal_behind',
        `node ${this.options.self} cannot write its journal mark and signs nothing until it can`,
      );
  }

  close(): void {
    clearInterval(this.retry);
  }

  /** One alarm, however many writes fail. */
  private note(failure: Error | null): void {
    const { mark, logger, retryMs: wait = retryMs } = this.options;
    if ((failure === null) === this.isWritable) return;
    if (failure === null) {
      clearInterval(this.retry);
      this.retry = undefined;
      logger.warn('the journal mark can be written again');
    } else {
      this.retry = setInterval(() => void mark.rewrite().catch(() => undefined), wait).unref();
      logger.fatal({ alert: 'journal_mark_unwritable', err: failure }, 'the journal mark cannot be written: nothing is signed');
    }
    markUnwritable.set(this.isWritable ? 0 : 1);
  }
}
