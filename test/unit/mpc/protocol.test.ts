import { ECDH, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { HDKey } from '@scure/bip32';
import { hexToBytes, keccak256, recoverAddress, toHex, type Hex } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import type { NodeIndex } from '../../../src/messages/nodes';
import {
  keygenRounds,
  maxMessageBytes,
  ProtocolEngine,
  ProtocolError,
  signRounds,
  type KeygenResult,
  type SignResult,
} from '../../../src/mpc/protocol/engine';
import { PooledSession, ThreadPool } from '../../../src/mpc/protocol/pool';
import { run, type Messages, type Session } from '../../protocol-run';

const parties: readonly NodeIndex[] = [1, 2, 3];
const pairs: readonly (readonly [NodeIndex, NodeIndex])[] = [
  [1, 2],
  [1, 3],
  [2, 3],
];
const path = 'm/60/0';
/** Bytes between the parts of a share that are looked for; each is twice as long, longer than the public values in it. */
const partStep = 48;
const digest = hexToBytes(keccak256(toHex('what the client asked for')));
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

async function failure(promise: Promise<unknown>): Promise<ProtocolError> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof ProtocolError)) throw new Error(`expected a ProtocolError, got ${String(outcome)}`);
  return outcome;
}

describe('threshold ECDSA', () => {
  /** One engine a party, as in three processes. */
  const engines = new Map<NodeIndex, ProtocolEngine>();
  let keys: Map<NodeIndex, KeygenResult>;
  let childAddress: Hex;

  const engine = (party: NodeIndex): ProtocolEngine => engines.get(party)!;
  const key = (party: NodeIndex): KeygenResult => keys.get(party)!;
  const open = (party: NodeIndex, peer: NodeIndex, sessionId: Uint8Array, signed = digest): Promise<Session<SignResult>> =>
    engine(party).sign({ sessionId, party, peer, share: key(party).share, path, digest: signed });

  beforeAll(async () => {
    for (const party of parties) engines.set(party, new ProtocolEngine({ maxKeygenSessions: 1, maxSignSessions: 2 }));
    const sessionId = randomBytes(32);
    const sessions = new Map<NodeIndex, Session<KeygenResult>>();
    for (const party of parties) sessions.set(party, await engine(party).keygen({ sessionId, party }));
    const { results, rounds } = await run(sessions);
    keys = results;
    expect(rounds).toBe(keygenRounds);
    const { publicKey, chainCode } = key(1);
    const child = new HDKey({ publicKey, chainCode }).derive(path);
    childAddress = publicKeyToAddress(
      `0x${ECDH.convertKey(child.publicKey!, 'secp256k1', undefined, 'hex', 'uncompressed') as string}`,
    );
  }, 120_000);

  afterAll(async () => {
    await Promise.all(Array.from(engines.values(), (each) => each.close()));
  });

  test('all parties get the same key and chain code, each with its own share', () => {
    for (const party of parties) {
      expect(key(party).publicKey).toHaveLength(33);
      expect(key(party).chainCode).toHaveLength(32);
      expect(toHex(key(party).publicKey)).toBe(toHex(key(1).publicKey));
      expect(toHex(key(party).chainCode)).toBe(toHex(key(1).chainCode));
    }
    expect(new Set(parties.map((party) => keccak256(key(party).share))).size).toBe(3);
  });

  test.each(pairs)('parties %d and %d sign for the BIP-32 child, low s', async (one, other) => {
    const sessionId = randomBytes(32);
    const sessions = new Map([
      [one, await open(one, other, sessionId)],
      [other, await open(other, one, sessionId)],
    ]);
    const { results, rounds } = await run(sessions);
    expect(rounds).toBe(signRounds);
    expect(sessions.get(one)!.rounds).toBe(signRounds);
    const { r, s, recoveryId } = results.get(one)!;
    expect(results.get(other)).toEqual(results.get(one));
    expect(BigInt(toHex(s))).toBeLessThanOrEqual(halfOrder);
    const address = await recoverAddress({ hash: digest, signature: { r: toHex(r), s: toHex(s), yParity: recoveryId } });
    expect(address).toBe(childAddress);
  });

  test('no message of an honest run shows a part of the share of its sender', async () => {
    const sent: [NodeIndex, Buffer][] = [];
    const watched = (party: NodeIndex, session: Session<SignResult>): Session<SignResult> => {
      const keep = (messages: Messages) => {
        for (const message of messages.values()) sent.push([party, Buffer.from(message)]);
      };
      return {
        rounds: session.rounds,
        start: async () => {
          const messages = await session.start();
          keep(messages);
          return messages;
        },
        next: async (incoming) => {
          const answer = await session.next(incoming);
          if ('messages' in answer) keep(answer.messages);
          return answer;
        },
        close: () => session.close(),
      };
    };
    const sessionId = randomBytes(32);
    await run(
      new Map([
        [1, watched(1, await open(1, 2, sessionId))],
        [2, watched(2, await open(2, 1, sessionId))],
      ] as const),
    );
    expect(sent.length).toBeGreaterThan(2);
    for (const [party, message] of sent) {
      const share = Buffer.from(key(party).share);
      const parts = Array.from({ length: Math.floor(share.length / partStep) - 2 }, (_, at) =>
        share.subarray(at * partStep, at * partStep + 2 * partStep),
      );
      expect(parts.length).toBeGreaterThan(100);
      expect(parts.filter((part) => message.includes(part))).toEqual([]);
    }
  });

  test('the given share is not modified', () => {
    expect(key(1).share.some((byte) => byte !== 0)).toBe(true);
  });

  test('a message changed in transit bans its sender and ends the session', async () => {
    const sessionId = randomBytes(32);
    const [a, b] = [await open(1, 2, sessionId), await open(2, 1, sessionId)];
    await a.start();
    const message = (await b.start()).get(1)!;
    message[message.length >> 1]! ^= 1;
    expect(await failure(a.next(new Map([[2, message]])))).toMatchObject({ code: 'ban', culprit: 2 });
    expect(await failure(a.next(new Map([[2, message]])))).toMatchObject({ code: 'aborted' });
    await Promise.all([a.close(), b.close()]);
  });

  test('parties that sign different digests abort without a ban', async () => {
    const sessionId = randomBytes(32);
    const [a, b] = [await open(1, 3, sessionId), await open(3, 1, sessionId, randomBytes(32))];
    await a.start();
    const message = (await b.start()).get(1)!;
    expect(await failure(a.next(new Map([[3, message]])))).toMatchObject({ code: 'aborted', culprit: 3 });
    await b.close();
  });

  test('a message that makes the module fail in phases 2 and 3 bans its sender; in the last phase it does not', async () => {
    const sessionId = randomBytes(32);
    for (const [honestRounds, code] of [
      [0, 'ban'],
      [1, 'ban'],
      [2, 'trapped'],
    ] as const) {
      const [a, b] = [await open(1, 2, sessionId), await open(2, 1, sessionId)];
      let [toB, toA] = [await a.start(), await b.start()];
      for (let round = 0; round < honestRounds; round += 1) {
        const [fromA, fromB] = [await a.next(new Map([[2, toA.get(1)!]])), await b.next(new Map([[1, toB.get(2)!]]))];
        if (!('messages' in fromA) || !('messages' in fromB)) throw new Error('the protocol has ended');
        [toB, toA] = [fromA.messages, fromB.messages];
      }
      const failing = jest
        .spyOn(PooledSession.prototype, 'call')
        .mockRejectedValueOnce(new ProtocolError('trapped', 'unreachable'));
      const error = await failure(a.next(new Map([[2, toA.get(1)!]])));
      failing.mockRestore();
      expect(error.code).toBe(code);
      expect(error.culprit).toBe(code === 'ban' ? 2 : undefined);
      await Promise.all([a.close(), b.close()]);
    }
  });

  test.each<[string, (good: Uint8Array) => Messages, NodeIndex]>([
    ['no message', () => new Map(), 2],
    ['an empty message', () => new Map([[2, new Uint8Array()]]), 2],
    ['a truncated message', (good) => new Map([[2, good.slice(0, -1)]]), 2],
    ['a message that is too large', () => new Map([[2, new Uint8Array(maxMessageBytes + 1)]]), 2],
    ['a message of somebody else', (good) => new Map([[3, good]]), 3],
  ])('%s is a bad message', async (_what, incoming, culprit) => {
    const sessionId = randomBytes(32);
    const [a, b] = [await open(1, 2, sessionId), await open(2, 1, sessionId)];
    await a.start();
    const good = (await b.start()).get(1)!;
    expect(await failure(a.next(incoming(good)))).toMatchObject({ code: 'bad_message', culprit });
    await b.close();
  });

  test.each([
    ['path', { path: "m/60'" }],
    ['digest', { digest: new Uint8Array(31) }],
    ['session id', { sessionId: new Uint8Array(31) }],
    ['party', { party: 4 as NodeIndex }],
    ['share', { share: new Uint8Array(100) }],
    ['peer', { peer: 1 as NodeIndex }],
  ])('a wrong %s is refused and takes no slot', async (_what, wrong) => {
    const right = { sessionId: randomBytes(32), party: 1, peer: 2, share: key(1).share, path, digest } as const;
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const error = await failure(engine(1).sign({ ...right, ...wrong }));
      expect(error).toMatchObject({ code: 'bad_message' });
      expect(error.culprit).toBeUndefined();
    }
  });

  test('more sessions than allowed are refused until one is closed', async () => {
    const first = await open(1, 2, randomBytes(32));
    const second = await open(1, 2, randomBytes(32));
    expect(await failure(open(1, 2, randomBytes(32)))).toMatchObject({ code: 'busy' });
    await first.close();
    await first.close();
    const third = await open(1, 2, randomBytes(32));
    // the other peer has threads of its own
    const other = await open(1, 3, randomBytes(32));
    await Promise.all([second.close(), third.close(), other.close()]);

    const keygen = await engine(1).keygen({ sessionId: randomBytes(32), party: 1 });
    expect(await failure(engine(1).keygen({ sessionId: randomBytes(32), party: 1 }))).toMatchObject({ code: 'busy' });
    await keygen.close();
  });

  test('a closed engine fails open sessions and refuses new ones', async () => {
    const short = new ProtocolEngine();
    const session = await short.keygen({ sessionId: randomBytes(32), party: 1 });
    const pending = failure(session.start());
    await short.close();
    expect(await pending).toMatchObject({ code: 'aborted' });
    expect(await failure(short.keygen({ sessionId: randomBytes(32), party: 1 }))).toMatchObject({ code: 'aborted' });
    await session.close();
    await short.close();
  });

  test('an engine that ends key generations does so within a step, with its reason, and goes on with the rest', async () => {
    const ending = new ProtocolEngine();
    const sessionId = randomBytes(32);
    const others = await Promise.all(([2, 3] as const).map((party) => engine(party).keygen({ sessionId, party })));
    try {
      const session = await ending.keygen({ sessionId, party: 1 });
      await session.start();
      const incoming: Messages = new Map();
      for (const [at, other] of others.entries()) incoming.set((at + 2) as NodeIndex, (await other.start()).get(1) as Uint8Array);
      // takes half a second of processor time
      let isOver = false;
      const stepped = failure(session.next(incoming).finally(() => (isOver = true)));
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(isOver).toBe(false);
      await ending.endKeygen('this node is stopping');
      const reason = { code: 'aborted', message: 'this node is stopping' };
      expect(await stepped).toMatchObject(reason);
      expect(await failure(ending.keygen({ sessionId: randomBytes(32), party: 1 }))).toMatchObject(reason);
      await session.close();
      const frost = await ending.frostKeygen({ sessionId: randomBytes(32), party: 1 });
      expect((await frost.start()).size).toBe(2);
      await frost.close();
      const signing = await ending.sign({ sessionId: randomBytes(32), party: 1, peer: 2, share: key(1).share, path, digest });
      expect((await signing.start()).size).toBe(1);
      await signing.close();
    } finally {
      await Promise.all([ending.close(), ...others.map((other) => other.close())]);
    }
  });
});

