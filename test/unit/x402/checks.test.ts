import { encodeAbiParameters, parseAbiParameters } from 'viem';
import { findPaymentMethod } from '../../../src/chains/payment-methods';
import { ChainRegistry, loadRegistry } from '../../../src/chains/registry';
import { solana } from '../../../src/chains/registry/solana';
import type { ChainDefinition, JsonObject } from '../../../src/chains/types';
import { toPaymentKey } from '../../../src/x402/settlement/claimed';
import { findNetwork } from '../../../src/x402/wire/network';
import { readPaymentRequest } from '../../../src/x402/wire/request';
import {
  change,
  type Changes,
  eip3009V1,
  eip3009V2,
  gone,
  now,
  payer,
  paymentOf,
  payTo,
  permit2Exact,
  permit2Upto,
  registry,
  settler,
  signature,
  usdc,
  usdt,
  verdict,
} from './bodies';

const zero = `0x${'00'.repeat(20)}`;
const other = `0x${'17'.repeat(20)}`;
const at = (seconds: number) => String(now + seconds);

describe('networks and schemes', () => {
  it.each([
    ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 'unsupported_scheme'],
    ['eip155:999', 'invalid_network'],
    ['eip155:', 'invalid_network'],
    ['eip155:10', 'invalid_network'],
    ['base', 'invalid_network'],
    ['EIP155:8453', 'invalid_network'],
    ['constructor', 'invalid_network'],
  ])('%s in version 2: %s', (network, reason) => {
    expect(verdict(change(eip3009V2(), { 'terms.network': network }))).toBe(reason);
  });

  it('a network that the registry has is found, whatever its family', () => {
    const chain = { ...registry.get('base'), name: 'solana', caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' };
    for (const [network, version] of [
      [chain.caip2, 2],
      ['solana', 1],
    ] as const)
      expect(findNetwork(network, version, new ChainRegistry([chain]))).toEqual({ chain });
  });

  it('a transaction of its payer is a payment of Solana, and elsewhere of another scheme', () => {
    const changes = { 'paymentPayload.payload': { transaction: 'AQAB' } };
    const networks = { 'paymentPayload.network': 'solana', 'required.network': 'solana' };
    const [chain] = solana.local as [ChainDefinition];
    const bodies = [
      change(eip3009V2(), { ...changes, 'terms.network': chain.caip2 }),
      change(eip3009V1(), { ...changes, ...networks }),
    ];
    for (const body of bodies) {
      const read = readPaymentRequest(body, new ChainRegistry(solana.local), 'verify');
      expect(read).toMatchObject({ request: { payloadType: 'transaction', scheme: 'exact', chain } });
      expect(readPaymentRequest(body, registry, 'verify')).toMatchObject({ reason: 'unsupported_scheme' });
    }
    expect(readPaymentRequest(change(eip3009V2(), changes), registry, 'verify')).toMatchObject({ reason: 'unsupported_scheme' });
  });

  it('a method is one of its family, and of its schemes', () => {
    expect(findPaymentMethod('evm', { payloadType: 'eip3009', scheme: 'exact' })?.payloadType).toBe('eip3009');
    expect(findPaymentMethod('evm', { payloadType: 'eip3009', scheme: 'upto' })).toBeUndefined();
    expect(findPaymentMethod('other', { payloadType: 'permit2', scheme: 'exact' })).toBeUndefined();
  });

  it.each([
    ['base', 'valid'],
    ['eip155:8453', 'valid'],
    ['solana', 'unsupported_scheme'],
    ['solana-devnet', 'unsupported_scheme'],
    ['polygon', 'invalid_network'],
    ['base-sepolia', 'invalid_network'],
    ['constructor', 'invalid_network'],
    ['', 'invalid_payment_requirements'],
  ])('%j in version 1: %s', (network, reason) => {
    expect(verdict(change(eip3009V1(), { 'paymentPayload.network': network, 'required.network': network }))).toBe(reason);
  });

  it('both forms of one network agree in version 1', () => {
    expect(verdict(change(eip3009V1(), { 'paymentPayload.network': 'eip155:8453' }))).toBe('valid');
  });

  it('a chain without an official name has its own in version 1, a test network that of its main one', () => {
    const read = (network: string, environment: 'local' | 'sandbox') => {
      const body = change(eip3009V1(), { 'paymentPayload.network': network, 'required.network': network });
      const result = readPaymentRequest(body, loadRegistry(environment, ['base', 'bsc']), 'verify');
      return 'request' in result ? result.request.chain.caip2 : result.reason;
    };
    expect(read('bsc', 'local')).toBe('eip155:56');
    expect(read('base-sepolia', 'sandbox')).toBe('eip155:84532');
    expect(read('base', 'sandbox')).toBe('eip155:84532');
    expect(read('base-sepolia', 'local')).toBe('invalid_network');
  });

  it.each([
    ['eip3009', eip3009V2, 'batch-settlement', 'unsupported_scheme'],
    ['eip3009', eip3009V2, 'upto', 'unsupported_payload_type'],
    ['permit2 with another witness', permit2Exact, 'upto', 'unsupported_payload_type'],
    ['permit2', permit2Exact, 'Exact', 'unsupported_scheme'],
  ])('%s under the scheme of another: %#', (_, body, scheme, reason) => {
    expect(verdict(change(body(), { 'terms.scheme': scheme }))).toBe(reason);
  });

  it.each<[string, JsonObject, string]>([
    ['nothing', {}, 'invalid_payload'],
    ['a signature alone', { signature }, 'invalid_payload'],
    ['a transaction of Solana', { transaction: 'AQAB' }, 'unsupported_scheme'],
    ['a delegation', { delegationManager: other, permissionContext: '0x', delegator: payer }, 'unsupported_payload_type'],
    ['a voucher', { type: 'voucher', voucher: {} }, 'unsupported_payload_type'],
  ])('a payload of %s', (_, payload, reason) => {
    expect(verdict(change(eip3009V2(), { 'paymentPayload.payload': payload }))).toBe(reason);
  });
});

