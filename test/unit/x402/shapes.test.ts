import type { JsonObject, JsonValue } from '../../../src/chains/types';
import { paymentBodySchema } from '../../../src/x402/schema';
import { readPaymentRequest } from '../../../src/x402/wire/request';
import { change, type Changes, eip3009V1, eip3009V2, gone, permit2Exact, permit2Upto, registry, verdict } from './bodies';

const bodies: [string, () => JsonObject][] = [
  ['eip3009 in version 1', eip3009V1],
  ['eip3009 in version 2', eip3009V2],
  ['exact permit2', permit2Exact],
  ['upto permit2', permit2Upto],
];

describe.each(bodies)('%s', (_, body) => {
  it('is valid as clients send it', () => {
    expect(verdict(body())).toBe('valid');
    expect(verdict(body(), 'settle')).toBe('valid');
    expect(paymentBodySchema.validate(body()).error).toBeUndefined();
  });

  it('is valid with fields that are not known here', () => {
    const more = { anything: { goes: [1, null] } };
    expect(verdict(change(body(), { 'required.new': more, 'payload.new': more, new: more, 'paymentPayload.new': more }))).toBe(
      'valid',
    );
  });

  it('is valid without what is not needed', () => {
    const less = change(body(), { 'paymentPayload.x402Version': gone, 'paymentPayload.resource': gone });
    expect(verdict(change(less, { 'required.maxTimeoutSeconds': gone, 'required.resource': gone }))).toBe('valid');
  });

  it('is valid with addresses in any letter case', () => {
    const upper = (text: string) => text.replace(/0x[0-9a-fA-F]{40}(?=")/g, (address) => `0x${address.slice(2).toUpperCase()}`);
    expect(verdict(JSON.parse(upper(JSON.stringify(body()))))).toBe('valid');
  });
});

/** What stands in place of a field that should be a string. */
const notText: [string, JsonValue | typeof gone][] = [
  ['missing', gone],
  ['null', null],
  ['a number', 5],
  ['an object', {}],
];
const cases = (body: () => JsonObject, fields: string[], reason: string) =>
  fields.flatMap((field) =>
    notText.map(([how, value]) => [field, how, reason, () => change(body(), { [field]: value })] as const),
  );

describe('a field that is not what it has to be', () => {
  it.each([
    ...cases(eip3009V1, ['paymentPayload.scheme', 'paymentPayload.network', 'payload.signature'], 'invalid_payload'),
    ...cases(
      eip3009V2,
      ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'].map((field) => `authorization.${field}`),
      'invalid_payload',
    ),
    ...cases(
      permit2Exact,
      [
        'payload.signature',
        'permit.from',
        'permit.spender',
        'permit.nonce',
        'permit.deadline',
        'permitted.token',
        'permitted.amount',
      ],
      'invalid_payload',
    ),
    ...cases(permit2Exact, ['witness.to', 'witness.validAfter', 'permit.witness', 'permit.permitted'], 'invalid_payload'),
    ...cases(permit2Upto, ['witness.facilitator'], 'unsupported_payload_type'),
    ...cases(permit2Upto, ['witness.to', 'witness.validAfter'], 'invalid_payload'),
    ...cases(
      eip3009V2,
      ['scheme', 'network', 'amount', 'asset', 'payTo'].map((field) => `accepted.${field}`),
      'invalid_payload',
    ),
    ...cases(
      eip3009V2,
      ['scheme', 'network', 'amount', 'asset', 'payTo'].map((field) => `required.${field}`),
      'invalid_payment_requirements',
    ),
    ...cases(
      eip3009V1,
      ['scheme', 'network', 'maxAmountRequired', 'asset', 'payTo'].map((field) => `required.${field}`),
      'invalid_payment_requirements',
    ),
    ...cases(eip3009V2, ['x402Version'], 'invalid_x402_version'),
  ])('%s %s: %s', (_field, _how, reason, body) => {
    expect(verdict(body())).toBe(reason);
  });

  it.each([
    ['value', 'ten', 'invalid_payload'],
    ['value', '', 'invalid_payload'],
    ['value', '-1000', 'invalid_payload'],
    ['value', '1000.0', 'invalid_payload'],
    ['value', '1e3', 'invalid_payload'],
    ['value', ' 1000', 'invalid_payload'],
    ['value', '0x', 'invalid_payload'],
    ['value', (2n ** 256n).toString(), 'invalid_payload'],
    ['value', (2n ** 256n - 1n).toString(), 'invalid_exact_evm_payload_authorization_value_mismatch'],
    ['value', '0x3e8', 'valid'],
    ['value', '01000', 'valid'],
    ['validBefore', (2n ** 256n - 1n).toString(), 'valid'],
    ['nonce', '0x12', 'invalid_payload'],
    ['nonce', '5', 'invalid_payload'],
    ['from', '0x1234', 'invalid_payload'],
    ['from', 'not an address', 'invalid_payload'],
  ])('authorization.%s = %j: %s', (field, value, reason) => {
    expect(verdict(change(eip3009V2(), { [`authorization.${field}`]: value }))).toBe(reason);
  });

  it('JSON values that are no body', () => {
    for (const body of [null, 5, 'text', true, [], [eip3009V2()]]) expect(verdict(body)).toBe('invalid_payload');
    expect(verdict({})).toBe('invalid_x402_version');
    expect(verdict({ x402Version: 2 })).toBe('invalid_payload');
    expect(verdict({ x402Version: 1, paymentPayload: {} })).toBe('invalid_payload');
  });

  it.each([
    ['paymentPayload', null, 'invalid_payload'],
    ['paymentPayload', [], 'invalid_payload'],
    ['paymentPayload.payload', 'text', 'invalid_payload'],
    ['paymentPayload.payload', [], 'invalid_payload'],
    ['paymentPayload.accepted', gone, 'invalid_payload'],
    ['paymentPayload.accepted', [], 'invalid_payload'],
    ['paymentRequirements', 'text', 'invalid_payment_requirements'],
    ['paymentRequirements', [], 'invalid_payment_requirements'],
    ['paymentRequirements', {}, 'invalid_payment_requirements'],
    ['required.extra', 'text', 'invalid_payment_requirements'],
    ['required.maxTimeoutSeconds', '60', 'invalid_payment_requirements'],
    ['accepted.extra', [], 'invalid_payload'],
    ['paymentRequirements', null, 'valid'],
    ['paymentRequirements', gone, 'valid'],
    ['paymentPayload.extensions', 'text', 'valid'],
  ])('%s = %p: %s', (field, value, reason) => {
    expect(verdict(change(eip3009V2(), { [field]: value } as Changes))).toBe(reason);
  });
});

describe('versions', () => {
  it.each([0, 3, '1', '2', null, 1.5, true, [2]])('%j is none', (version) => {
    expect(verdict(change(eip3009V2(), { x402Version: version }))).toBe('invalid_x402_version');
  });

  it('must not be contradicted by the payload', () => {
    expect(verdict(change(eip3009V2(), { 'paymentPayload.x402Version': 1 }))).toBe('invalid_x402_version');
    expect(verdict(change(eip3009V1(), { 'paymentPayload.x402Version': 2 }))).toBe('invalid_x402_version');
  });

  it('1 in the form of 2, and 2 in the form of 1', () => {
    const asV1 = change(eip3009V2(), { x402Version: 1, 'paymentPayload.x402Version': 1 });
    expect(verdict(asV1)).toBe('invalid_payload');
    const asV2 = change(eip3009V1(), { x402Version: 2, 'paymentPayload.x402Version': 2 });
    expect(verdict(asV2)).toBe('invalid_payload');
    expect(verdict({ ...eip3009V2(), paymentRequirements: eip3009V1().paymentRequirements as JsonValue })).toBe(
      'invalid_payment_requirements',
    );
    expect(verdict({ ...eip3009V1(), paymentRequirements: eip3009V2().paymentRequirements as JsonValue })).toBe(
      'invalid_payment_requirements',
    );
  });

  it('1 needs requirements, and has neither upto nor Permit2', () => {
    expect(verdict(change(eip3009V1(), { paymentRequirements: gone }))).toBe('invalid_payment_requirements');
    expect(verdict(change(eip3009V1(), { 'paymentPayload.scheme': 'upto', 'required.scheme': 'upto' }))).toBe(
      'unsupported_scheme',
    );
    const { payload } = permit2Exact().paymentPayload as JsonObject;
    expect(verdict(change(eip3009V1(), { 'paymentPayload.payload': payload as JsonValue }))).toBe('unsupported_payload_type');
  });
});

describe('the payer in answers', () => {
  it('is told whenever the body states one', () => {
    const from = '0x9f3A1cE4b27D5068Fb1c93Ed4A7e2B60d58C7fA1';
    const read = (body: unknown) => readPaymentRequest(body, registry, 'verify').payer;
    expect(read(change(eip3009V2(), { 'authorization.from': from, x402Version: 7 }))).toBe(from);
    expect(read(change(permit2Upto(), { 'permit.from': from, 'terms.scheme': 'other' }))).toBe(from);
    for (const other of [5, {}, '<script>', 'x'.repeat(500)]) {
      expect(read(change(eip3009V2(), { 'authorization.from': other }))).toBeUndefined();
    }
  });
});
