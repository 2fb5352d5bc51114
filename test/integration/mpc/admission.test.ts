import { randomBytes, randomUUID } from 'node:crypto';
import pino from 'pino';
import { migrations } from '../../../migrations/mpc-node';
import { MpcOperations } from '../../../src/cli/mpc-operations';
import type { Hex } from '../../../src/chains/types';
import type { AdmissionRequest, JournalEntry, Outcome } from '../../../src/mpc/admission';
import type { Bans } from '../../../src/mpc/bans';
import { Journal, maxFailedSessions } from '../../../src/mpc/journal';
import type { JournalGuard } from '../../../src/mpc/journal-guard';
import { JournalRecovery } from '../../../src/mpc/journal-recovery';
import type { JournalMark } from '../../../src/mpc/journal-mark';
import { NodeAdmission } from '../../../src/mpc/node-admission';
import type { PolicyRefusalLog } from '../../../src/mpc/policy-refusal-log';
import { ShareStore } from '../../../src/mpc/store';
import { forgeOrder } from '../../orders';
import { createNodeDatabase, type NodeDatabase } from './group';
import { newKeyPair } from '../../keys';

const { privateKey: signingKey, publicKey } = newKeyPair('P-256');

const bounds = { sums: new Map(), isRefused: false, marked: null };

