import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Semaphore, type SemaphoreLimits } from '../platform/semaphore';
import type { Middleware } from './context';
import type { OpenConnections } from './open-connections';

/** How much of a connection a client can use. Times in milliseconds. */
export interface ConnectionLimits {
  /** For a whole request, whatever its length. */
  request: number;
  /** For a body: this and a time for its bytes, those that have arrived where its length is not known. */
  bodyStart: number;
  /** From the answer until the connection is closed, when its client goes on sending or does not close it. */
  linger: number;
  /**
   * How long a request that was sent before an earlier one was answered keeps its place among those that are worked on: bodies that arrive
   * slowly, answers that are delayed or not read would keep it from the others.
   */
  place: number;
}

const leastBytesPerSecond = 1_000;
/** Requests that have been sent without waiting for the answers to earlier ones. */
const maxPipelined = 16;
/**
 * Of these, over all connections, few are worked on at the same time: what is sent so leaves the process to clients that wait. Each connection
 * has one that waits, at most.
 */
const pipelined: SemaphoreLimits = { permits: 2, maxWaiting: 10_000, maxWaitMs: 60_000 };
/**
 * How long a body may be that is read on after its answer, and discarded: so that the connection can be used again, and because a client that
 * sends all of it before it reads would get a reset in place of the answer (RFC 9112, section 9.6).
 */
const maxDiscardedBytes = 100 * 1024;