describe('the payer has accepted something else', () => {
  const bodies = { eip3009: eip3009V2, permit2: permit2Exact, upto: permit2Upto, 'eip3009 in version 1': eip3009V1 };
  it.each<[keyof typeof bodies, string, string, string]>([
    ['eip3009', 'accepted.scheme', 'upto', 'invalid_exact_evm_scheme'],
    ['permit2', 'accepted.scheme', 'upto', 'unsupported_payload_type'],
    ['upto', 'accepted.scheme', 'exact', 'invalid_upto_evm_scheme'],
    ['eip3009 in version 1', 'paymentPayload.scheme', 'upto', 'invalid_exact_evm_scheme'],
    ['eip3009', 'accepted.network', 'eip155:1', 'invalid_exact_evm_network_mismatch'],
    ['permit2', 'accepted.network', 'eip155:1', 'invalid_exact_evm_network_mismatch'],
    ['upto', 'accepted.network', 'eip155:1', 'invalid_upto_evm_network_mismatch'],
    ['eip3009 in version 1', 'paymentPayload.network', 'ethereum', 'invalid_exact_evm_network_mismatch'],
    ['eip3009 in version 1', 'paymentPayload.network', 'nowhere', 'invalid_exact_evm_network_mismatch'],
    ['eip3009', 'accepted.asset', usdt, 'invalid_payment_requirements'],
    ['permit2', 'accepted.asset', usdt, 'permit2_token_mismatch'],
    ['eip3009', 'accepted.payTo', other, 'invalid_exact_evm_recipient_mismatch'],
    ['upto', 'accepted.payTo', other, 'invalid_permit2_recipient_mismatch'],
    ['eip3009', 'accepted.amount', '999', 'invalid_exact_evm_payload_authorization_value_mismatch'],
    ['permit2', 'accepted.amount', '999', 'permit2_amount_mismatch'],
    ['upto', 'accepted.amount', '999', 'permit2_amount_mismatch'],
  ])('%s %s = %s: %s', (name, field, value, reason) => {
    expect(verdict(change(bodies[name](), { [field]: value }))).toBe(reason);
  });

  it('addresses are the same in any letter case', () => {
    const mixed = `0x5bC2${payTo.slice(6)}`;
    expect(verdict(change(eip3009V2(), { 'accepted.payTo': mixed }))).toBe('valid');
  });

  it('extra may differ', () => {
    expect(verdict(change(eip3009V2(), { 'accepted.extra': { hint: 'x' } }))).toBe('valid');
  });
});

