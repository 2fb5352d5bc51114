import { differencesOf, type Executed, type Records } from '../../adversary/record-differences';

/** The check at the end of the tests with killed processes must be able to fail. */

const digest = `0x${'11'.repeat(32)}`;
const sent: Executed = { subject: 'it', digest, owner: 'client' };
const complete: Records = {
  ordered: new Map([[digest, 'transfer']]),
  entries: new Map([
    [
      digest,
      [
        { node: 1, peer: 3 },
        { node: 3, peer: 1 },
      ],
    ],
  ]),
};

test('what has its order and the entries of both nodes is in order', () => {
  expect(differencesOf(sent, complete)).toEqual([]);
});

test('a missing order is named', () => {
  expect(differencesOf(sent, { ...complete, ordered: new Map() })).toEqual(['it has no order']);
});

test.each([
  ['of one node alone', [{ node: 1, peer: 3 }]],
  [
    'of two nodes that do not name each other',
    [
      { node: 1, peer: 3 },
      { node: 3, peer: 2 },
    ],
  ],
  ['of no node', []],
])('entries %s are named', (_, pairs) => {
  expect(differencesOf(sent, { ...complete, entries: new Map([[digest, pairs]]) })).toEqual([
    `it has entries of ${JSON.stringify(pairs)}`,
  ]);
});

test('records of another digest do not count', () => {
  expect(differencesOf({ ...sent, digest: `0x${'12'.repeat(32)}` }, complete)).toEqual([
    'it has no order',
    'it has entries of []',
  ]);
});

test('what a chain does not show the digest of is named', () => {
  expect(differencesOf({ ...sent, digest: null }, complete)).toEqual(['it does not show what was signed']);
});

test.each([
  ['client', ['transfer', 'typed_data', 'consolidation', 'replacement', 'cancellation'], ['settlement', 'gas', 'withdrawal']],
  ['house', ['settlement', 'gas', 'withdrawal', 'replacement', 'cancellation'], ['transfer', 'typed_data', 'consolidation']],
] as const)('an order of a kind that keys of the %s do not sign is named', (owner, own, others) => {
  const ordered = (kind: (typeof own)[number]) =>
    differencesOf({ ...sent, owner }, { ...complete, ordered: new Map([[digest, kind]]) });
  for (const kind of own) expect(ordered(kind)).toEqual([]);
  for (const kind of others) expect(ordered(kind)).toEqual([`it of the ${owner} has an order of kind ${kind}`]);
});
