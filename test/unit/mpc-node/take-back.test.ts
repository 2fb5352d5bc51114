import { type KeyObject } from 'node:crypto';
import type { EntryFields } from '../../../src/mpc/journal-entry';
import type { CopiesPage } from '../../../src/mpc/peer-copies';
import type { NodeIndex } from '../../../src/messages/nodes';
import { signStatement, type SignedStatement } from '../../../src/mpc/statement';
import { type OwnCopies, readOwnCopies } from '../../../src/mpc/own-copies';
import { TakeBack } from '../../../src/mpc/take-back';
import { newKeyPair } from '../../keys';

const own = newKeyPair('P-256');
const former = newKeyPair('P-256');
const foreign = newKeyPair('P-256');
const fields: EntryFields = {
  ...{
    node: 1,
    number: 1,
    tx_id: 'tx',
    attempt: 1,
    payload: 0,
    kind: 'first',
    order_hash: 'hash',
    order_seq: 0,
    resources: ['x'],
  },
  ...{
    digests: ['0x00'],
    key_id: 'key',
    client_id: 'client',
    peer: 2,
    initiator: 1,
    chain: 'ethereum',
    token: '',
    amount: '0',
    fee: '0',
  },
  admitted_at: new Date(0).toISOString(),
};
const entry = (over: Partial<EntryFields>, key: KeyObject = own.privateKey) =>
  signStatement('entry', { ...fields, ...over }, key);
const ban = (node: number, key = own.privateKey) =>
  signStatement('ban', { node, key_id: 'key', peer: 3, reason: 'check', banned_at: new Date(0).toISOString() }, key);

/** What node 1 reads of node 2, which gives these pages. */
async function read(pages: Partial<CopiesPage>[]): Promise<number> {
  let at = 0;
  const fetchPage = (): Promise<CopiesPage> => Promise.resolve({ entries: [], bans: [], next: null, ...pages[at++] });
  for await (const page of readOwnCopies(1, [own.publicKey, former.publicKey], 2, 0, fetchPage)) expect(page).toBeDefined();
  return at;
}

describe('what a peer keeps of this node', () => {
  test('is read to its end', async () => {
    const pages = [
      { entries: [entry({ number: 3 }), entry({ number: 5 })], next: 5 },
      { entries: [entry({ number: 8 })], bans: [ban(1)] },
    ];
    expect(await read(pages)).toBe(2);
  });

  test('is taken too when it is signed with a former key of this node', async () => {
    expect(await read([{ entries: [entry({}, former.privateKey)], bans: [ban(1, former.privateKey)] }])).toBe(1);
  });

  test.each<[string, Partial<CopiesPage>[]]>([
    ['an entry that another key has signed', [{ entries: [entry({}, foreign.privateKey)] }]],
    ['an entry of another node', [{ entries: [entry({ node: 3 })] }]],
    ['an entry about a session with another peer', [{ entries: [entry({ peer: 3 })] }]],
    ['a ban of another node', [{ bans: [ban(2)] }]],
    ['a ban that another key has signed', [{ bans: [ban(1, foreign.privateKey)] }]],
    ['entries out of order', [{ entries: [entry({ number: 5 }), entry({ number: 3 })] }]],
    ['the same entry on two pages', [{ entries: [entry({ number: 5 })], next: 5 }, { entries: [entry({ number: 5 })] }]],
    ['an empty page before the last one', [{ next: 7 }]],
    ['a page that continues elsewhere', [{ entries: [entry({ number: 5 })], next: 6 }]],
  ])('%s is refused', async (_what, pages) => {
    await expect(read(pages)).rejects.toMatchObject({ code: 'signers_unavailable' });
  });
});

