import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pino from 'pino';
import { migrations } from '../../../migrations/mpc-node';
import type { NodeIndex } from '../../../src/messages/nodes';

import type { AdmissionRequest, JournalEntry, SessionEnd } from '../../../src/mpc/admission';
import { Bans } from '../../../src/mpc/bans';
import { Journal, maxFailedSessions } from '../../../src/mpc/journal';
import type { EntryFields } from '../../../src/mpc/journal-entry';
import { JournalGuard } from '../../../src/mpc/journal-guard';
import { JournalMark } from '../../../src/mpc/journal-mark';
import { hashStatement, signStatement } from '../../../src/mpc/statement';
import { ShareStore } from '../../../src/mpc/store';
import type { OwnCopies } from '../../../src/mpc/own-copies';
import { createNodeDatabase, type NodeDatabase } from './group';
import { newKeyPair } from '../../keys';

/** Node 1 takes back from peers that answer what the test says; database and mark are real. */
describe('a node whose database does not agree with its mark', () => {
  const { privateKey: signingKey } = newKeyPair('P-256');
  const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const hour = 3_600_000_000;
  let nodeDatabase: NodeDatabase;
  let store: ShareStore;
  let folder: string;
  /** What each peer answers; an error: it does not answer, or with junk. */
  let answers: Record<2 | 3, OwnCopies | OwnCopies[] | Error>;
  /** Questions to both peers. */
  let asked = 0;
  let guard: JournalGuard | undefined;
  let journalMark: JournalMark | undefined;
  let journal: Journal;
  let bans: Bans;

  beforeEach(async () => {
    nodeDatabase = await createNodeDatabase();
    store = await ShareStore.open({ url: nodeDatabase.url, node: 1, keks: [randomBytes(32)], migrations });
    folder = mkdtempSync(path.join(tmpdir(), 'taking-back-'));
    answers = { 2: nothing, 3: nothing };
    asked = 0;
  });
  afterEach(async () => {
    await guard?.close();
    await journalMark?.close();
    guard = undefined;
    await store.close();
    await nodeDatabase.drop();
    rmSync(folder, { recursive: true });
  });

  const nothing: OwnCopies = { entries: [], bans: [], reached: 0 };
  const file = () => path.join(folder, 'mark.json');
  const readMark = () => JSON.parse(readFileSync(file(), 'utf8')) as object;
  const entry = (number: number, peer: NodeIndex) => {
    const fields: EntryFields = {
      ...{ node: 1, number, tx_id: `tx-${number}`, attempt: 1, payload: 0, kind: 'first', order_hash: 'hash', order_seq: 0 },
      ...{ resources: ['x'], digests: ['0x00'], key_id: 'key', client_id: 'client', peer, initiator: 1, chain: 'ethereum' },
      ...{ token: '', amount: '1', fee: '0', admitted_at: new Date(0).toISOString() },
    };
    return signStatement('entry', fields, signingKey);
  };
  const ban = (peer: NodeIndex) =>
    signStatement('ban', { node: 1, key_id: 'key', peer, reason: 'check', banned_at: new Date(0).toISOString() }, signingKey);
  const copies = (peer: NodeIndex, ...numbers: number[]): OwnCopies => ({
    ...nothing,
    entries: numbers.map((number) => entry(number, peer)),
  });
  /** An entry as it is in the database of a node that has signed. */
  const write = async (number: number, outcome: string | null = 'silent') => {
    const { text, signature } = entry(number, 2);
    await store.database.query(
      `insert into journal select (jsonb_populate_record(null::journal, $1::text::jsonb
         || jsonb_build_object('statement', $1::text, 'statement_signature', $2::bytea, 'outcome', $3::text))).*`,
      [text, signature, outcome],
    );
  };
  const numbers = async () =>
    (await store.database.query<{ number: string }[]>('select number from journal order by number')).map(({ number }) =>
      Number(number),
    );
  const mark = async (number: number, peer: NodeIndex, count = 0) => {
    const before = new JournalMark(file(), 1);
    await before.reset({ bans: count, entry: { number, hash: hashStatement(entry(number, peer)) } });
    await before.close();
  };
  const until = async (what: () => Promise<boolean> | boolean) => {
    for (let tries = 0; !(await what()) && tries < 250; tries += 1) await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await what()).toBe(true);
  };
  const accept = () => store.database.query(`insert into operator_acts (operator, act) values ('ann', 'journal_accept')`);
  /** A new process of the node. */
  const start = async (now?: () => number) => {
    await guard?.close();
    const { database } = store;
    await journalMark?.close();
    journalMark = new JournalMark(file(), 1);
    journal = new Journal(database, 1, signingKey);
    bans = new Bans({ database, self: 1, signingKey, mark: journalMark, logger });
    await bans.load();
    const readCopies = async function* (peer: NodeIndex, after: number) {
      asked += 1;
      const answer = await Promise.resolve(answers[peer as 2 | 3]);
      if (answer instanceof Error) throw answer;
      const isLater = ({ text }: { text: string }) => (JSON.parse(text) as EntryFields).number > after;
      for (const page of [answer].flat()) {
        const entries = page.entries.filter(isLater);
        if (entries.length > 0 || page.entries.length === 0) yield { ...page, entries };
      }
    };
    guard = new JournalGuard({
      ...{ self: 1, database, journal, bans, mark: journalMark, readCopies, others: [2, 3], logger },
      ...(now && { now }),
    });
    await guard.start();
    return guard;
  };

  test('gets the older entries of a peer that answers later than the other one', async () => {
    await write(hour);
    await mark(9 * hour, 2);
    answers = { 2: copies(2, 9 * hour), 3: new Error('down') };
    const node = await start();
    await until(async () => (await numbers()).length === 2);
    expect(node.isReady).toBe(false);
    answers[3] = copies(3, 3 * hour, 5 * hour);
    await until(() => node.isReady);
    expect(await numbers()).toEqual([1, 3, 5, 9].map((at) => at * hour));
  });

  test('gets them also after a restart in between, when the entry that the mark names is there already', async () => {
    await write(hour);
    await mark(9 * hour, 2);
    answers = { 2: copies(2, 9 * hour), 3: new Error('down') };
    await start();
    await until(async () => (await numbers()).length === 2);
    const node = await start();
    expect(node.isReady).toBe(false);
    expect(() => node.assertReady()).toThrow(expect.objectContaining({ code: 'journal_behind' }));
    answers[3] = copies(3, 3 * hour);
    await until(() => node.isReady);
    expect(await numbers()).toEqual([1, 3, 9].map((at) => at * hour));
    expect(readMark()).toEqual({ version: 1, node: 1, bans: 0, entry: expect.objectContaining({ number: 9 * hour }) });
    expect((await start()).isReady).toBe(true);
  });

  test('without a mark it is not complete after a restart either, until both peers have answered', async () => {
    await write(hour);
    answers = { 2: copies(2, 9 * hour), 3: new Error('down') };
    await start();
    await until(async () => (await numbers()).length === 2);
    expect((await start()).isReady).toBe(false);
    answers[3] = nothing;
    await until(() => guard!.isReady);
  });

  test('gets back what one peer keeps while the other one answers junk, before the loss is accepted', async () => {
    await write(hour);
    await mark(9 * hour, 3, 1);
    answers = { 2: new Error('junk'), 3: new Error('down') };
    const node = await start();
    answers[3] = { ...copies(3, 5 * hour), bans: [ban(2)] };
    await accept();
    await until(() => node.isReady);
    expect(await numbers()).toEqual([hour, 5 * hour]);
    expect(await store.database.query('select peer from bans')).toEqual([{ peer: 2 }]);
    expect(readMark()).toMatchObject({ bans: 1, entry: { number: 5 * hour } });
    expect(await store.database.query('select followed_at is not null as followed from operator_acts')).toEqual([
      { followed: true },
    ]);
  });

  test('the word of the operator is not followed while a peer still gives more than one pass reads', async () => {
    await write(hour);
    await mark(9 * hour, 3);
    let time = Date.now();
    answers = { 2: [3, 5, 7].map((at) => ({ ...copies(2, at * hour), reached: at * hour })), 3: new Error('down') };
    const node = await start(() => (time += 40_000));
    await accept();
    await until(() => node.isReady);
    expect(await numbers()).toEqual([1, 3, 5, 7].map((at) => at * hour));
  }, 60_000);

  test('the word of the operator is still good after a restart while the node waits; an older one is not', async () => {
    await write(hour);
    await mark(9 * hour, 2);
    await accept();
    answers = { 2: new Error('down'), 3: new Error('down') };
    const node = await start();
    // a second pass begins: the first one has not followed it
    await until(() => asked > 3);
    expect(node.isReady).toBe(false);
    await node.close();
    await accept();
    const again = await start();
    await until(() => again.isReady);
  });

  test('sessions whose end was lost with a replaced database do not stay open', async () => {
    await write(hour);
    await mark(hour, 2);
    const node = await start();
    expect(node.isReady).toBe(true);
    await write(2 * hour, null);
    const end: SessionEnd = { outcome: 'silent', signature: null, session: null, copy: entry(3 * hour, 2) };
    const lost: JournalEntry = { number: 3 * hour, request: request('lost'), statement: entry(3 * hour, 2), isUnfrozen: false };
    expect(await journal.finish(lost, end)).toBeNull();
    node.noticeLoss();
    expect(node.isReady).toBe(false);
    await until(() => node.isReady);
    expect(await store.database.query('select outcome from journal where outcome is distinct from $1', ['silent'])).toEqual([
      { outcome: 'interrupted' },
    ]);
  });

  test.each([
    ['the ban was not stored anywhere', 0],
    ['only the mark has it', 1],
  ])('a process that ended after the last failed session, when %s, has banned the peer', async (_what, marked) => {
    for (let number = 1; number <= maxFailedSessions; number += 1) await write(number, 'failed');
    await mark(maxFailedSessions, 2, marked);
    const node = await start();
    expect(node.isReady).toBe(true);
    await expect(bans.assertNotBanned('key', 2)).rejects.toMatchObject({ code: 'key_peer_banned' });
    expect(await store.database.query('select key_id, peer from bans')).toEqual([{ key_id: 'key', peer: 2 }]);
    expect(readMark()).toMatchObject({ bans: 1 });
  });

  const outcomes = async () =>
    (await store.database.query<{ outcome: string }[]>('select outcome from journal order by number')).map(
      ({ outcome }) => outcome,
    );

  test('of the sessions that a process has left behind one counts, if it had begun: thirty-two such ends are a ban', async () => {
    for (let number = 1; number < maxFailedSessions; number += 1) await write(number, 'failed');
    for (const number of [40, 41, 42]) await write(number, null);
    await mark(41, 2);
    expect((await start()).isReady).toBe(true);
    expect((await outcomes()).slice(maxFailedSessions - 1)).toEqual(['interrupted', 'failed', 'interrupted']);
    await expect(bans.assertNotBanned('key', 2)).rejects.toMatchObject({ code: 'key_peer_banned' });
  });

  test('one that had sent nothing counts nothing', async () => {
    for (let number = 1; number < maxFailedSessions; number += 1) await write(number, 'failed');
    await write(40, null);
    await mark(39, 2);
    await write(39);
    expect((await start()).isReady).toBe(true);
    expect(await store.database.query('select from bans')).toEqual([]);
  });

  test('the mark does not name an entry that perhaps no peer has', async () => {
    await write(hour);
    await mark(hour, 2);
    await write(2 * hour, 'not_begun');
    await write(3 * hour, null);
    expect((await start()).isReady).toBe(true);
    expect(readMark()).toMatchObject({ entry: { number: hour } });
    // a later entry has a higher number all the same
    const verdict = await journal.admit(request('later'), { sums: new Map(), isRefused: false, marked: null });
    expect('entry' in verdict && verdict.entry.number).toBeGreaterThan(3 * hour);
  });

  test('failed sessions are a ban at admission also without its row', async () => {
    for (let number = 1; number < maxFailedSessions; number += 1) await write(number, 'failed');
    await start();
    const admit = async (txId: string) =>
      (await journal.admit(request(txId), { sums: new Map(), isRefused: false, marked: null })).verdict;
    expect(await admit('one')).toBe('admitted');
    await write(maxFailedSessions, 'failed');
    expect(await admit('two')).toBe('banned');
  });
});

const request = (txId: string): AdmissionRequest => ({
  ...{ txId, attempt: 1, kind: 'first', orderHash: 'hash', orderSeq: 1, resources: ['x'], digests: ['0x00'], payload: 0 },
  ...{ keyId: 'key', clientId: 'client', peer: 2, initiator: 1 },
  order: { jti: randomUUID(), compact: 'a.b.c', unsigned: '0x00' },
  spends: { chain: 'ethereum', token: null, amount: 1n, fee: 0n, recipients: [] },
});
