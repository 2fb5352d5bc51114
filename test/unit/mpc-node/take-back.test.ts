import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { EntryFields } from '../../../src/mpc/journal-entry';
import type { CopiesPage } from '../../../src/mpc/peer-copies';
import { signStatement } from '../../../src/mpc/statement';
import { readOwnCopies } from '../../../src/mpc/take-back';

const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const former = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' });
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
