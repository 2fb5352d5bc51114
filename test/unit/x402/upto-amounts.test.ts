import type { JsonObject } from '../../../src/chains/types';
import { change, type Changes, gone, paymentOf, permit2Exact, permit2Upto, verdict } from './bodies';

const body = (changes: Changes): JsonObject => change(permit2Upto(), changes);
const inAccepted = 'accepted.extra.settlementAmount';
const inRequired = 'required.extra.settlementAmount';
const alone = { paymentRequirements: gone } as const;

/** The permit allows 1000. [changes, at verify, at settle]; a bigint is the amount that is paid. */
describe('the amount of an upto payment', () => {
  it.each<[string, Changes, bigint | string, bigint | string]>([
    ['nowhere, without requirements', alone, 1000n, 1000n],
    ['in accepted, without requirements', { ...alone, [inAccepted]: '500' }, 500n, 500n],
    ['nothing is paid', { ...alone, [inAccepted]: '0' }, 0n, 0n],
    ['all is paid', { ...alone, [inAccepted]: '1000' }, 1000n, 1000n],
    ['above the maximum, without requirements', { ...alone, [inAccepted]: '1001' }, 'exceeds', 'exceeds'],
    ['no number', { ...alone, [inAccepted]: 'all' }, 'invalid_payload', 'invalid_payload'],
    ['a JSON number', { ...alone, [inAccepted]: 500 }, 'invalid_payload', 'invalid_payload'],
    ['in the requirements, as their amount', { 'required.amount': '500' }, 'permit2_amount_mismatch', 500n],
    ['the requirements’ amount is zero', { 'required.amount': '0' }, 'permit2_amount_mismatch', 0n],
    ['the requirements’ amount is the maximum', {}, 1000n, 1000n],
    ['the requirements’ amount is above', { 'required.amount': '1001' }, 'permit2_amount_mismatch', 'exceeds'],
    ['in the requirements’ extra, beside the maximum', { [inRequired]: '500' }, 500n, 500n],
    ['in the requirements’ extra and amount', { [inRequired]: '500', 'required.amount': '500' }, 500n, 500n],
    ['in hex', { [inRequired]: '0x1f4', 'required.amount': '500' }, 500n, 500n],
    [
      'the requirements contradict themselves',
      { [inRequired]: '500', 'required.amount': '600' },
      'invalid_payment_requirements',
      'invalid_payment_requirements',
    ],
    ['in the requirements’ extra, above', { [inRequired]: '1001' }, 'exceeds', 'exceeds'],
    [
      'in the requirements’ extra, no number',
      { [inRequired]: '' },
      'invalid_payment_requirements',
      'invalid_payment_requirements',
    ],
    ['in both', { [inAccepted]: '500', [inRequired]: '500' }, 500n, 500n],
    ['the payer’s is not repeated', { [inAccepted]: '1' }, 'invalid_payment_requirements', 'invalid_payment_requirements'],
    [
      'the payer’s is not repeated beside an amount',
      { [inAccepted]: '1', 'required.amount': '500' },
      'invalid_payment_requirements',
      'invalid_payment_requirements',
    ],
    [
      'the payer’s differs',
      { [inAccepted]: '1', [inRequired]: '500' },
      'invalid_payment_requirements',
      'invalid_payment_requirements',
    ],
    ['null is not given', { [inAccepted]: null, [inRequired]: null }, 1000n, 1000n],
  ])('%s', (_, changes, atVerify, atSettle) => {
    for (const [phase, expected] of [
      ['verify', atVerify],
      ['settle', atSettle],
    ] as const) {
      if (typeof expected === 'bigint') {
        expect(paymentOf(body(changes), phase)).toMatchObject({ authorised: 1000n, amount: expected, method: 'permit2_upto' });
      } else {
        const reason = expected === 'exceeds' ? 'invalid_upto_evm_payload_settlement_exceeds_amount' : expected;
        expect(verdict(body(changes), phase)).toBe(reason);
      }
    }
  });

  it('means nothing in an exact payment', () => {
    expect(paymentOf(change(permit2Exact(), { [inAccepted]: '500' }), 'settle').amount).toBe(1000n);
  });

  it('does not change what the payer has to have signed', () => {
    const less = body({ 'permitted.amount': '500', [inRequired]: '500' });
    expect(verdict(less, 'settle')).toBe('permit2_amount_mismatch');
  });
});
