import type { AdmissionRequest, EarlierProof } from '../../../src/mpc/admission';
import { entryFields, isPeerEntry, readEntry } from '../../../src/mpc/journal-entry';

/** The journal entry of a peer about a reissue: its own proofs, of the same attempts. */

const proof = (changes: Partial<EarlierProof> = {}): EarlierProof => ({
  ...{
    attempt: 1,
    digests: [`0x${'11'.repeat(32)}`],
    endpoint: 'one.example',
    block: 7,
    hash: 'ab',
    proved_at: '2026-01-01T00:00:00.000Z',
  },
  ...changes,
});
/** `proofs`: none, where there are none. */
const request = ({ proofs, ...changes }: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  ...{ txId: 't', attempt: 2, kind: 'reissue', orderHash: 'h', orderSeq: 1, order: { jti: 'j', compact: 'c', unsigned: '0x00' } },
  ...{ resources: [], digests: [`0x${'22'.repeat(32)}`], payload: 0, keyId: 'k', clientId: 'c', peer: 2, initiator: 1 },
  spends: { chain: 'tron', token: null, amount: 1n, fee: 1n, recipients: [] },
  ...(proofs && { proofs }),
  ...changes,
});
/** As node 2 writes it about a session with node 1. */
const entryOf = (of: AdmissionRequest) => ({
  text: JSON.stringify(entryFields(2, 5, { ...of, peer: 1 }, '2026-01-01T00:00:00.000Z')),
});
const isTaken = (theirs: EarlierProof[] | undefined, own: EarlierProof[] | undefined = [proof()]): boolean =>
  isPeerEntry(entryOf(request(theirs && { proofs: theirs })), 1, request({ proofs: own }));

test('with proofs of another endpoint', () => {
  expect(isTaken([proof()])).toBe(true);
  const found = [proof({ endpoint: 'two.example', block: 8, hash: 'cd', proved_at: '2026-01-01T00:00:01.000Z' })];
  expect(isTaken(found)).toBe(true);
  expect(readEntry(entryOf(request({ proofs: found }))).proofs).toEqual(found);
});

test.each<[string, EarlierProof[] | undefined]>([
  ['without any', undefined],
  ['none', []],
  ['of another attempt', [proof({ attempt: 3 })]],
  ['of other bytes', [proof({ digests: [`0x${'33'.repeat(32)}`] })]],
  ['one too many', [proof(), proof({ attempt: 3 })]],
  ['with a field that nobody knows', [{ ...proof(), more: 1 } as EarlierProof]],
])('not %s', (_, theirs) => {
  expect(isTaken(theirs)).toBe(false);
});

test('nor proofs for what is no reissue', () => {
  const first = request({ kind: 'first' });
  expect(isPeerEntry(entryOf(first), 1, first)).toBe(true);
  expect(isPeerEntry(entryOf({ ...first, proofs: [proof()] }), 1, first)).toBe(false);
});