describe('taking back', () => {
  const page = (...numbers: number[]): OwnCopies => ({
    entries: numbers.map((number) => entry({ number })),
    bans: [],
    reached: numbers.at(-1) ?? 0,
  });
  const numbersOf = (entries: SignedStatement[]) => entries.map(({ text }) => (JSON.parse(text) as EntryFields).number);

  /** Two peers; each answers with the pages and failures that the test gives it. */
  function create(
    given: Record<2 | 3, (OwnCopies | Error)[]>,
    { now, restore }: { now?: () => number; restore?: () => void } = {},
  ) {
    const stored: number[] = [];
    const asked: [peer: number, after: number][] = [];
    const readCopies = async function* (peer: NodeIndex, after: number) {
      asked.push([peer, after]);
      for (let next = given[peer as 2 | 3].shift(); next; next = given[peer as 2 | 3].shift()) {
        if (next instanceof Error) throw await Promise.resolve(next);
        yield next;
      }
    };
    const copies = new TakeBack({
      journal: {
        restore: (entries) => {
          restore?.();
          stored.push(...numbersOf(entries));
          return Promise.resolve(entries.length);
        },
        recount: () => Promise.resolve(),
      },
      bans: { restore: () => Promise.resolve() },
      others: [2, 3],
      readCopies,
      ...(now && { now }),
    });
    return { stored, asked, pass: (after = 1) => copies.pass(after, new AbortController().signal) };
  }

  test('one peer that answers junk does not keep the copies of the other', async () => {
    const { stored, pass } = create({ 2: [new Error('junk')], 3: [page(4), page(6)] });
    expect(await pass()).toEqual({ restored: 2, failures: [{ peer: 2, reason: 'junk', hasMore: false }] });
    expect(stored).toEqual([4, 6]);
  });

  test('the next pass goes on where a peer has failed, and begins again once its copies were read to their end', async () => {
    const { asked, pass } = create({ 2: [page(4, 5), new Error('down')], 3: [page(9)] });
    await pass();
    await pass();
    await pass();
    expect(asked.filter(([peer]) => peer === 2)).toEqual([
      [2, 1],
      [2, 5],
      [2, 1],
    ]);
    expect(asked.filter(([peer]) => peer === 3).map(([, after]) => after)).toEqual([1, 1]);
  });

  test('two peers may come to the end of their copies in different passes', async () => {
    const given = { 2: [page(4)], 3: [new Error('down')] as (OwnCopies | Error)[] };
    const { stored, pass } = create(given);
    expect((await pass()).failures).toMatchObject([{ peer: 3 }]);
    given[2].push(...([new Error('down')] as unknown as OwnCopies[]));
    given[3].push(page(9));
    expect((await pass()).failures).toEqual([]);
    expect(stored).toEqual([4, 9]);
  });

  test('a database that was replaced meanwhile gets everything again', async () => {
    const given: Record<2 | 3, (OwnCopies | Error)[]> = { 2: [page(4)], 3: [new Error('down')] };
    const { asked, pass } = create(given);
    await pass(5);
    await pass(1);
    expect(asked).toEqual([5, 5, 1, 1].map((after, at) => [2 + (at % 2), after]));
  });

  test('a peer whose pages do not end is left after a minute', async () => {
    let time = 0;
    const pages = Array.from({ length: 20 }, (_, index) => page(index + 1));
    const { stored, pass } = create({ 2: pages, 3: [] }, { now: () => (time += 10_000) });
    expect((await pass()).failures).toMatchObject([
      { peer: 2, reason: expect.stringContaining('more than one pass reads'), hasMore: true },
    ]);
    expect(stored.length).toBeLessThan(10);
  });

  test('a database that fails is no failure of a peer, and everything is read again', async () => {
    let isDown = false;
    const restore = () => {
      if (isDown) throw new Error('database down');
    };
    const { asked, pass } = create({ 2: [page(4), new Error('junk'), page(5)], 3: [] }, { restore });
    await pass();
    isDown = true;
    await expect(pass()).rejects.toThrow('database down');
    isDown = false;
    await pass();
    expect(asked.filter(([peer]) => peer === 2).map(([, after]) => after)).toEqual([1, 4, 1]);
  });
});
