import { Alarms } from '../../../src/platform/alarms';
import { UnknownRefusals } from '../../../src/transfers/broadcast/unknown-refusal';

const minute = 60_000;
const reason = 'refused by the node (code -32000): who knows';
const unknown = { outcome: 'waiting', reason, passing: 'unknown' } as const;
const refused = { outcome: 'rejected', reason, isUnknown: true };
const transfer = { txId: 'a', chain: 'ethereum' };

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

function start() {
  const error = jest.fn();
  const refusals = new UnknownRefusals(new Alarms({ error }));
  return { refusals, alerts: () => error.mock.calls.map(([facts]) => facts as object) };
}

test('words that nobody knows are waited for; five minutes after the first of them an operator is needed, with one alarm', () => {
  const { refusals, alerts } = start();
  expect(refusals.limit(transfer, 1, unknown)).toEqual(unknown);
  jest.advanceTimersByTime(5 * minute - 1);
  expect(refusals.limit(transfer, 1, unknown)).toEqual(unknown);
  expect(refusals.limit(transfer, 2, unknown)).toEqual(unknown);
  expect(alerts()).toEqual([]);
  jest.advanceTimersByTime(1);
  expect(refusals.limit(transfer, 1, unknown)).toEqual(refused);
  jest.advanceTimersByTime(360 * minute);
  expect(refusals.limit(transfer, 1, unknown)).toEqual(refused);
  expect(alerts()).toEqual([{ alert: 'broadcast_refused', chain: 'ethereum', tx_id: 'a', reason }]);
});

test.each([
  { outcome: 'accepted' },
  { outcome: 'waiting', reason, passing: 'view' },
  { outcome: 'waiting', reason },
  { outcome: 'rejected', reason },
] as const)('what is known stays what it is, and the minutes begin again after it: %j', (known) => {
  const { refusals, alerts } = start();
  refusals.limit(transfer, 1, unknown);
  jest.advanceTimersByTime(1_000 * minute);
  expect(refusals.limit(transfer, 1, known)).toEqual(known);
  expect(refusals.limit(transfer, 1, unknown)).toEqual(unknown);
  expect(alerts()).toEqual([]);
});
