import type { SignedRefusal } from '../../../src/messages/signing';
import type { AttemptKind } from '../../../src/chains/types';
import { newId } from '../../../src/platform/ids';
import { signAs } from '../../factories';
import { signRefusal } from '../../node-refusals';
import { auditOf } from '../screening/factors';
import { type EvmFees, type Fixture, prepared } from '../ledger/fixture';
import { useFundedFixture } from './fixture';

let fixture: Fixture;
const { row, locked } = useFundedFixture((it) => (fixture = it));

const dearer = { maxFeePerGas: 2_300_000_000n };
const begin = (txId: string, kind: AttemptKind, lastAttempt: number, fees: Partial<EvmFees> = {}) =>
  fixture.ledger.beginSigning({ txId, lastAttempt, kind, prepared: prepared(fees) });
const cancel = (txId: string, lastAttempt = 1) =>
  begin(txId, 'cancellation', lastAttempt, { maxFeePerGas: 4_000_000_000n, gasLimit: 21_000n });
const record = (txId: string, refusals: SignedRefusal[]) => fixture.ledger.recordNodeRefusals({ txId, refusals });
const begun = async (): Promise<string> => {
  const txId = await locked();
  expect(await begin(txId, 'first', 0)).toMatchObject({ outcome: 'begun' });
  return txId;
};
const both = (txId: string, attempt = 1) => ([1, 2] as const).map((node) => signRefusal(node, { tx_id: txId, attempt }));

test('what two nodes have signed about the first attempt is a reason to cancel it, and to sign nothing else', async () => {
  const txId = await begun();
  expect(await record(txId, both(txId))).toEqual({ accepted: true });
  expect(await record(txId, both(txId))).toEqual({ accepted: true });
  expect(await row(txId)).toMatchObject({ cancellationReason: 'node_policy', status: 'SIGNING' });
  expect((await auditOf(fixture.database, 'transfer.signing_refused', txId)).map(({ detail }) => detail)).toEqual(
    [1, 2].map((node) => ({ node, attempt: 1, code: 'node_policy', reason: expect.any(String) as string })),
  );
  expect(await begin(txId, 'replacement', 1, dearer)).toMatchObject({ outcome: 'begun', kind: 'cancellation' });
  const change = fixture.database.query('update node_refusals set node = 3');
  await expect(change).rejects.toThrow('append-only');
});

test('the mark without what the nodes have signed is no reason', async () => {
  const txId = await begun();
  await fixture.database.query(`update transactions set cancellation_reason = 'node_policy' where tx_id = $1`, [txId]);
  expect(await cancel(txId)).toMatchObject({ outcome: 'refused', code: 'not_cancellable' });
  const forged = ([1, 2] as const).map((node) => signRefusal(node, { tx_id: txId, attempt: 1 }, { by: 3 }));
  for (const [at, { text, signature }] of forged.entries())
    await fixture.database.query('insert into node_refusals values ($1, 1, $2, $3, $4)', [txId, at + 1, text, signature]);
  expect(await cancel(txId)).toMatchObject({ outcome: 'refused', code: 'not_cancellable' });
});

test.each<[string, (of: { tx_id: string; attempt: number }) => SignedRefusal[]]>([
  ['one node twice', (of) => [signRefusal(1, of), signRefusal(1, of, { reason: 'the amount is above the highest allowed' })]],
  ['one node in the name of another', (of) => [signRefusal(1, of), signRefusal(2, of, { by: 1 })]],
  ['about another transfer', (of) => [signRefusal(1, of), signRefusal(2, { ...of, tx_id: newId() })]],
  ['about another attempt', (of) => [signRefusal(1, of), signRefusal(2, { ...of, attempt: 2 })]],
  ['about a replacement', (of) => [signRefusal(1, of), signRefusal(2, of, { kind: 'replacement' })]],
  ['a statement of another type', (of) => [signRefusal(1, of), signRefusal(2, of, { type: 'entry' })]],
  ['changed afterwards', (of) => [signRefusal(1, of), { ...signRefusal(2, of), text: signRefusal(2, of, { reason: 'x' }).text }]],
])('not accepted: %s', async (_what, refusals) => {
  const txId = await begun();
  expect(await record(txId, refusals({ tx_id: txId, attempt: 1 }))).toEqual({ accepted: false });
  expect((await row(txId)).cancellationReason).toBeNull();
  expect(await cancel(txId)).toMatchObject({ outcome: 'refused', code: 'not_cancellable' });
});

test('not accepted: before signing has begun, beside a replacement, and after the end', async () => {
  const unbegun = await locked();
  const ended = await locked();
  await fixture.ledger.cancelTransfer({ txId: ended });
  const replaced = await begun();
  await begin(replaced, 'replacement', 1, dearer);
  for (const refusals of [both(unbegun), both(ended), both(replaced), both(replaced, 2)]) {
    const { tx_id: txId } = JSON.parse(refusals[0]?.text ?? '') as { tx_id: string };
    expect(await record(txId, refusals)).toEqual({ accepted: false });
  }
});

test('a signed attempt is sent, whatever its nodes say afterwards', async () => {
  const txId = await locked();
  const result = await begin(txId, 'first', 0);
  if (result.outcome !== 'begun') throw new Error('not begun');
  const signatures = signAs(fixture.wallet, fixture.account, result.unsigned);
  await fixture.ledger.recordSigned({ txId, attempt: 1, signatures });
  expect(await record(txId, both(txId))).toEqual({ accepted: false });
});

test('one refusal, or a text beyond the limit, is no request', async () => {
  const txId = await begun();
  const [one, two] = both(txId) as [SignedRefusal, SignedRefusal];
  await expect(record(txId, [one])).rejects.toMatchObject({ code: 'invalid_parameter' });
  await expect(record(txId, [one, { ...two, text: 'x'.repeat(2_001) }])).rejects.toMatchObject({ code: 'invalid_parameter' });
});
