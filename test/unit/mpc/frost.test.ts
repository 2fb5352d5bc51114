import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { ed25519, ed25519_FROST as noble } from '@noble/curves/ed25519.js';
import { maxSignedBytes } from '../../../src/chains/key-protocols';
import type { NodeIndex } from '../../../src/messages/nodes';
import {
  frostSignRounds,
  keygenRounds,
  maxMessageBytes,
  ProtocolEngine,
  ProtocolError,
  type KeygenResult,
} from '../../../src/mpc/protocol/engine';
import { PooledSession } from '../../../src/mpc/protocol/pool';
import { decodeFrostShare, encodeFrostShare } from '../../frost-share';
import { run, type Messages, type Session } from '../../protocol-run';

const parties: readonly NodeIndex[] = [1, 2, 3];
const pairs: readonly (readonly [NodeIndex, NodeIndex])[] = [
  [1, 2],
  [1, 3],
  [2, 3],
];
const signers = { min: 2, max: 3 };
/** As long as a transfer with its accounts. */
const message = randomBytes(320);

async function failure(promise: Promise<unknown>): Promise<ProtocolError> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof ProtocolError)) throw new Error(`expected a ProtocolError, got ${String(outcome)}`);
  return outcome;
}

/** What `to` receives of what `from` has to send. */
const heard = (sent: Messages, from: NodeIndex, to: NodeIndex): Messages => new Map([[from, sent.get(to)!]]);
const id = (party: NodeIndex) => noble.Identifier.fromNumber(party);

