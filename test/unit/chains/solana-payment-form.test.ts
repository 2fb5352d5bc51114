import { hasTag, paymentTags, readPaymentForm, writePaymentForm } from '../../../src/chains/solana/codec/payment-form';
import type { Hex } from '../../../src/chains/types';

const form = { lastSecond: 1_800_000_000n, wallet: Buffer.alloc(32, 5), bytes: Buffer.from([1, 2, 3]) };
const latest = 253_402_300_799n;

describe.each([
  ['settlement', '00', paymentTags.settlement, paymentTags.authorisation],
  ['authorisation', '7f', paymentTags.authorisation, paymentTags.settlement],
] as const)('the form of a %s', (_, prefix, tag, otherTag) => {
  const unsigned = writePaymentForm(tag, form);

  test('is a tag, the last second, the wallet and the bytes of the chain', () => {
    expect(unsigned).toBe(`0x${prefix}00d2496b00000000${'05'.repeat(32)}010203`);
    expect(readPaymentForm(tag, unsigned)).toEqual(form);
    expect([hasTag(tag, unsigned), hasTag(otherTag, unsigned)]).toEqual([true, false]);
  });

  test('has a time that can be stored', () => {
    expect(readPaymentForm(tag, writePaymentForm(tag, { ...form, lastSecond: latest }))).toMatchObject({ lastSecond: latest });
    const later = writePaymentForm(tag, { ...form, lastSecond: latest + 1n });
    expect(() => readPaymentForm(tag, later)).toThrow('out of range');
  });

  test('has room for a packet', () => {
    const packet = writePaymentForm(tag, { ...form, bytes: Buffer.alloc(1_232, 1) });
    expect(readPaymentForm(tag, packet).bytes).toHaveLength(1_232);
    expect(() => readPaymentForm(tag, `${packet}01`)).toThrow();
  });

  test.each<[string, Hex]>([
    ['of the other', writePaymentForm(otherTag, form)],
    ['without bytes', writePaymentForm(tag, { ...form, bytes: Buffer.alloc(0) })],
    ['with half of its head', unsigned.slice(0, 40) as Hex],
    ['with half a byte more', `${unsigned}0`],
    ['with upper-case digits', `${unsigned}AB`],
    ['with a line break', `${unsigned}\n`],
    ['of nothing', '0x'],
  ])('is not text %s', (_what, changed) => {
    expect(() => readPaymentForm(tag, changed)).toThrow();
  });
});
