import pino from 'pino';
import { GatewayError } from '../../../src/platform/errors';
import type { NodeIndex } from '../../../src/messages/nodes';
import { ProtocolError } from '../../../src/mpc/protocol/errors';
import { type RoundMessages, type ProtocolRun } from '../../../src/mpc/protocols';
import type { Session } from '../../../src/mpc/session';
import type { PeerLink } from '../../../src/mpc/peer-link';
import { SessionManager } from '../../../src/mpc/session-manager';
import { IdleClock } from '../../../src/mpc/idle-clock';
import { sessionLimits } from '../../../src/mpc/session-slots';
import type { SessionTask } from '../../../src/mpc/session-task';
import { encodeProposal, encodeRoster, type SessionParams } from '../../../src/mpc/session-params';
import { newKeyPair } from '../../keys';
import { metricValue } from '../../metrics';

const params = (initiator: NodeIndex, participants: NodeIndex[] = [1, 2]): SessionParams => ({
  protocol: 'ecdsa-secp256k1',
  kind: participants.length === 3 ? 'keygen' : 'sign',
  initiator,
  participants,
  request: '{}',
});
const fast = { perInitiator: 2, waitMs: 0, beginMs: 200, roundMs: 200, lifeMs: 500 };
const slow = { perInitiator: 1, waitMs: 100, beginMs: 2_000, roundMs: 60_000, lifeMs: 60_000 };
const limits = { ...sessionLimits, sign: fast, keygen: slow };

const settled = (act: () => void): Promise<void> => Promise.resolve().then(act);

/** Three nodes connected by function calls, with a protocol that only exchanges names. */
class Net {
  readonly sessions = new Map<NodeIndex, SessionManager>();
  readonly opened: string[] = [];
  readonly disposed: NodeIndex[] = [];
  /** What the tasks' runs ended with. */
  readonly failures: unknown[] = [];
  closed = 0;
  readonly clock = new IdleClock();
  admit: (party: NodeIndex) => Promise<void> = () => Promise.resolve();
  /** How long an initiator waits for an answer. */
  proposeMs = 1_000;
  deliver: (from: NodeIndex, to: NodeIndex, round: number) => Promise<void> = () => Promise.resolve();
  /** Runs when a node has its result. */
  storing: (self: NodeIndex) => Promise<void> = () => Promise.resolve();
  /** Tells a participant that a session has failed. */
  tell: (to: NodeIndex) => Promise<void> = () => Promise.resolve();
  /** Runs while a node processes the messages of a round. */
  processing: (self: NodeIndex, round: number, session: Session) => Promise<void> = () => Promise.resolve();
  private readonly keys = new Map(([1, 2, 3] as const).map((party) => [party, newKeyPair('P-256')]));

  constructor() {
    for (const self of [1, 2, 3] as const) {
      const { privateKey } = this.key(self);
      const link: PeerLink = {
        propose: (to, proposal) => this.inTime(this.at(to).onProposal(self, encodeProposal(proposal))),
        roster: (to, handle, roster) => settled(() => this.at(to).onRoster(self, handle, encodeRoster(roster))),
        message: async (to, handle, round, body, signature) => {
          await this.deliver(self, to, round);
          this.at(to).onMessage(self, handle, round, Buffer.from(body), signature);
        },
        abort: async (to, handle, reason) => {
          await this.tell(to);
          this.at(to).onAbort(self, handle, reason);
        },
      };
      const options = {
        self,
        signingKey: privateKey,
        getPublicKey: (party: NodeIndex) => this.key(party).publicKey,
        link,
        clock: this.clock,
        logger: pino({ level: 'silent' }),
        limits,
      };
      const admit = async () => {
        await this.admit(self);
        return this.task(self);
      };
      this.sessions.set(self, new SessionManager({ ...options, acceptProposal: admit }));
    }
  }

  at(party: NodeIndex): SessionManager {
    return this.sessions.get(party) as SessionManager;
  }

