import pino from 'pino';
import { GatewayError } from '../../../src/platform/errors';
import type { Admission, JournalEntry, SessionEnd } from '../../../src/mpc/admission';
import { ProtocolError } from '../../../src/mpc/protocol/errors';
import type { Session } from '../../../src/mpc/session';
import { signatureTask } from '../../../src/mpc/signature-task';
import type { NodeIndex } from '../../../src/messages/nodes';

const statement = { text: '{}', signature: Buffer.alloc(64) };
const silence = new GatewayError('signers_unavailable', 'node 2 sent nothing');

interface Given {
  error?: Error;
  initiator?: NodeIndex;
  usesShare?: boolean;
  begin?: Admission['begin'];
}

/** A task of node 1 with node 2, and what its journal is told. */
function create({ error, initiator = 2, usesShare = true, begin = () => Promise.resolve() }: Given = {}) {
  const ends: SessionEnd[] = [];
  const sent: string[] = [];
  const admission = {
    assertCopy: (copy: unknown) => {
      if (copy !== statement) throw new GatewayError('invalid_parameter', 'another entry');
    },
    begin,
    finish: (_entry: JournalEntry, end: SessionEnd) => Promise.resolve(void ends.push(end)),
  } as unknown as Admission;
  const task = signatureTask({
    admission,
    entry: { number: 7, statement, request: { keyId: 'key', peer: 2, initiator } } as JournalEntry,
    protocol: 'ecdsa-secp256k1',
    rounds: 3,
    assertNotBanned: () => Promise.resolve(),
    sign: async (_session, { begun, permit }) => {
      await begun;
      sent.push('first message');
      if (usesShare) await permit();
      if (error) throw error;
      return '0x01';
    },
    isValid: (signature) => signature === '0x01',
    dispose: () => undefined,
    logger: pino({ level: 'silent' }),
  });
  return { task, ends, sent };
}

const session = (over: Partial<Session> = {}) =>
  ({
    id: Buffer.alloc(32),
    received: 0,
    isStopped: false,
    isAbortedByPeer: false,
    isLateHere: false,
    assertRunning: () => undefined,
    ...over,
  }) as Session;

describe('what the journal is told about the end of a session', () => {
  test.each<[string, Error, Partial<Session>, SessionEnd['outcome']]>([
    ['silence after the first message', silence, { received: 1 }, 'silent'],
    ['a last message that is withheld', silence, { received: 2 }, 'failed'],
    ['an abort by the peer after this node has answered', silence, { received: 1, isAbortedByPeer: true }, 'failed'],
    ['a message that fails a check', new ProtocolError('aborted', 'check', 2), { received: 1 }, 'failed'],
    ['a ban', new ProtocolError('ban', 'check', 2), { received: 2 }, 'failed'],
    ['this node stopping', silence, { received: 2, isStopped: true }, 'stopped'],
    [
      'a message that fails a check at a node that is late',
      new ProtocolError('aborted', 'check', 2),
      { isLateHere: true },
      'failed',
    ],
    ['a last message that this node was too late to read', silence, { received: 2, isLateHere: true }, 'stopped'],
    ['an abort by a peer that waited for this node', silence, { isAbortedByPeer: true, isLateHere: true }, 'stopped'],
    ['a thread of this node that ended', new ProtocolError('crashed', 'thread'), { received: 2 }, 'stopped'],
  ])('%s', async (_what, error, over, outcome) => {
    const { task, ends } = create({ error });
    await expect(task.run(session(over))).rejects.toBe(error);
    task.dispose();
    expect(ends).toMatchObject([{ outcome, signature: null }]);
  });

  test.each<[string, Error, Partial<Session>]>([
    ['a peer that never sent anything', silence, {}],
    ['a first message that fails a check', new ProtocolError('aborted', 'check', 2), { received: 1 }],
    ['an abort by the peer', silence, { received: 1, isAbortedByPeer: true }],
  ])('%s, before anything that depends on the share was sent, counts nothing', async (_what, error, over) => {
    const { task, ends } = create({ error, usesShare: false });
    await expect(task.run(session(over))).rejects.toBe(error);
    expect(ends).toMatchObject([{ outcome: 'not_begun', signature: null }]);
  });

  test('an abort by the peer while this node computes its first message that depends on the share counts nothing: it is not sent', async () => {
    const { task, ends } = create();
    const aborted = new GatewayError('signers_unavailable', 'node 2 has aborted');
    const assertRunning = () => {
      throw aborted;
    };
    await expect(task.run(session({ received: 1, isAbortedByPeer: true, assertRunning }))).rejects.toBe(aborted);
    expect(ends).toMatchObject([{ outcome: 'not_begun', signature: null }]);
  });

  test('a signature, once', async () => {
    const { task, ends } = create();
    expect(await task.run(session({ received: 3 }))).toBe('0x01');
    task.dispose();
    expect(ends).toMatchObject([{ outcome: 'signed', signature: '0x01' }]);
  });

  test('a session that was never agreed on', () => {
    const { task, ends } = create();
    task.dispose();
    expect(ends).toMatchObject([{ outcome: 'not_begun', session: null }]);
  });

  test('the signature of an earlier session, if it verifies', async () => {
    const { task, ends } = create();
    await expect(task.adopt?.('0x02')).rejects.toMatchObject({ code: 'signers_unavailable' });
    expect(await task.adopt?.('0x01')).toBe('0x01');
    expect(ends).toMatchObject([{ outcome: 'signed', signature: '0x01' }]);
  });
});

test('a node that cannot note the session outside of its database sends nothing, so that its peer has nothing to count', async () => {
  const { task, ends, sent } = create({ begin: () => Promise.reject(new Error('disk full')) });
  await expect(task.run(session({ received: 1 }))).rejects.toThrow('disk full');
  expect(sent).toEqual([]);
  expect(ends).toMatchObject([{ outcome: 'not_begun' }]);
});

describe('an initiator', () => {
  test('begins nothing without the entry of its peer', async () => {
    const { task, ends } = create({ initiator: 1 });
    await expect(task.run(session())).rejects.toThrow(/no journal entry/);
    expect(ends).toMatchObject([{ outcome: 'not_begun' }]);
  });

  test('refuses an entry about something else, and keeps the right one', async () => {
    const { task, ends } = create({ initiator: 1 });
    expect(() => task.onStatement?.({ ...statement })).toThrow(/another entry/);
    task.onStatement?.(statement);
    await task.run(session({ received: 3 }));
    expect(ends).toMatchObject([{ outcome: 'signed', copy: statement }]);
  });
});