describe.each([
  ['version 1', eip3009V1, 'required'],
  ['version 2', eip3009V2, 'terms'],
] as const)('eip3009 in %s', (version, body, terms) => {
  it.each([
    ['to', other, 'invalid_exact_evm_recipient_mismatch'],
    ['validBefore', at(-1), 'invalid_exact_evm_payload_authorization_valid_before'],
    ['validBefore', at(5), 'invalid_exact_evm_payload_authorization_valid_before'],
    ['validBefore', at(6), 'valid'],
    ['validAfter', at(-1), 'valid'],
    ['validAfter', at(0), 'valid'],
    ['validAfter', at(1), 'invalid_exact_evm_payload_authorization_valid_after'],
    ['from', settler, 'invalid_payload'],
    ['from', payTo, 'invalid_payment_requirements'],
  ])('%s = %s: %s', (field, value, reason) => {
    expect(verdict(change(body(), { [`authorization.${field}`]: value }))).toBe(reason);
  });

  it('pays exactly what was asked for', () => {
    const reason =
      version === 'version 1'
        ? 'invalid_exact_evm_authorization_value'
        : 'invalid_exact_evm_payload_authorization_value_mismatch';
    for (const value of ['999', '1001', '0']) expect(verdict(change(body(), { 'authorization.value': value }))).toBe(reason);
    const amount = version === 'version 1' ? 'required.maxAmountRequired' : 'terms.amount';
    expect(verdict(change(body(), { 'authorization.value': '0', [amount]: '0' }))).toBe('invalid_payment_requirements');
  });

  it.each([
    [{ name: gone, version: gone }, 'valid'],
    [{ name: '', version: null }, 'valid'],
    [{ name: gone }, 'invalid_exact_evm_missing_eip712_domain'],
    [{ version: '' }, 'invalid_exact_evm_missing_eip712_domain'],
    [{ version: 2 }, 'invalid_exact_evm_missing_eip712_domain'],
    [{ name: 'USDC' }, 'invalid_exact_evm_token_name_mismatch'],
    [{ version: '1' }, 'invalid_exact_evm_token_version_mismatch'],
  ])('domain %p: %s', (domain, reason) => {
    const changes = Object.fromEntries(Object.entries(domain).map(([field, value]) => [`${terms}.extra.${field}`, value]));
    expect(verdict(change(body(), changes))).toBe(reason);
  });

  it.each([
    ['asset', other, 'invalid_payment_requirements'],
    ['asset', 'USDC', 'invalid_payment_requirements'],
    ['asset', usdt, 'invalid_exact_evm_eip3009_not_supported'],
    ['payTo', zero, 'invalid_payment_requirements'],
    ['payTo', 'nobody', 'invalid_payment_requirements'],
    ['payTo', settler, 'invalid_payment_requirements'],
  ])('%s = %s: %s', (field, value, reason) => {
    expect(verdict(change(body(), { [`${terms}.${field}`]: value }))).toBe(reason);
  });

  it.each([usdc, usdt, usdt.toLowerCase()])('a recipient that is the contract of a token: %s', (contract) => {
    const changes = { [`${terms}.payTo`]: contract, 'authorization.to': contract };
    expect(verdict(change(body(), changes))).toBe('invalid_payment_requirements');
  });
});

