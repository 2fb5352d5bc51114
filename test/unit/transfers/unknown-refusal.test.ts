import { Alarms } from '../../../src/platform/alarms';
import { limitUnknown } from '../../../src/transfers/broadcast/unknown-refusal';

const minute = 60_000;
const reason = 'refused by the node (code -32000): who knows';

function judge(ageMs: number, refusal: Parameters<typeof limitUnknown>[3] = { outcome: 'waiting', reason, passing: 'unknown' }) {
  const error = jest.fn();
  const transfer = { txId: 'a', chain: 'ethereum' } as Parameters<typeof limitUnknown>[1];
  const alarms = new Alarms({ error });
  const judged = limitUnknown({ alarms }, transfer, { attempt: 1, signedAt: new Date(Date.now() - ageMs) }, refusal);
  return { judged, alerts: error.mock.calls.map(([facts]) => facts as object) };
}

test('words that nobody knows are waited for; after five minutes an operator is needed, with an alarm', () => {
  const waits = { judged: { outcome: 'waiting', reason, passing: 'unknown' }, alerts: [] };
  const refused = {
    judged: { outcome: 'rejected', reason, isUnknown: true },
    alerts: [{ alert: 'broadcast_refused', chain: 'ethereum', tx_id: 'a', reason }],
  };
  expect(judge(0)).toEqual(waits);
  expect(judge(5 * minute - 1_000)).toEqual(waits);
  expect(judge(5 * minute)).toEqual(refused);
  expect(judge(360 * minute)).toEqual(refused);
});

test.each([
  { outcome: 'waiting', reason, passing: 'view' },
  { outcome: 'waiting', reason },
  { outcome: 'rejected', reason },
] as const)('what is known stays what it is: %j', (refusal) => {
  expect(judge(1_000 * minute, refusal)).toEqual({ judged: refusal, alerts: [] });
});
