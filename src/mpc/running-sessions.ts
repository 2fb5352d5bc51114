import type { NodeIndex } from '../messages/nodes';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import { traced } from '../platform/tracing/tracing';
import { activeSessions, sessionOutcomes, sessionSeconds } from './metrics';
import type { IdleClock } from './idle-clock';
import type { PeerLink } from './peer-link';
import type { Session } from './session';
import { toFailure, unavailable } from './session-failure';

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
  async run<R>(handle: string, session: Session, keyId: string | undefined, work: () => Promise<R>): Promise<R> {
    const { kind, initiator } = session.params;
    const { logger, link, self, clock } = this.options;
    const role = initiator === self ? 'initiator' : 'participant';
    const log = logger.child({ session: handle.slice(0, 16), kind, role, peers: session.others });
    const begun = process.hrtime.bigint();
    const ended = clock.begin();
    const attributes = { 'mpc.session': kind, 'mpc.role': role, 'mpc.node': self };
    const outcome = traced('signing session', { attributes }, work);
    this.running.set(handle, { session, keyId, done: outcome.then(ignore, ignore) });
    activeSessions.inc({ kind });
    try {
      const result = await outcome;
      sessionOutcomes.inc({ kind, role, outcome: 'done' });
      sessionSeconds.observe({ kind, role }, Number(process.hrtime.bigint() - begun) / 1e9);
      log.debug('session completed');
      return result;
    } catch (error) {
      const failure = toFailure(error, self, log);
      sessionOutcomes.inc({ kind, role, outcome: failure.code });
      log.warn({ code: failure.code, reason: failure.message }, 'session failed');
      for (const party of session.others) void link.abort(party, handle, failure.code).catch(() => undefined);
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

  /** Waits for all of them; those that remain after `graceMs` are stopped. */
  async drain(graceMs: number, reason: GatewayError): Promise<void> {
    const all = Promise.allSettled([...this.running.values()].map(({ done }) => done));
    const timer = setTimeout(() => {
      for (const { session } of this.running.values()) session.stop(reason);
    }, graceMs);
    await all;
    clearTimeout(timer);
  }
}

const ignore = (): void => undefined;