/** Destroys a connection that has been ended, if its peer does not close it. */
export function closeSoon(socket: Socket, lingerMs: number): void {
  // no listener that clears it: a connection that is used again would collect them
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

/** After what has been read already, which is 64 KB at most. */
function stopReading(socket: Socket): void {
  // Node reads on after each request that it has parsed
  queueMicrotask(() => socket.pause());
}

/** The requests of connections that have not been answered yet. */
export class OpenRequests {
  private readonly unanswered = new WeakMap<Socket, Set<ServerResponse>>();
  private readonly newest = new WeakMap<Socket, ServerResponse>();
  /** Connections of which nothing more is read: they have sent too many requests, or one that cannot be read. */
  private readonly refused = new WeakSet<Socket>();
  /** Resolved once the newest request is answered. */
  private readonly turns = new WeakMap<Socket, Promise<void>>();
  private readonly pipelined = new Semaphore(pipelined);

  constructor(
    private readonly limits: Pick<ConnectionLimits, 'linger' | 'place'>,
    private readonly connections: OpenConnections,
  ) {}

  /**
   * Delays the close of a connection whose client is still sending: closed at once, it would lose the answer (RFC 9112, section 9.6).
   * Nothing is read on.
   */
  delayClose(socket: Socket): void {
    const close = socket.destroySoon.bind(socket);
    // what Node calls after an answer with "Connection: close"
    socket.destroySoon = () => {
      if (this.newest.get(socket)?.req.complete !== false && !this.refused.has(socket)) return close();
      socket.end();
      // Node begins to discard the rest within this turn of the event loop
      setImmediate(() => socket.pause());
      closeSoon(socket, this.limits.linger);
    };
  }

  private unansweredOf(socket: Socket): Set<ServerResponse> {
    const known = this.unanswered.get(socket) ?? new Set();
    this.unanswered.set(socket, known);
    return known;
  }

  /**
   * Ends the requests of a connection that is closed. Node does so with the one whose answer is being sent; those behind it would keep their
   * timers, and all that these refer to.
   */
  forget(socket: Socket): void {
    for (const response of this.unansweredOf(socket)) if (response.socket === null) response.emit('close');
  }

  /**
   * Reads nothing more of a connection that has too many: what it sends would be parsed, and kept until it is closed.
   * @returns `last`: its answer, after those of the earlier ones, ends the connection; `beyond`: what had been read by then.
   */
  begin(request: IncomingMessage, response: ServerResponse): 'allowed' | 'last' | 'beyond' {
    const { socket } = request;
    if (this.refused.has(socket)) {
      stopReading(socket);
      // with the connection, Node destroys each with an error of its own, whose stack takes longer than the request: nothing waits for it
      request.destroy = () => request;
      return 'beyond';
    }
    const unanswered = this.unansweredOf(socket).add(response);
    this.newest.set(socket, response);
    this.connections.use(socket);
    response.once('close', () => {
      unanswered.delete(response);
      if (unanswered.size === 0) this.connections.release(socket);
    });
    if (unanswered.size <= maxPipelined) return 'allowed';
    // for good: an answer to an earlier one must not let others follow the refused one
    this.refused.add(socket);
    stopReading(socket);
    return 'last';
  }

  /**
   * Ends a connection whose last request cannot be read, as soon as the complete ones before it are answered (RFC 9112, section 9.3.2).
   * Nothing more is read, and no other request of it is begun.
   * @param refuse answers the last request; not called when that has been answered already, wholly or in part
   */
  afterEarlier(socket: Socket, refuse: () => void): void {
    this.refused.add(socket);
    stopReading(socket);
    const earlier = [...this.unansweredOf(socket)].filter(({ req }) => req.complete).at(-1);
    if (earlier) earlier.once('close', () => this.endLast(socket, refuse));
    else this.endLast(socket, refuse);
  }

  private endLast(socket: Socket, refuse: () => void): void {
    const last = this.newest.get(socket);
    // what cannot be read comes after the newest request, if that is complete
    if (!last?.headersSent || last.req.complete) return refuse();
    // a second answer would be taken for a part of the first one, or for that to the next request
    if (!last.writableEnded) return void socket.destroy();
    if (!socket.writable) return;
    socket.end();
    closeSoon(socket, this.limits.linger);
  }

  /**
   * Works on the requests of a connection one after the other, since they are answered in their order anyway (RFC 9112, section 9.3.2): a
   * connection that does not wait for answers takes no more of the process than one that does, and all of them together only a small part.
   */
  inTurn({ socket }: IncomingMessage, response: ServerResponse, work: () => void): void {
    const previous = this.turns.get(socket);
    const answered = new Promise<void>((resolve) => response.once('close', () => resolve()));
    this.turns.set(socket, answered);
    const isPipelined = this.unansweredOf(socket).size > 1;
    if (!previous || !isPipelined) return work();
    void previous.then(async () => {
      // all that wait behind one another on a connection that is gone are told at once
      if (socket.destroyed) return;
      if (!(await this.pipelined.acquire())) return void socket.destroy();
      // ended already: the request has not arrived, and is refused
      if (socket.writable) work();
      if (!socket.destroyed) await Promise.race([answered, delay(this.limits.place, undefined, { ref: false })]);
      this.pipelined.release();
    });
  }
}

/**
 * Limits the time of a body that arrives slowly: `tooSlow` is called when it has not arrived in time. While some of it waits to be read the
 * delay is not the client's, and its time begins again. Node's own limit is the same for all requests, and a body of a few bytes could take as
 * long as one of 100 KB. What a body in chunks may take grows with what has arrived of it.
 */
export function limitBodyTime(request: IncomingMessage, limits: ConnectionLimits, tooSlow: () => void): void {
  const { socket, headers } = request;
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  if (request.complete || (length === undefined && encoding === undefined)) return;
  const readBefore = socket.bytesRead;
  let begun = performance.now();
  const leftMs = (): number => {
    const bytes = encoding === undefined ? Number(length) : socket.bytesRead - readBefore;
    const allowedMs = Math.min(limits.request, limits.bodyStart + (bytes / leastBytesPerSecond) * 1_000);
    return allowedMs - (performance.now() - begun);
  };
  let timer: NodeJS.Timeout;
  const check = (): void => {
    if (request.complete || request.destroyed) return;
    if (request.readableLength > 0) {
      begun = performance.now() + limits.bodyStart;
      return wait(limits.bodyStart);
    }
    const ms = leftMs();
    if (ms > 0) wait(ms);
    else tooSlow();
  };
  // what has arrived while the event loop was busy is read first
  const wait = (ms: number): void => void (timer = setTimeout(() => setImmediate(check), ms).unref());
  wait(leftMs());
  request.once('close', () => clearTimeout(timer));
}

/** Whether a request that is answered early still has a short rest, which is discarded, so that the connection can be used again. */
const hasShortRest = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= maxDiscardedBytes;

/** Says in the answer that the connection ends, when the request has not arrived and too much of it may be to come. */
export const endEarlyAnswered: Middleware = async ({ req, response }, next) => {
  await next();
  if (!req.complete && !hasShortRest(req)) response.set('Connection', 'close');
};

/** Destroys a connection whose request does not arrive within `linger` after its answer. */
export function limitEarlyAnswers(request: IncomingMessage, response: ServerResponse, { linger }: ConnectionLimits): void {
  const check = () => void (request.complete || request.socket.destroy());
  response.once('finish', () => void setTimeout(check, linger).unref());
}
