import { compareProofs, type ShownProof } from '../../../src/chains/proofs';

/** What endpoints say of a proof; null: it does not answer. */
const said = (...answers: (ShownProof | null)[]) =>
  compareProofs(
    {
      each: (work) => Promise.all(answers.map((answer) => (answer === null ? Promise.resolve(null) : work(answer as never)))),
    },
    (answer: ShownProof) => Promise.resolve(answer),
  );

test.each<[ShownProof, (ShownProof | null)[]]>([
  ['same', ['same', 'same']],
  ['early', ['same', 'early']],
  ['other', ['same', 'other']],
  ['other', ['early', 'other']],
  ['other', ['same', null]],
  ['other', ['early', null]],
])('%s where the endpoints say %j', async (expected, answers) => {
  expect(await said(...answers)).toBe(expected);
});