describe('threshold Ed25519', () => {
  const engines = new Map<NodeIndex, ProtocolEngine>();
  let keys: Map<NodeIndex, KeygenResult>;

  const engine = (party: NodeIndex): ProtocolEngine => engines.get(party)!;
  const key = (party: NodeIndex): KeygenResult => keys.get(party)!;
  const open = (
    party: NodeIndex,
    peer: NodeIndex,
    sessionId: Uint8Array,
    { share = key(party).share, signed = message }: { share?: Uint8Array; signed?: Uint8Array } = {},
  ): Promise<Session<Uint8Array>> => engine(party).frostSign({ sessionId, party, peer, share, message: signed });
  const sign = async (one: NodeIndex, other: NodeIndex, options: { signed?: Uint8Array } = {}) => {
    const sessionId = randomBytes(32);
    const sessions = [open(one, other, sessionId, options), open(other, one, sessionId, options)] as const;
    return run(
      new Map([
        [one, await sessions[0]],
        [other, await sessions[1]],
      ]),
    );
  };
  /** What the other implementation needs of our key. */
  const publicOf = (share = key(1).share) => {
    const { verifying, publicKey } = decodeFrostShare(share);
    const verifyingShares = Object.fromEntries(parties.map((party) => [id(party), verifying[party - 1]!]));
    // f(0) and f(1) - f(0): the line through the shares
    const slope = ed25519.Point.fromBytes(verifying[0]!).subtract(ed25519.Point.fromBytes(publicKey)).toBytes();
    return { signers, commitments: [publicKey, slope], verifyingShares };
  };
  const secretOf = (party: NodeIndex) => ({ identifier: id(party), signingShare: decodeFrostShare(key(party).share).secret });

  beforeAll(async () => {
    const options = { maxFrostKeygenSessions: 1, maxSignSessions: 4 };
    for (const party of parties) engines.set(party, new ProtocolEngine(options));
    const sessionId = randomBytes(32);
    const sessions = new Map<NodeIndex, Session<KeygenResult>>();
    for (const party of parties) sessions.set(party, await engine(party).frostKeygen({ sessionId, party }));
    const { results, rounds } = await run(sessions);
    keys = results;
    expect(rounds).toBe(keygenRounds);
  }, 60_000);

  afterAll(async () => {
    await Promise.all(Array.from(engines.values(), (each) => each.close()));
  });

  test('all parties get the same key without chain code, each with its own share', () => {
    for (const party of parties) {
      expect(key(party).publicKey).toHaveLength(32);
      expect(key(party).publicKey).toEqual(key(1).publicKey);
      expect(key(party).chainCode).toHaveLength(0);
      expect(encodeFrostShare(decodeFrostShare(key(party).share))).toEqual(key(party).share);
    }
    expect(new Set(parties.map((party) => Buffer.from(key(party).share).toString('hex'))).size).toBe(3);
  });

  test.each(pairs)('parties %d and %d sign, and plain Ed25519 verifies', async (one, other) => {
    const { results, rounds } = await sign(one, other);
    expect(rounds).toBe(frostSignRounds);
    const signature = results.get(one)!;
    expect(signature).toHaveLength(64);
    expect(results.get(other)).toEqual(signature);
    const { publicKey } = key(one);
    // RFC 8032 without and with the checks that only some implementations make
    expect(ed25519.verify(signature, message, publicKey, { zip215: true })).toBe(true);
    expect(ed25519.verify(signature, message, publicKey, { zip215: false })).toBe(true);
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey).toString('base64url') };
    expect(verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature)).toBe(true);
    expect(ed25519.verify(signature, randomBytes(320), publicKey)).toBe(false);
  });

  test('the longest message is signed', async () => {
    const signed = randomBytes(maxSignedBytes);
    const { results } = await sign(1, 2, { signed });
    expect(ed25519.verify(results.get(1)!, signed, key(1).publicKey)).toBe(true);
  });

  test.each(pairs)('another implementation signs with the shares of parties %d and %d', (one, other) => {
    const shared = publicOf();
    for (const party of parties) noble.validateSecret(secretOf(party), shared);
    const [a, b] = [noble.commit(secretOf(one)), noble.commit(secretOf(other))];
    const list = [a.commitments, b.commitments];
    const shares = {
      [id(one)]: noble.signShare(secretOf(one), shared, a.nonces, list, message),
      [id(other)]: noble.signShare(secretOf(other), shared, b.nonces, list, message),
    };
    const signature = noble.aggregate(shared, list, message, shares);
    expect(ed25519.verify(signature, message, key(1).publicKey)).toBe(true);
  });

  test('shares of another implementation sign here', async () => {
    const dealt = noble.trustedDealer(signers, parties.map(id));
    const publicKey = dealt.public.commitments[0]!;
    const verifying = parties.map((party) => dealt.public.verifyingShares[id(party)]!);
    const share = (party: NodeIndex) =>
      encodeFrostShare({ party, secret: dealt.secretShares[id(party)]!.signingShare, publicKey, verifying });
    for (const [one, other] of pairs) {
      const sessionId = randomBytes(32);
      const { results } = await run(
        new Map([
          [one, await open(one, other, sessionId, { share: share(one) })],
          [other, await open(other, one, sessionId, { share: share(other) })],
        ]),
      );
      expect(ed25519.verify(results.get(one)!, message, publicKey)).toBe(true);
    }
  });

  test('a party signs together with another implementation', async () => {
    const shared = publicOf();
    const sessionId = randomBytes(32);
    // the second party's own session gives the parts of its messages that are not of the RFC
    const [a, b] = [await open(1, 2, sessionId), await open(2, 1, sessionId)];
    const [first, framed] = [(await a.start()).get(2)!, (await b.start()).get(1)!];
    const theirs = noble.commit(secretOf(2));
    const sent = Uint8Array.from([...framed.slice(0, 33), ...theirs.commitments.hiding, ...theirs.commitments.binding]);
    const answer = await a.next(new Map([[2, sent]]));
    if (!('messages' in answer)) throw new Error('the protocol has ended');
    const second = answer.messages.get(2)!;
    const own = { identifier: id(1), hiding: first.slice(33, 65), binding: first.slice(65, 97) };
    const list = [own, theirs.commitments];
    expect(noble.verifyShare(shared, list, message, id(1), second.slice(33))).toBe(true);
    const share = noble.signShare(secretOf(2), shared, theirs.nonces, list, message);
    const done = await a.next(new Map([[2, Uint8Array.from([...second.slice(0, 33), ...share])]]));
    if (!('result' in done)) throw new Error('the protocol goes on');
    expect(ed25519.verify(done.result, message, key(1).publicKey)).toBe(true);
    expect(noble.aggregate(shared, list, message, { [id(1)]: second.slice(33), [id(2)]: share })).toEqual(done.result);
    await b.close();
  });

  test('no message of an honest run shows the secret of its sender, and no commitment comes twice', async () => {
    const commitments = new Set<string>();
    for (let count = 0; count < 50; count += 1) {
      const sessionId = randomBytes(32);
      const [a, b] = [await open(1, 2, sessionId), await open(2, 1, sessionId)];
      const [toB, toA] = [await a.start(), await b.start()];
      const steps = [await a.next(heard(toA, 2, 1)), await b.next(heard(toB, 1, 2))];
      const [fromA, fromB] = steps.map((step) => ('messages' in step ? step.messages : null));
      for (const [party, sent] of [
        [1, [toB, fromA]],
        [2, [toA, fromB]],
      ] as const)
        for (const each of sent)
          for (const bytes of each!.values())
            expect(Buffer.from(bytes).includes(Buffer.from(decodeFrostShare(key(party).share).secret))).toBe(false);
      for (const sent of [toB.get(2)!, toA.get(1)!]) {
        commitments.add(Buffer.from(sent.slice(33, 65)).toString('hex'));
        commitments.add(Buffer.from(sent.slice(65, 97)).toString('hex'));
      }
      await Promise.all([a.close(), b.close()]);
    }
    expect(commitments.size).toBe(200);
  });

  test('two sessions of one key at once end each with a signature of its own message', async () => {
    const signed = [randomBytes(100), randomBytes(100)];
    const results = await Promise.all(signed.map((each) => sign(1, 2, { signed: each })));
    for (const [index, { results: signatures }] of results.entries())
      expect(ed25519.verify(signatures.get(1)!, signed[index]!, key(1).publicKey)).toBe(true);
  });

  test('a tampered share names its sender, bans nobody, and the next session succeeds', async () => {
    const sessionId = randomBytes(32);
    const [a, b] = [await open(1, 2, sessionId), await open(2, 1, sessionId)];
    const [toB, toA] = [await a.start(), await b.start()];
    await a.next(heard(toA, 2, 1));
    const step = await b.next(heard(toB, 1, 2));
    if (!('messages' in step)) throw new Error('the protocol has ended');
    const share = step.messages.get(1)!;
    share[40]! ^= 1;
    expect(await failure(a.next(new Map([[2, share]])))).toMatchObject({ code: 'aborted', culprit: 2 });
    expect(await failure(a.next(new Map([[2, share]])))).toMatchObject({ code: 'aborted' });
    await b.close();
    await expect(sign(1, 2)).resolves.toHaveProperty('rounds', frostSignRounds);
  });

  test('a replayed commitment is refused', async () => {
    const [earlier, later] = [randomBytes(32), randomBytes(32)];
    const old = await open(2, 1, earlier);
    const replayed = await old.start();
    const a = await open(1, 2, later);
    await a.start();
    expect(await failure(a.next(new Map([[2, replayed.get(1)!]])))).toMatchObject({ code: 'bad_message', culprit: 2 });
    await old.close();
  });

  test('a peer that stops in the middle leaves nothing: the session ends when it is closed', async () => {
    const sessionId = randomBytes(32);
    const [a, b] = [await open(1, 2, sessionId), await open(2, 1, sessionId)];
    const [, toA] = [await a.start(), await b.start()];
    await b.close();
    const step = await a.next(heard(toA, 2, 1));
    expect('messages' in step).toBe(true);
    await a.close();
    expect(await failure(a.next(heard(toA, 2, 1)))).toMatchObject({ code: 'aborted' });
    await expect(sign(1, 2)).resolves.toHaveProperty('rounds', frostSignRounds);
  });

  test('a message that makes the module fail bans nobody: nothing of a session outlives it', async () => {
    const a = await open(1, 2, randomBytes(32));
    await a.start();
    const failing = jest
      .spyOn(PooledSession.prototype, 'call')
      .mockRejectedValueOnce(new ProtocolError('trapped', 'unreachable'));
    const error = await failure(a.next(new Map([[2, new Uint8Array(97)]])));
    failing.mockRestore();
    expect(error).toMatchObject({ code: 'trapped' });
    await a.close();
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
    ['message', { message: new Uint8Array() }],
    ['message', { message: new Uint8Array(maxSignedBytes + 1) }],
    ['session id', { sessionId: new Uint8Array(31) }],
    ['party', { party: 4 as NodeIndex }],
    ['share', { share: new Uint8Array(162) }],
    ['peer', { peer: 1 as NodeIndex }],
  ])('a wrong %s is refused and takes no slot', async (_what, wrong) => {
    const right = { sessionId: randomBytes(32), party: 1, peer: 2, share: key(1).share, message } as const;
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const error = await failure(engine(1).frostSign({ ...right, ...wrong }));
      expect(error).toMatchObject({ code: 'bad_message' });
      expect(error.culprit).toBeUndefined();
    }
  });

  test('more key generations than allowed are refused until one is closed', async () => {
    const first = await engine(1).frostKeygen({ sessionId: randomBytes(32), party: 1 });
    expect(await failure(engine(1).frostKeygen({ sessionId: randomBytes(32), party: 1 }))).toMatchObject({ code: 'busy' });
    await first.close();
    const second = await engine(1).frostKeygen({ sessionId: randomBytes(32), party: 1 });
    await second.close();
  });

  test('a wrong share of key generation names its sender', async () => {
    const sessionId = randomBytes(32);
    const runs = await Promise.all(parties.map((party) => engine(party).frostKeygen({ sessionId, party })));
    let sent = await Promise.all(runs.map((each) => each.start()));
    const incoming = (to: NodeIndex) =>
      new Map(parties.filter((from) => from !== to).map((from) => [from, sent[from - 1]!.get(to)!] as const));
    for (let round = 1; round < 3; round += 1) {
      sent = await Promise.all(
        runs.map(async (each, index) => {
          const step = await each.next(incoming((index + 1) as NodeIndex));
          return 'messages' in step ? step.messages : new Map();
        }),
      );
    }
    const forMe = incoming(1);
    forMe.get(3)![1]! ^= 1;
    expect(await failure(runs[0]!.next(forMe))).toMatchObject({ code: 'aborted', culprit: 3 });
    await Promise.all(runs.map((each) => each.close()));
  });
});
