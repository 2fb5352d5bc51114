import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { Client, type ClientConfig, DatabaseError, type QueryResult } from 'pg';

/** Statements that a connection keeps prepared; others are parsed and planned each time. */
const maxPrepared = 250;
/**
 * A prepared statement that fails for as long as the connection lives: its table has other columns now (0A000), or the server does
 * not have it, or has another of this name (26000, 42P05).
 */
const unusable = new Set(['0A000', '26000', '42P05']);

type Send = (...query: unknown[]) => Promise<QueryResult>;

/**
 * A connection to Postgres with short waits: statements with parameters stay prepared, and statements that are issued together are
 * written together, without waiting for the answers of those before. They are carried out in the order in which they were issued, and
 * each fails for itself; in a transaction, all that follow a failed one fail too.
 */
export class DatabaseClient extends Client {
  private readonly prepared = new Map<string, string>();
  private onSent: (() => void) | undefined;

  constructor(config?: ClientConfig) {
    super({ ...config, pipeline: true });
    const send = this.query.bind(this) as Send;
    const query: Send = (...given) => {
      this.writeTogether();
      const [text, values, callback] = given;
      const isPlain = typeof text === 'string' && Array.isArray(values) && values.length > 0 && callback === undefined;
      const answer = isPlain ? this.sendPrepared(send, text, values as unknown[]) : send(...given);
      this.onSent?.();
      return answer;
    };
    this.query = query as typeof this.query;
  }

  /** Resolves once the next statement has been issued, so that others can follow it without waiting for its answer. */
  nextSent(): Promise<void> {
    return new Promise((resolve) => {
      this.onSent = () => {
        this.onSent = undefined;
        resolve();
      };
    });
  }

  /** Closes the connection at once, without a message to the server; running statements fail. */
  destroy(): void {
    // the pool drops a client that is not queryable; otherwise it would lend it out until the stream has reported its end
    (this as unknown as { _queryable: boolean })._queryable = false;
    this.stream.destroy();
  }

  private async sendPrepared(send: Send, text: string, values: unknown[]): Promise<QueryResult> {
    const named = { text, values, name: this.prepareName(text) };
    try {
      return await send(named);
    } catch (error) {
      // another connection prepares it again
      if (named.name && error instanceof DatabaseError && unusable.has(error.code ?? '')) this.destroy();
      throw error;
    }
  }

  /** Undefined for a statement that is not to be prepared. */
  private prepareName(text: string): string | undefined {
    const known = this.prepared.get(text);
    if (known || this.prepared.size >= maxPrepared) return known;
    const name = createHash('sha256').update(text).digest('base64url');
    this.prepared.set(text, name);
    return name;
  }

  /** Collects what is written in this turn of the event loop: a write costs more than most statements. */
  private writeTogether(): void {
    const { stream } = this;
    if (stream.writableCorked > 0) return;
    stream.cork();
    process.nextTick(() => stream.uncork());
  }

  private get stream(): Socket {
    return (this as unknown as { connection: { stream: Socket } }).connection.stream;
  }
}
