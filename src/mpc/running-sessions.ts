import type { NodeIndex } from '../messages/nodes';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import { traced } from '../platform/tracing/tracing';
import { activeSessions, sessionOutcomes, sessionSeconds } from './metrics';
import type { IdleClock } from './idle-clock';
import type { PeerLink } from './peer-link';
import type { Session } from './session';
import { toFailure, unavailable } from './session-failure';
import { isLong } from './session-slots';

interface RunningSession {
  session: Session;
  keyId: string | undefined;
  done: Promise<void>;
}

export interface RunningSessionsOptions {
  self: NodeIndex;
  link: Pick<PeerLink, 'abort'>;
  clock: IdleClock;
  logger: Logger;
}

/** The sessions that a node has now, by their handles. */
export class RunningSessions {
  private readonly running = new Map<string, RunningSession>();
  /** Other participants that are being told that a session has failed here. */
  private readonly telling = new Set<Promise<void>>();

  constructor(private readonly options: RunningSessionsOptions) {}

  get count(): number {
    return this.running.size;
  }

  has(handle: string): boolean {
    return this.running.has(handle);
  }

  /** @throws GatewayError not_found */
  get(handle: string): Session {
    const session = this.find(handle);
    if (!session) throw new GatewayError('not_found', 'no such session');
    return session;
  }

  find(handle: string): Session | undefined {
    return this.running.get(handle)?.session;
  }

  /** Keeps the session while `work` runs; a failure is logged, counted and sent to every other participant. @throws GatewayError */
  run<R>(handle: string, session: Session, keyId: string | undefined, work: () => Promise<R>): Promise<R> {
    const outcome = this.observe(handle, session, work);
    this.running.set(handle, { session, keyId, done: outcome.then(ignore, ignore) });
    return outcome;
  }

  private async observe<R>(handle: string, session: Session, work: () => Promise<R>): Promise<R> {
    const { kind, initiator } = session.params;
    const { logger, self, clock } = this.options;
    const role = initiator === self ? 'initiator' : 'participant';
    const log = logger.child({ session: handle.slice(0, 16), kind, role, peers: session.others });
    const begun = process.hrtime.bigint();
    const ended = clock.begin();
    const attributes = { 'mpc.session': kind, 'mpc.role': role, 'mpc.node': self };
    activeSessions.inc({ kind });
    try {
      const result = await traced('signing session', { attributes }, work);
      sessionOutcomes.inc({ kind, role, outcome: 'done' });
      sessionSeconds.observe({ kind, role }, Number(process.hrtime.bigint() - begun) / 1e9);
      log.debug('session completed');
      return result;
    } catch (error) {
      const failure = toFailure(error, self, log);
      sessionOutcomes.inc({ kind, role, outcome: failure.code });
      log.warn({ code: failure.code, reason: failure.message }, 'session failed');
      for (const party of session.others) this.tell(party, handle, failure.code);
      throw failure;
    } finally {
      session.end(unavailable('the session has ended'));
      this.running.delete(handle);
      ended();
      activeSessions.dec({ kind });
    }
  }

  /** Ends every session with this peer by this key. */
  endAll(keyId: string, peer: NodeIndex, reason: GatewayError): void {
    for (const running of this.running.values())
      if (running.keyId === keyId && running.session.others.includes(peer)) running.session.end(reason);
  }

  /**
   * Waits for all of them; those that remain after `graceMs` are stopped. A generation that takes seconds is stopped at once, unless this
   * node has its share: then it is stored, since the others may store theirs. Returns when the other participants have been told.
   */
  async drain(graceMs: number, reason: GatewayError): Promise<void> {
    const all = Promise.all([...this.running.values()].map(({ done }) => done));
    for (const { session } of this.running.values()) if (isLong(session.params) && !session.hasResult) session.stop(reason);
    const timer = setTimeout(() => {
      for (const { session } of this.running.values()) session.stop(reason);
    }, graceMs);
    await all;
    clearTimeout(timer);
    await Promise.all(this.telling);
  }

  private tell(party: NodeIndex, handle: string, reason: string): void {
    const told = this.options.link
      .abort(party, handle, reason)
      .catch(ignore)
      .finally(() => this.telling.delete(told));
    this.telling.add(told);
  }
}

const ignore = (): void => undefined;