  initiate(party: NodeIndex, participants?: NodeIndex[]): Promise<string> {
    return this.at(party).initiate(params(party, participants), this.task(party));
  }

  get active(): number {
    return [...this.sessions.values()].reduce((sum, { active }) => sum + active, 0);
  }

  async idle(): Promise<void> {
    for (let tries = 0; this.active > 0 && tries < 100; tries += 1) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(this.active).toBe(0);
  }

  private inTime<R>(answer: Promise<R>): Promise<R> {
    const late = new GatewayError('signers_unavailable', 'no answer in time');
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(late), this.proposeMs);
      answer.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }

  private task(self: NodeIndex): SessionTask<string> {
    return {
      protocol: 'ecdsa-secp256k1',
      run: (session) => {
        this.opened.push(session.id.toString('hex'));
        const result = session.run(this.rounds(self, session)).catch((error: unknown) => {
          this.failures.push(error);
          throw error;
        });
        return result.then(async (value) => {
          await this.storing(self);
          session.assertRunning();
          return value;
        });
      },
      dispose: () => this.disposed.push(self),
    };
  }

  private rounds(self: NodeIndex, session: Session): ProtocolRun<string> {
    let round = 0;
    const heard: string[] = [];
    const messages = (): RoundMessages => new Map(session.others.map((to) => [to, Buffer.from(`${self}>${to}#${round}`)]));
    return {
      rounds: 3,
      start: () => {
        round = 1;
        return Promise.resolve(messages());
      },
      next: async (incoming) => {
        await this.processing(self, round, session);
        heard.push(...[...incoming.values()].map((body) => Buffer.from(body).toString()));
        round += 1;
        return round > 3 ? { result: heard.join(' ') } : { messages: messages() };
      },
      close: () => {
        this.closed += 1;
        return Promise.resolve();
      },
    };
  }

  private key(party: NodeIndex) {
    const keys = this.keys.get(party);
    if (!keys) throw new Error('no such party');
    return keys;
  }
}