describe('threads', () => {
  /** Nice values of the threads of this process, by thread (proc_pid_stat(5): the 19th field). */
  const niceness = () =>
    new Map(
      readdirSync('/proc/self/task').flatMap((thread) => {
        const file = `/proc/self/task/${thread}/stat`;
        // one may have ended meanwhile
        const stat = existsSync(file) ? readFileSync(file, 'utf8') : '';
        return stat === '' ? [] : [[thread, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])] as const];
      }),
    );

  // elsewhere a nice value is that of the whole process
  (process.platform === 'linux' ? test : test.skip)('a key is generated behind all signatures', async () => {
    const usual = getPriority();
    expect(usual).toBeLessThan(10);
    const before = niceness();
    const started = () => [...niceness()].filter(([thread]) => !before.has(thread)).map(([, nice]) => nice);
    const engine = new ProtocolEngine();
    try {
      const sessionId = randomBytes(32);
      await failure(engine.sign({ sessionId, party: 1, peer: 2, share: randomBytes(32), path, digest }));
      const signing = started();
      expect(signing.length).toBeGreaterThan(0);
      expect(Math.max(...signing)).toBe(usual);
      await engine.keygen({ sessionId, party: 1 });
      expect(Math.max(...started())).toBe(10);
    } finally {
      await engine.close();
    }
  });

  test('a thread whose module fails ends all its sessions, names one of them as the cause, and is replaced', async () => {
    const pool = new ThreadPool({ name: 'test', threads: 1, maxSessions: 2, niceness: 0 });
    const parameters = (): object => ({ party: 1, sessionId: randomBytes(32) });
    const [doomed, bystander] = [await pool.open('keygen', parameters()), await pool.open('keygen', parameters())];
    // No such operation: not expected in the thread, as a panic of the module is not.
    expect(await failure(doomed.call('nonsense' as 'next'))).toMatchObject({ code: 'trapped' });
    expect(await failure(bystander.call('start'))).toMatchObject({ code: 'crashed' });
    const sessions = [await pool.open('keygen', parameters()), await pool.open('keygen', parameters())];
    await expect(sessions[0]!.call('start')).resolves.toHaveProperty('messages');
    await Promise.all(sessions.map((session) => session.close()));
    await pool.close();
  });
});