/** What node 1 admits, by its database alone: no session runs. */
describe('sessions that node 1 admits', () => {
  let database: NodeDatabase;
  let store: ShareStore;
  let journal: Journal;
  let keys = 0;
  let keyId: string;

  beforeAll(async () => {
    database = await createNodeDatabase();
    store = await ShareStore.open({ url: database.url, node: 1, keks: [randomBytes(32)], migrations });
    journal = new Journal(store.database, 1, signingKey);
  }, 60_000);
  afterAll(async () => {
    await store.close();
    await database.drop();
  });
  beforeEach(() => {
    keyId = `key.${(keys += 1)}`;
  });

  const request = (txId: string, changes: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
    ...{ txId: `${keyId}/${txId}`, attempt: 1, kind: 'first', orderHash: '00'.repeat(32), orderSeq: 1, resources: ['r'] },
    order: { jti: randomUUID(), compact: 'a.b.c', unsigned: '0x00' },
    ...{ digests: ['0x01', '0x02'], payload: 0, keyId, clientId: 'client', peer: 2, initiator: 1 },
    spends: { chain: 'chain', token: null, amount: 1n, fee: 1n, recipients: [] },
    ...changes,
  });
  const admit = (txId: string, changes: Partial<AdmissionRequest> = {}) => journal.admit(request(txId, changes), bounds);
  const end = (entry: JournalEntry, outcome: Outcome) =>
    journal.finish(entry, { outcome, signature: outcome === 'signed' ? '0x01' : null, session: null, copy: undefined });
  const entryOf = async (verdict: ReturnType<typeof admit>): Promise<JournalEntry> => {
    const answer = await verdict;
    if (!('entry' in answer)) throw new Error(`not admitted: ${answer.verdict}`);
    return answer.entry;
  };
  const verdictsOf = async (verdicts: ReturnType<typeof admit>[]) => (await Promise.all(verdicts)).map(({ verdict }) => verdict);
  const times = (count: number, work: (at: number) => ReturnType<typeof admit>) =>
    Array.from({ length: count }, (_, at) => work(at));

  test('of many about one payload with one peer at the same moment one runs; when it has ended, the next one', async () => {
    const verdicts = await Promise.all(times(16, () => admit('a')));
    expect(verdicts.map(({ verdict }) => verdict).sort()).toEqual(['admitted', ...Array<string>(15).fill('busy')]);
    // another peer and another payload are not concerned
    expect((await admit('a', { peer: 3 })).verdict).toBe('admitted');
    expect((await admit('a', { payload: 1 })).verdict).toBe('admitted');
    const [running] = verdicts.flatMap((answer) => ('entry' in answer ? [answer.entry] : []));
    await end(running!, 'silent');
    await end(await entryOf(admit('a')), 'signed');
    expect((await admit('a')).verdict).toBe('recorded');
  });

  test('failed and running ones with one peer by one key are never more than are a ban', async () => {
    const failed = 20;
    for (let at = 0; at < failed; at += 1) await end(await entryOf(admit(`failed ${at}`)), 'failed');
    const verdicts = await verdictsOf(times(maxFailedSessions, (at) => admit(`running ${at}`)));
    expect(verdicts.filter((verdict) => verdict === 'admitted')).toHaveLength(maxFailedSessions - failed);
    expect(new Set(verdicts)).toEqual(new Set(['admitted', 'busy']));
    expect((await admit('other', { peer: 3 })).verdict).toBe('admitted');
  });

  test('with 32 that failed it is banned, and no longer busy', async () => {
    const entries = await Promise.all(times(maxFailedSessions, (at) => admit(`${at}`)).map(entryOf));
    expect((await admit('more')).verdict).toBe('busy');
    for (const entry of entries) await end(entry, 'failed');
    expect((await admit('more')).verdict).toBe('banned');
  });

  test('what a process has left behind does not keep a later one from signing', async () => {
    await Promise.all(times(maxFailedSessions, (at) => entryOf(admit(`${at}`)).then(() => admit(`${at}`))));
    expect((await admit('0')).verdict).toBe('busy');
    await new Journal(store.database, 1, signingKey).closeInterrupted();
    expect((await admit('0')).verdict).toBe('admitted');
  });

  test('about one payload with one peer they are not more than a thousand', async () => {
    await end(await entryOf(admit('a')), 'not_begun');
    const copies = `insert into journal
      select (jsonb_populate_record(j, jsonb_build_object('number', n))).* from journal j, generate_series(1, 999) n where j.tx_id = $1`;
    await store.database.query(copies, [`${keyId}/a`]);
    expect((await admit('a')).verdict).toBe('exhausted');
    expect((await admit('a', { peer: 3 })).verdict).toBe('admitted');
    expect((await admit('b')).verdict).toBe('admitted');
  });

  test('a settlement pays nobody on the list of the house or of the client for whom it is', async () => {
    const recipients = [`payee of ${keyId}`];
    const spends = { chain: 'chain', token: 'gas', amount: 1n, fee: 1n, recipients };
    const settle = (onBehalfOf: string) => admit(onBehalfOf, { spends, onBehalfOf, clientId: 'house' });
    const list = `insert into blacklist (client_id, chain, address_key) values ($1, 'chain', $2)`;
    await store.database.query(list, ['careful', recipients[0]]);
    expect((await settle('careful')).verdict).toBe('blacklisted');
    expect((await settle('careless')).verdict).toBe('admitted');
    await store.database.query(list, ['house', recipients[0]]);
    expect((await settle('another')).verdict).toBe('blacklisted');
  });

  describe('a message of several digests', () => {
    let message: { messageKey: string };
    beforeEach(() => {
      message = { messageKey: `message of ${keyId}` };
    });

    test('is admitted with one set of them, whatever the transaction, and whether or not a session has begun', async () => {
      await end(await entryOf(admit('a', message)), 'not_begun');
      const swapped = { ...message, digests: ['0x01', '0x03'] as Hex[] };
      expect((await admit('b', swapped)).verdict).toBe('other_digests');
      expect((await admit('b', { ...swapped, attempt: 2, peer: 3 })).verdict).toBe('other_digests');
      expect((await admit('b', message)).verdict).toBe('admitted');
      expect((await admit('c', { ...swapped, spends: { ...request('c').spends, chain: 'other' } })).verdict).toBe('admitted');
    });

    test('of two sets at the same moment one is admitted', async () => {
      const sets = times(8, (at) => admit(`${at}`, { ...message, digests: ['0x01', `0x0${at}`] }));
      expect((await verdictsOf(sets)).filter((verdict) => verdict === 'admitted')).toHaveLength(1);
    });

    test('is remembered by a node that takes its entries back from its peers', async () => {
      const { statement } = await entryOf(admit('a', message));
      await store.database.query('alter table journal disable trigger all');
      await store.database.query('delete from journal where statement = $1', [statement.text]);
      await store.database.query('alter table journal enable trigger all');
      expect(await new JournalRecovery(store.database).restore([statement])).toBe(1);
      expect((await admit('b', { ...message, digests: ['0x01', '0x03'] })).verdict).toBe('other_digests');
    });
  });

  describe('keys that sign in the name of one transaction', () => {
    const another = () => ({ keyId: `${keyId}.other`, resources: ['r of another account'] });

    test('an attempt is of one account: the same bytes of another one are refused, although they have the same digests', async () => {
      await entryOf(admit('a'));
      expect((await admit('a', { ...another(), peer: 3 })).verdict).toBe('other_digests');
      // of another account of the same key
      expect((await admit('a', { resources: another().resources, peer: 3 })).verdict).toBe('other_digests');
      expect((await admit('a', { peer: 3 })).verdict).toBe('admitted');
    });

    test('the sums of every one of them count: what was admitted for another key, and not begun, does not make room', async () => {
      const once = { ...bounds, sums: new Map([['', { key: 1n, node: null }]]) };
      await end(await entryOf(journal.admit(request('a'), once)), 'not_begun');
      expect((await journal.admit(request('b', another()), once)).verdict).toBe('admitted');
      const later = request('a', { ...another(), attempt: 2, kind: 'replacement', digests: ['0x03'] });
      expect((await journal.admit(later, once)).verdict).toBe('key_limit');
    });
  });

  describe('a later attempt of a settlement', () => {
    const settled = ['nonce', 'settles chain/payment/5'];
    const later = async (kind: 'replacement' | 'cancellation', resources: string[], first = settled) => {
      const txId = `${kind} ${resources.join()} ${first.join()}`;
      await end(await entryOf(admit(txId, { resources: first })), 'signed');
      return (await admit(txId, { attempt: 2, kind, resources, digests: ['0x03'] })).verdict;
    };

    test('is the same settlement, or a cancellation', async () => {
      expect(await later('replacement', settled)).toBe('admitted');
      expect(await later('cancellation', ['nonce'])).toBe('admitted');
    });

    test('is no payment, and settles no other payment or amount', async () => {
      expect(await later('replacement', ['nonce'])).toBe('unrelated');
      expect(await later('replacement', ['nonce', 'settles chain/other/5'])).toBe('unrelated');
      expect(await later('replacement', ['nonce', 'settles chain/payment/6'])).toBe('unrelated');
    });

    test('does not settle where the first attempt pays', async () => {
      expect(await later('replacement', settled, ['nonce'])).toBe('unrelated');
    });
  });

  test('entries are committed in the order of their numbers', async () => {
    const blocker = store.database.createQueryRunner();
    await blocker.startTransaction();
    await blocker.query('select pg_advisory_xact_lock(hashtextextended($1, 3))', [`${keyId}/slow`]);
    const slow = entryOf(admit('slow'));
    const fast = entryOf(admit('fast', { keyId: `${keyId}.other` }));
    const first = await Promise.race([fast, new Promise((resolve) => setTimeout(resolve, 500))]);
    expect(first).toBeUndefined();
    await blocker.rollbackTransaction();
    await blocker.release();
    expect((await slow).number).toBeLessThan((await fast).number);
  });

  const createAdmission = (marked: number | null = null, used = journal) => {
    const noticeLoss = jest.fn();
    const mark = { known: { bans: 0, entry: marked === null ? null : { number: marked, hash: '' } } };
    const admission = new NodeAdmission({
      ...{ self: 1, getPublicKey: () => publicKey, journal: used, limits: null, logger: pino({ level: 'silent' }) },
      ...{ guard: { assertReady: () => undefined, noticeLoss } as unknown as JournalGuard, bans: {} as Bans },
      ...{ refusalLog: {} as PolicyRefusalLog, mark: mark as unknown as JournalMark },
    });
    return { admission, noticeLoss };
  };

  test('only the tries of the last hour are counted', async () => {
    await entryOf(admit('a')).then((entry) => end(entry, 'not_begun'));
    const copies = `insert into journal
      select (jsonb_populate_record(j, jsonb_build_object('number', n, 'admitted_at', clock_timestamp() - interval '61 minutes'))).*
        from journal j, generate_series(2001, 3000) n where j.tx_id = $1`;
    await store.database.query(copies, [`${keyId}/a`]);
    expect((await admit('a')).verdict).toBe('admitted');
  });

  test('an entry whose answer was lost keeps its payload busy for a minute, not for ever', async () => {
    const { admission } = createAdmission();
    // as if another process of this node had written it
    const lost = await entryOf(new Journal(store.database, 1, signingKey).admit(request('a'), bounds));
    await expect(admission.admit(request('a'))).rejects.toMatchObject({ code: 'signers_unavailable' });
    await store.database.query('alter table journal disable trigger all');
    await store.database.query(`update journal set admitted_at = admitted_at - interval '61 seconds' where number = $1`, [
      lost.number,
    ]);
    await store.database.query('alter table journal enable trigger all');
    await expect(admission.admit(request('a'))).resolves.toHaveProperty('entry');
  });

  test('tries that wait for their turn are not all made: the peer does not wait that long', async () => {
    let tries = 0;
    const slow = {
      closeInterrupted: () => Promise.resolve(),
      admit: () => new Promise((resolve) => setTimeout(resolve, 700, { verdict: 'busy' })).finally(() => (tries += 1)),
    };
    const { admission } = createAdmission(null, slow as unknown as Journal);
    // how many there are depends on the clock, which a busy machine must not move on
    jest.useFakeTimers();
    try {
      const refused = expect(admission.admit(request('a'))).rejects.toMatchObject({ code: 'signers_unavailable' });
      await jest.advanceTimersByTimeAsync(5_000);
      await refused;
    } finally {
      jest.useRealTimers();
    }
    expect(tries).toBe(2);
  });

  test('a session that runs here stays, however old its entry is', async () => {
    const running = await entryOf(admit('a'));
    await store.database.query('alter table journal disable trigger all');
    await store.database.query(`update journal set admitted_at = admitted_at - interval '1 hour' where number = $1`, [
      running.number,
    ]);
    await store.database.query('alter table journal enable trigger all');
    await expect(createAdmission().admission.admit(request('a'))).rejects.toMatchObject({ code: 'signers_unavailable' });
  });

  test('nothing is admitted by a database that lacks the entry of the mark', async () => {
    const { admission, noticeLoss } = createAdmission(4_711);
    await expect(admission.admit(request('a'))).rejects.toMatchObject({ code: 'journal_behind' });
    expect(noticeLoss).toHaveBeenCalledTimes(1);
    expect((await admit('a')).verdict).toBe('admitted');
  });

  test('an end that the database did not take is stored before the next signature is admitted', async () => {
    const { admission } = createAdmission();
    const admitted = await admission.admit(request('a'));
    if (!('entry' in admitted)) throw new Error('not admitted');
    await store.database.query('alter function finish_signature rename to not_there');
    const signed = { outcome: 'signed', signature: '0x77', session: null, copy: undefined } as const;
    await expect(admission.finish(admitted.entry, signed)).rejects.toThrow('finish_signature');
    await store.database.query('alter function not_there rename to finish_signature');
    expect((await admit('a')).verdict).toBe('busy');
    expect(await admission.admit(request('a'))).toEqual({ recorded: '0x77' });
    // the first end is kept
    await end(admitted.entry, 'failed');
    expect((await admit('a')).verdict).toBe('recorded');
  });

  describe('in spite of a ban', () => {
    beforeEach(async () => {
      await store.database.query(`insert into bans (key_id, peer, statement, statement_signature) values ($1, 2, '{}', '')`, [
        keyId,
      ]);
      const jti = randomUUID();
      // an order has its digests by signer, an entry in the order of the payloads
      const signers = [{ key_id: keyId, digests: ['0x02', '0x01'] }];
      const order = { jti, compact: await forgeOrder({ tx_id: `${keyId}/a`, attempt: 1, signers }), unsigned: '0x00' as const };
      expect((await admit('a', { order })).verdict).toBe('banned');
      await new MpcOperations(store.database).unfreeze({ keyId, peer: 2, orderId: jti }, 'ann');
    });

    test.each<[Outcome, string]>([
      ['not_begun', 'unfrozen'],
      ['failed', 'banned'],
      ['silent', 'banned'],
      ['stopped', 'banned'],
    ])('the operator’s permission, used by a session that ended as %s: the next one is %s', async (outcome, next) => {
      expect((await admit('b')).verdict).toBe('banned');
      for (const digests of [['0x01', '0x03'], ['0x01'], ['0x01', '0x02', '0x03']] as Hex[][])
        expect((await admit('a', { digests })).verdict).toBe('banned');
      const entry = await entryOf(admit('a'));
      expect(entry.isUnfrozen).toBe(true);
      expect((await admit('a')).verdict).toBe('banned');
      await end(entry, outcome);
      expect((await admit('a')).verdict).toBe(next);
    });
  });
});