describe('Sessions', () => {
  let net: Net;
  beforeEach(() => {
    net = new Net();
  });

  test('two agree on a new id, exchange every round and free everything', async () => {
    expect(await net.initiate(1)).toBe('2>1#1 2>1#2 2>1#3');
    await net.idle();
    expect(new Set(net.opened).size).toBe(1);
    expect(net.opened).toHaveLength(2);
    expect(net.closed).toBe(2);
    expect(net.disposed.sort()).toEqual([1, 2]);
    await net.initiate(1);
    expect(new Set(net.opened).size).toBe(2);
  });

  test('three agree on one id', async () => {
    expect(await net.initiate(3, [1, 2, 3])).toBe('1>3#1 2>3#1 1>3#2 2>3#2 1>3#3 2>3#3');
    await net.idle();
    expect(new Set(net.opened).size).toBe(1);
    expect(net.opened).toHaveLength(3);
  });

  test('sessions are counted by role and outcome, with those that run', async () => {
    const count = (name: string, labels: Record<string, string>) =>
      metricValue(`gateway_mpc_${name}`, { kind: 'sign', ...labels });
    const read = async () => [
      await count('sessions_total', { role: 'initiator', outcome: 'done' }),
      await count('sessions_total', { role: 'participant', outcome: 'done' }),
      await count('sessions_total', { role: 'initiator', outcome: 'signers_unavailable' }),
      await count('session_duration_seconds_count', { role: 'initiator' }),
    ];
    const before = await read();
    let active = 0;
    net.processing = async (self, round) => {
      if (self === 1 && round === 2) active = await count('sessions_active', {});
    };
    await net.initiate(1);
    await net.idle();
    net.deliver = () => Promise.reject(new GatewayError('signers_unavailable', 'node 2 is not reachable'));
    await expect(net.initiate(1)).rejects.toMatchObject({ code: 'signers_unavailable' });
    await net.idle();
    expect((await read()).map((value, index) => value - (before[index] ?? 0))).toEqual([1, 1, 1, 1]);
    expect([active, await count('sessions_active', {})]).toEqual([2, 0]);
  });

  test('a refusal of the transaction reaches the initiator with its code; no session is left open', async () => {
    net.admit = (party) =>
      party === 2 ? Promise.reject(new GatewayError('intent_mismatch', 'recipient: another')) : Promise.resolve();
    await expect(net.initiate(1, [1, 2, 3])).rejects.toMatchObject({ code: 'intent_mismatch' });
    await net.idle();
    expect(net.opened).toHaveLength(0);
    expect(net.disposed.sort()).toEqual([1, 3]);
    net.admit = () => Promise.resolve();
    await expect(net.initiate(1, [1, 2, 3])).resolves.toContain('2>1#3');
  });

  test('a message that cannot be delivered ends the session at all participants', async () => {
    const unreachable = new GatewayError('signers_unavailable', 'node 3 is not reachable');
    net.deliver = (from, to, round) => (from === 2 && to === 3 && round === 2 ? Promise.reject(unreachable) : Promise.resolve());
    await expect(net.initiate(1, [1, 2, 3])).rejects.toMatchObject({ code: 'signers_unavailable' });
    await net.idle();
    expect(net.closed).toBe(3);
    expect(net.disposed.sort()).toEqual([1, 2, 3]);
  });

  test('what is wrong with a message counts although its sender has ended the session meanwhile', async () => {
    const verdict = new ProtocolError('ban', 'the check failed', 2);
    net.processing = async (self, round, session) => {
      if (self !== 1 || round !== 2) return;
      session.endByPeer(new GatewayError('signers_unavailable', 'node 2 has aborted'));
      await new Promise((resolve) => setTimeout(resolve, 20));
      throw verdict;
    };
    await expect(net.initiate(1)).rejects.toMatchObject({ code: 'signers_unavailable' });
    expect(net.failures).toContain(verdict);
    await net.idle();
  });

  test('nothing more is sent once the session has ended while a message was processed', async () => {
    const sent: number[] = [];
    net.deliver = (from, _to, round) => {
      if (from === 1) sent.push(round);
      return Promise.resolve();
    };
    net.processing = (self, round, session) => {
      if (self === 1 && round === 1) session.endByPeer(new GatewayError('signers_unavailable', 'node 2 has aborted'));
      return Promise.resolve();
    };
    await expect(net.initiate(1)).rejects.toMatchObject({ code: 'signers_unavailable' });
    await net.idle();
    expect(sent).toEqual([1]);
  });

  test('the wait for a silent peer is limited', async () => {
    net.deliver = (from) => (from === 2 ? new Promise(() => undefined) : Promise.resolve());
    await expect(net.initiate(1)).rejects.toMatchObject({
      code: 'signers_unavailable',
      message: expect.stringContaining('node 2 sent nothing'),
    });
    await net.idle();
  });

  test('concurrent sessions are limited per initiator: no node can use up the limit of another', async () => {
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    net.deliver = (from) => (from === 2 ? gate : Promise.resolve());
    const first = [net.initiate(2), net.initiate(2)];
    await new Promise((resolve) => setTimeout(resolve, 20));
    await expect(net.initiate(2)).rejects.toMatchObject({
      code: 'signers_unavailable',
      message: expect.stringContaining('busy'),
    });
    const other = net.initiate(1);
    letGo();
    await Promise.all([...first, other]);
    await expect(net.initiate(2)).resolves.toBeDefined();
  });

  const all: NodeIndex[] = [1, 2, 3];
  const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

  test('a generation waits for the end of the one before it at a peer, and not for long', async () => {
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    // node 3 ends after the others
    net.processing = (self, round) => (self === 3 && round === 3 ? gate : Promise.resolve());
    await net.initiate(1, all);
    const second = net.initiate(1, all);
    await after(20);
    letGo();
    await expect(second).resolves.toBeDefined();
    net.processing = (self, round) => (self === 3 && round === 3 ? after(300) : Promise.resolve());
    await net.initiate(1, all);
    await expect(net.initiate(1, all)).rejects.toMatchObject({ code: 'signers_unavailable' });
    await net.idle();
  });

  test('a peer that has not answered when the initiator gives up is free at once', async () => {
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    net.admit = (party) => (party === 3 ? gate : Promise.resolve());
    net.proposeMs = 20;
    await expect(net.initiate(1, all)).rejects.toMatchObject({ code: 'signers_unavailable' });
    // until the other peer, whose session has ended, has told that too
    await after(20);
    letGo();
    await after(20);
    net.admit = () => Promise.resolve();
    await expect(net.initiate(1, all)).resolves.toBeDefined();
    await net.idle();
  });

  test('the clock says for how long a node has run no session', async () => {
    expect(net.clock.idleMs).toBe(Infinity);
    net.deliver = () => after(20);
    const signing = net.initiate(1);
    await after(10);
    expect(net.clock.idleMs).toBe(0);
    await signing;
    await net.idle();
    expect(net.clock.idleMs).toBeLessThan(1_000);
    expect(net.clock.idleMs).toBeGreaterThan(0);
  });

  test('a stopping node refuses sessions, finishes running ones and aborts those that do not end', async () => {
    net.deliver = (from) => (from === 2 ? new Promise(() => undefined) : Promise.resolve());
    const running = net.initiate(1);
    running.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await net.at(2).drain(30);
    await expect(running).rejects.toMatchObject({ code: 'signers_unavailable' });
    await expect(net.initiate(1)).rejects.toMatchObject({ message: expect.stringContaining('is stopping') });
  });

  test.each([1, 3] as const)(
    'node %i, stopping, gives up the generation of a key at once, and has told the others',
    async (node) => {
      net.deliver = (from, _to, round) => (from === 2 && round === 2 ? new Promise(() => undefined) : Promise.resolve());
      net.tell = () => after(50);
      const generation = net.initiate(1, all);
      generation.catch(() => undefined);
      await after(20);
      const others = all.filter((party) => party !== node).map((party) => net.at(party));
      expect(others.map(({ active }) => active)).toEqual([1, 1]);
      const begun = performance.now();
      await net.at(node).drain(60_000);
      expect(performance.now() - begun).toBeLessThan(5_000);
      await after(20);
      expect(net.active).toBe(0);
      await expect(generation).rejects.toMatchObject({ code: 'signers_unavailable' });
    },
  );

  test('a key of which a stopping node has its share is stored; within the time that it has', async () => {
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    const reached = new Promise<void>((resolve) => {
      net.storing = (self) => {
        if (self !== 1) return Promise.resolve();
        resolve();
        return gate;
      };
    });
    const stored = net.initiate(1, all);
    await reached;
    const drained = net.at(1).drain(60_000);
    await after(20);
    letGo();
    await expect(stored).resolves.toBeDefined();
    await drained;

    net.storing = () => after(300);
    const late = net.initiate(2, [2, 3]);
    late.catch(() => undefined);
    await after(50);
    await net.at(2).drain(20);
    await expect(late).rejects.toMatchObject({ code: 'signers_unavailable', message: expect.stringContaining('is stopping') });
  });

  test('a proposal that a node has not verified when it is stopped becomes no session', async () => {
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    net.admit = (party) => (party === 3 ? gate : Promise.resolve());
    const generation = net.initiate(1, all);
    generation.catch(() => undefined);
    await after(20);
    await net.at(3).drain(60_000);
    letGo();
    await expect(generation).rejects.toMatchObject({ message: expect.stringContaining('is stopping') });
    expect(net.at(3).active).toBe(0);
    await net.idle();
  });
});