describe('signatures', () => {
  const wrapper = (factory: string) =>
    `${encodeAbiParameters(parseAbiParameters('address, bytes, bytes'), [factory as `0x${string}`, '0x1234', signature as `0x${string}`])}${'6492'.repeat(16)}`;

  it.each([
    ['text', 'invalid_exact_evm_signature', 'invalid_permit2_signature'],
    ['0x123', 'invalid_exact_evm_signature', 'invalid_permit2_signature'],
    [`0x${'00'.repeat(2_049)}`, 'invalid_exact_evm_signature', 'invalid_permit2_signature'],
    [`0x${'00'.repeat(2_048)}`, 'valid', 'valid'],
    [`0x${'6492'.repeat(16)}`, 'invalid_exact_evm_failed_to_parse_signature', 'invalid_permit2_signature'],
    [wrapper(other), 'valid', 'invalid_permit2_signature'],
  ])('%.12s…: %s, %s', (text, eip3009, permit2) => {
    expect(verdict(change(eip3009V2(), { 'payload.signature': text }))).toBe(eip3009);
    expect(verdict(change(permit2Exact(), { 'payload.signature': text }))).toBe(permit2);
  });

  it('a wrapped one of a factory that the house calls says how the wallet is created', () => {
    const walletFactories = new Set([other.toLowerCase()]);
    const wrapped = (factory: string) => change(eip3009V2(), { 'payload.signature': wrapper(factory) });
    const sponsoringBy = (factory: string) => paymentOf(wrapped(factory), 'verify', { walletFactories }).sponsoring;
    expect(sponsoringBy(other)).toEqual({ type: 'deployment', factory: other.toLowerCase(), data: '0x1234' });
    expect(sponsoringBy(settler)).toEqual({ type: 'none' });
    expect(sponsoringBy(zero)).toEqual({ type: 'none' });
    const permit = change(permit2Exact(), { 'payload.signature': wrapper(other) });
    expect(verdict(permit, 'verify', { walletFactories })).toBe('invalid_permit2_signature');
  });

  it('a wrapped one is unwrapped, and marked', () => {
    const payment = paymentOf(change(eip3009V2(), { 'payload.signature': wrapper(other) }));
    expect(payment).toMatchObject({ signature, isWrapped: true });
    // without a factory it is no wrapper
    expect(paymentOf(change(eip3009V2(), { 'payload.signature': wrapper(zero) }))).toMatchObject({ isWrapped: false });
  });
});

describe.each([
  ['exact', permit2Exact, permit2Upto],
  ['upto', permit2Upto, permit2Exact],
])('%s permit2', (_, body, wrong) => {
  const spenderOf = (value: JsonObject) =>
    ((value.paymentPayload as JsonObject).payload as { permit2Authorization: { spender: string } }).permit2Authorization.spender;

  it.each([
    ['permit.spender', other, 'invalid_permit2_spender'],
    ['permit.spender', spenderOf(wrong()), 'invalid_permit2_spender'],
    ['witness.to', other, 'invalid_permit2_recipient_mismatch'],
    ['permit.deadline', at(-1), 'permit2_deadline_expired'],
    ['permit.deadline', at(5), 'permit2_deadline_expired'],
    ['permit.deadline', at(6), 'valid'],
    ['witness.validAfter', at(0), 'valid'],
    ['witness.validAfter', at(1), 'permit2_not_yet_valid'],
    ['permitted.amount', '999', 'permit2_amount_mismatch'],
    ['permitted.amount', '1001', 'permit2_amount_mismatch'],
    ['permitted.amount', '0x3e8', 'valid'],
    ['permitted.token', usdt, 'permit2_token_mismatch'],
    ['permit.nonce', '0xab', 'valid'],
    ['permit.from', zero, 'permit2_invalid_owner'],
    ['permit.from', settler, 'invalid_payload'],
    ['permit.from', payTo, 'invalid_payment_requirements'],
    ['terms.asset', other, 'invalid_payment_requirements'],
    ['terms.payTo', zero, 'invalid_payment_requirements'],
  ])('%s = %s: %s', (field, value, reason) => {
    expect(verdict(change(body(), { [field]: value }))).toBe(reason);
  });

  it('pays more than nothing, in any token of the registry', () => {
    expect(verdict(change(body(), { 'terms.amount': '0', 'permitted.amount': '0' }))).toBe('permit2_invalid_amount');
    expect(verdict(change(body(), { 'terms.asset': usdt, 'permitted.token': usdt }))).toBe('valid');
  });

  it('is not taken for another facilitator', () => {
    const changed = change(body(), { 'witness.facilitator': other });
    expect(verdict(changed)).toBe(body === permit2Upto ? 'upto_facilitator_mismatch' : 'valid');
    expect(verdict(body(), 'verify', { settlers: new Set([other]) })).toBe(
      body === permit2Upto ? 'upto_facilitator_mismatch' : 'valid',
    );
  });
});

describe('a payment', () => {
  it('is the same in both versions, however its fields are written', () => {
    const first = paymentOf(eip3009V1());
    expect(first).toMatchObject({ method: 'eip3009', authorised: 1000n, amount: 1000n, isWrapped: false });
    expect(first.payer.toLowerCase()).toBe(payer);
    expect(first.payTo.toLowerCase()).toBe(payTo);
    expect(paymentOf(eip3009V2())).toEqual(first);
    const hex = { 'authorization.value': '0x3e8', 'authorization.nonce': `0x${'A5'.repeat(32)}` };
    expect(paymentOf(change(eip3009V2(), hex))).toEqual(first);
  });

  const keyOf = (changes: Changes = {}, body = eip3009V2) => {
    const read = readPaymentRequest(change(body(), changes), registry, 'settle');
    return 'request' in read ? toPaymentKey(read.request) : null;
  };

  it('is the same request in any letter case, and another one to another recipient', () => {
    const upper = (text: string) => `0x${text.slice(2).toUpperCase()}`;
    const hash = keyOf()?.requestHash;
    expect(hash).toBeDefined();
    const written = { 'terms.payTo': upper(payTo), 'terms.asset': upper(usdc), 'payload.signature': upper(signature) };
    expect(keyOf(written)?.requestHash).toEqual(hash);
    expect(keyOf({ 'terms.payTo': other })?.requestHash).not.toEqual(hash);
    expect(keyOf({ 'authorization.nonce': gone })).toBeNull();
  });

  it.each([
    [eip3009V2, ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'].map((field) => `authorization.${field}`)],
    [permit2Exact, ['permit.from', 'permit.nonce', 'permit.deadline', 'permit.spender', 'permitted.amount', 'permitted.token']],
    [permit2Exact, ['witness.to', 'witness.validAfter']],
    [permit2Upto, ['witness.to', 'witness.validAfter', 'witness.facilitator']],
  ] as const)('is another request with another field that its payer has signed', (body, fields) => {
    for (const field of fields) {
      const values = /from|to$|spender|token|facilitator/.test(field)
        ? [other]
        : /nonce/.test(field)
          ? [`0x${'5a'.repeat(32)}`]
          : ['77', '0x4D'];
      const [hash, ...same] = values.map((value) => keyOf({ [field]: value }, body)?.requestHash);
      expect({ field, hash }).toEqual({ field, hash: expect.any(Buffer) as Buffer });
      expect({ field, hash }).not.toEqual({ field, hash: keyOf({}, body)?.requestHash });
      for (const written of same) expect({ field, hash: written }).toEqual({ field, hash });
    }
  });

  it('has an identity of what can be used once', () => {
    expect(paymentOf(eip3009V2()).identity).toBe(`${usdc.toLowerCase()}/${payer}/0x${'a5'.repeat(32)}`);
    const permit = paymentOf(change(permit2Exact(), { 'permit.nonce': '0xAB' }));
    expect(permit).toMatchObject({ identity: `${payer}/171`, nonce: '171', method: 'permit2_exact', facilitator: null });
    // one nonce of Permit2 is used by either scheme
    expect(paymentOf(change(permit2Upto(), { 'permit.nonce': '171' })).identity).toBe(permit.identity);
  });

  it('on bsc has no EIP-3009, since the pegged token has none', () => {
    const asset = registry.get('bsc').tokens[0]?.contract as string;
    const bsc = { 'terms.network': 'eip155:56', 'terms.asset': asset };
    expect(verdict(change(eip3009V2(), bsc))).toBe('invalid_exact_evm_eip3009_not_supported');
    expect(verdict(change(permit2Exact(), { ...bsc, 'permitted.token': asset }))).toBe('valid');
  });
});
