import { zeroAddress } from 'viem';
import { exactProxyAddress, uptoProxyAddress } from '../../../src/chains/evm/payments/contracts';
import { getFamily } from '../../../src/chains/families';
import { loadRegistry, tokenBySymbol } from '../../../src/chains/registry';
import type { Hex } from '../../../src/chains/types';
import type { ClaimsOf, OrderSigner, SettlementFacts, SigningClaims } from '../../../src/messages/order';
import { deriveKey } from '../../../src/mpc/secp256k1';
import { settlementIn } from '../../../src/mpc/verify/ordered';
import { verifyIntent } from '../../../src/mpc/verify-intent';
import { houseClientId } from '../../../src/platform/house';
import { buildEvm, digestOf, type EvmPlan } from '../../evm';
import {
  authorizationPlan,
  buildSettlement,
  changeBytes,
  deploymentPlan,
  exactPlan,
  settledAt,
  type SettlementPlan,
  tokenPermit,
  uptoPlan,
  walletSignature,
} from '../../evm-settlements';
import { orderHead } from '../../orders';
import { evmAccount } from './evm-account';

/** What a node makes of orders over settlements, and of orders for keys of the house. */

const registry = loadRegistry('local', ['ethereum', 'base']);
const ethereum = registry.get('ethereum');
const family = getFamily('evm');
const { key, path, from } = evmAccount(9, 0);
const tenant = '0190b5a4-0000-7000-8000-00000000000a';
const stranger = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const [usdc, usdt] = ['USDC', 'USDT'].map((symbol) => tokenBySymbol(ethereum, symbol)?.contract) as [string, string];

const authorization: SettlementPlan = { ...authorizationPlan, from, token: usdc };
const exact: SettlementPlan = { ...exactPlan, from, token: usdc };
const upto: SettlementPlan = { ...uptoPlan, from, token: usdc };
const creating: SettlementPlan = { ...deploymentPlan, from, token: usdc, signature: authorization.signature };
const methods: [string, SettlementPlan][] = [
  ['an authorisation', authorization],
  ['a permit', exact],
  ['a part of a permit', upto],
  ['an authorisation of a wallet to be created', creating],
];

interface Ordered {
  claims: SigningClaims;
  unsigned: Hex;
}

const signer = (unsigned: Hex): OrderSigner => ({
  ...{ key_id: 'house.1', path, protocol: 'ecdsa-secp256k1' },
  digests: [digestOf(unsigned, from)],
});
const common = (unsigned: Hex) => ({
  ...orderHead(),
  ...{ tx_id: 't1', attempt: 1, client_id: houseClientId, request: null, chain: ethereum.caip2, from },
  signers: [signer(unsigned)],
});

/** The order of an honest authoriser: bytes and claims agree. */
function orderFor(plan: SettlementPlan): Ordered & { claims: ClaimsOf<'settlement'> } {
  const unsigned = buildSettlement(plan);
  const { settlement, expiresAt, maxNetworkFee } = family.describe(unsigned);
  if (!settlement || expiresAt === undefined) throw new Error('no settlement');
  const { method, payer, identity, authorised } = settlement;
  const claims = {
    ...common(unsigned),
    kind: 'settlement' as const,
    recipients: [{ address: plan.payTo, token: plan.token, amount: plan.amount.toString() }],
    max_fee: maxNetworkFee.toString(),
    settlement: { client_id: tenant, method, payer, identity, authorised: authorised.toString(), window_end: expiresAt },
  };
  return { claims, unsigned };
}

const native: EvmPlan = {
  ...{ chainId: 1, kind: 'first', nonce: 4, from, to: stranger, tokenContract: null, amount: 5_000n },
  ...{ gasLimit: 21_000n, maxFeePerGas: 50n, maxPriorityFeePerGas: 1n, gasPrice: null },
};
const tokens: EvmPlan = { ...native, tokenContract: usdc, gasLimit: 80_000n };
const cancellation: EvmPlan = { ...native, kind: 'cancellation', to: from, amount: 0n };

/** An order over a payment, cancellations included. */
type PaymentKind = 'transfer' | 'gas' | 'withdrawal' | 'cancellation' | 'replacement';
function paymentOrder(kind: PaymentKind, plan: EvmPlan, changes: object = {}): Ordered {
  const unsigned = buildEvm(plan);
  const { maxNetworkFee } = family.describe(unsigned);
  const recipients = [{ address: plan.to, token: plan.tokenContract, amount: plan.amount.toString() }];
  const claims = { ...common(unsigned), kind, recipients, max_fee: maxNetworkFee.toString(), ...changes };
  return { unsigned, claims: claims };
}

const verify = ({ claims, unsigned }: Ordered, now = settledAt) =>
  verifyIntent(claims, unsigned, { registry, getFamily, keys: new Map([['house.1', key]]), now: () => now * 1000 });

/** The order with other claims over the same bytes. */
const claim = (changes: object, plan = exact): Ordered => {
  const { claims, unsigned } = orderFor(plan);
  return { unsigned, claims: { ...claims, ...changes } };
};
const fact = (changes: Partial<SettlementFacts>, plan = exact): Ordered =>
  claim({ settlement: { ...orderFor(plan).claims.settlement, ...changes } }, plan);
/** The order over other bytes, with their digests. */
const over = (unsigned: Hex, plan = exact): Ordered => ({
  unsigned,
  claims: { ...orderFor(plan).claims, signers: [signer(unsigned)] },
});
const changed = (plan: SettlementPlan, changes: Partial<SettlementPlan>): Ordered =>
  over(buildSettlement({ ...plan, ...changes }), plan);
/** The same with bytes that no family describes: the digests of the order do not matter. */
const raw = (plan: SettlementPlan, change: Parameters<typeof changeBytes>[1]): Ordered => {
  const { claims, unsigned } = orderFor(plan);
  return { claims, unsigned: changeBytes(unsigned, change) };
};
const withoutFacts = ({ claims, unsigned }: Ordered): Ordered => ({
  unsigned,
  claims: { ...claims, settlement: undefined } as SigningClaims,
});

/** What a settlement is called among what its bytes use up. */
const settles = ({ claims }: Ordered, { amount }: SettlementPlan): string =>
  `settles ethereum/${settlementIn(claims)?.identity}/${amount}`;

function refusalOf(ordered: Ordered, now?: number): unknown {
  try {
    verify(ordered, now);
    return undefined;
  } catch (error) {
    return error;
  }
}
const mismatch = (field: string) => ({ code: 'intent_mismatch', message: expect.stringMatching(new RegExp(`^${field}: `)) });

describe('signs', () => {
  const signed: [string, SettlementPlan][] = [
    ...methods,
    ['an authorisation of a wallet', { ...authorization, signature: walletSignature }],
    ['a permit with an allowance', { ...exact, permit: tokenPermit }],
    ['a part of a permit with an allowance', { ...upto, permit: tokenPermit }],
    ['a permit for a token without authorisations', { ...exact, token: usdt }],
  ];

  test.each(signed)('%s, and counts its fee as gas', (_what, plan) => {
    const ordered = orderFor(plan);
    const fee = plan.gasLimit * (plan.maxFeePerGas as bigint);
    const digest = Buffer.from(digestOf(ordered.unsigned, from).slice(2), 'hex');
    expect(verify(ordered)).toEqual({
      payloads: [{ digest, keyId: 'house.1', path, publicKey: deriveKey(key, path) }],
      messageKey: `${from.toLowerCase()}:0x${digest.toString('hex')}`,
      resources: [`ethereum/${from.toLowerCase()}/4`, settles(ordered, plan)],
      spends: {
        ...{ chain: 'ethereum', token: 'gas', amount: fee, fee, recipients: [plan.payTo.toLowerCase()] },
        ...(plan.deployment && { factory: plan.deployment.factory }),
      },
    });
  });

  test.each(methods)('the replacement of %s', (_what, plan) => {
    const dearer = orderFor({ ...plan, maxFeePerGas: 60n });
    const claims = { ...dearer.claims, kind: 'replacement', attempt: 2 } as SigningClaims;
    expect(verify({ ...dearer, claims }).spends).toMatchObject({
      token: 'gas',
      amount: plan.gasLimit * 60n,
      ...(plan.deployment && { factory: plan.deployment.factory }),
    });
  });

  describe('by what the journal compares a replacement with the first attempt:', () => {
    const [nonce, settled] = verify(orderFor(upto)).resources;
    const replaced = (plan: SettlementPlan) => verify({ ...orderFor(plan) }).resources;

    test('the same settlement at a higher fee is the same', () => {
      expect(replaced({ ...upto, maxFeePerGas: 60n, gasLimit: 160_000n })).toEqual([nonce, settled]);
    });

    test.each<[string, SettlementPlan]>([
      ['another authorisation', { ...upto, nonce: '7' }],
      ['more of the same one', { ...upto, amount: 401n }],
      ['another method', { ...authorization, amount: 1_000n }],
    ])('%s is another one', (_what, plan) => {
      expect(replaced(plan)).toEqual([nonce, expect.not.stringMatching(`^${settled}$`)]);
    });

    test('coins of the house, and a cancellation, settle nothing', () => {
      for (const other of [paymentOrder('replacement', native), paymentOrder('cancellation', cancellation)])
        expect(verify(other).resources).toEqual([nonce]);
    });
  });

  test('in the last second but one, with addresses in any letter case', () => {
    const { claims, unsigned } = orderFor(exact);
    const settlement = { ...claims.settlement, payer: claims.settlement.payer.toLowerCase() };
    expect(() => verify({ unsigned, claims: { ...claims, settlement } }, settledAt + 59)).not.toThrow();
  });

  test('coins of the house up to the highest fee of the chain, and counts them with their own fee', () => {
    const amount = ethereum.maxNetworkFee;
    const fee = 21_000n * 50n;
    const spends = { chain: 'ethereum', token: 'gas', amount: amount + fee, fee, recipients: [stranger.toLowerCase()] };
    expect(verify(paymentOrder('gas', { ...native, amount })).spends).toEqual(spends);
    expect(verify(paymentOrder('replacement', { ...native, amount })).spends).toEqual(spends);
  });

  test('coins that leave the house, whatever the amount, which count as native coins and say so', () => {
    const amount = 1_000n * ethereum.maxNetworkFee;
    const fee = 21_000n * 50n;
    const recipients = [stranger.toLowerCase()];
    const spends = { chain: 'ethereum', token: null, amount, fee, recipients, purpose: 'withdrawal' };
    expect(verify(paymentOrder('withdrawal', { ...native, amount })).spends).toEqual(spends);
    expect(verify(paymentOrder('replacement', { ...native, amount }, { purpose: 'withdrawal' })).spends).toEqual(spends);
  });

  test.each([
    ['the house, whose fees are counted', houseClientId, { token: 'gas', amount: 21_000n * 50n }],
    ['a client', tenant, { token: null, amount: 0n }],
  ])('a cancellation by %s', (_, client, counted) => {
    const { spends } = verify(paymentOrder('cancellation', cancellation, { client_id: client }));
    expect(spends).toMatchObject({ ...counted, recipients: [] });
  });

  test("a client's payment and its replacement", () => {
    for (const kind of ['transfer', 'replacement'] as const)
      expect(verify(paymentOrder(kind, tokens, { client_id: tenant })).spends).toMatchObject({ token: usdc, amount: 5_000n });
  });
});

describe.each(methods)('of %s, refuses bytes with', (what, plan) => {
  const part = what === 'a part of a permit';
  const ofAmount: Partial<SettlementPlan> = part ? { authorised: '1001' } : { amount: 1_001n, authorised: '1001' };

  test.each<[string, string, Partial<SettlementPlan>]>([
    ['another payer', 'settlement.payer', { payer: stranger }],
    ['another recipient', 'recipients', { payTo: stranger }],
    ['another token', 'recipients', { token: usdt }],
    ['another amount authorised', part ? 'settlement.authorised' : 'recipients', ofAmount],
    ['another nonce', 'settlement.identity', { nonce: plan.method === 'eip3009' ? `0x${'a6'.repeat(32)}` : '7' }],
    ['a later end', 'settlement.window_end', { validBefore: String(settledAt + 120) }],
    ['an earlier end', 'settlement.window_end', { validBefore: String(settledAt + 30) }],
    ['a higher fee', 'max_fee', { maxFeePerGas: 51n }],
    ['a higher gas limit', 'max_fee', { gasLimit: 150_001n }],
    ['another chain', 'chain', { chainId: 8453 }],
  ])('%s', (_field, field, changes) => {
    expect(refusalOf(changed(plan, changes))).toMatchObject(mismatch(field));
  });

  test.each<[string, Partial<SettlementPlan>]>([
    ['another begin', { validAfter: String(settledAt - 599) }],
    ['another signature', { signature: `0x${'2b'.repeat(64)}1c` }],
    ['the signature of a wallet', { signature: walletSignature }],
    ["another nonce of the sender's", { accountNonce: 5 }],
    ['a higher tip', { maxPriorityFeePerGas: 2n }],
  ])('%s, which are not those whose digest was ordered', (_field, changes) => {
    const { claims } = orderFor(plan);
    expect(refusalOf({ claims, unsigned: buildSettlement({ ...plan, ...changes }) })).toMatchObject(mismatch('signers'));
  });

  test.each<[string, Parameters<typeof changeBytes>[1]]>([
    ['value', () => ({ value: 1n })],
    ['trailing calldata', ({ data }) => ({ data: `${data as Hex}00` })],
    ['dirty upper bytes', ({ data }) => ({ data: `${(data as Hex).slice(0, 10)}01${(data as Hex).slice(12)}` as Hex })],
    ['another selector', ({ data }) => ({ data: `0x12345678${(data as Hex).slice(10)}` })],
    ['gas above the cap of any chain', () => ({ gas: 700_001n })],
    ['another contract', () => ({ to: plan.method === 'permit2_exact' ? uptoProxyAddress : exactProxyAddress })],
    ['a contract that nobody knows', () => ({ to: stranger })],
  ])('%s', (problem, change) => {
    // an authorisation names its token by the contract that is called
    const isOther = problem === 'a contract that nobody knows' && plan.method === 'eip3009' && !plan.deployment;
    expect(refusalOf(raw(plan, change))).toMatchObject(mismatch(isOther ? 'recipients' : 'unsigned'));
  });
});

describe('refuses, beside what the bytes say,', () => {
  const [own] = orderFor(exact).claims.signers as [OrderSigner];
  const [recipient] = orderFor(exact).claims.recipients;
  const dear = ethereum.maxNetworkFee / exact.gasLimit + 1n;

  test.each<[string, string, Ordered]>([
    ['another method', 'settlement.method', fact({ method: 'permit2_upto' })],
    ['another payer', 'settlement.payer', fact({ payer: stranger })],
    ['a payer that is no address', 'settlement.payer', fact({ payer: 'nobody' })],
    ['another authorisation', 'settlement.identity', fact({ identity: `${exact.payer}/7` })],
    ['a higher amount authorised', 'settlement.authorised', fact({ authorised: '1001' })],
    ['a lower amount authorised', 'settlement.authorised', fact({ authorised: '400' }, upto)],
    ['a later end', 'settlement.window_end', fact({ window_end: settledAt + 61 })],
    ['an earlier end', 'settlement.window_end', fact({ window_end: settledAt + 59 })],
    ['the house as the client who asks', 'settlement.client_id', fact({ client_id: houseClientId })],
    ['nobody who asks', 'settlement', withoutFacts(claim({}))],
    ['a client as the signer', 'client_id', claim({ client_id: tenant })],
    ['another recipient', 'recipients', claim({ recipients: [{ ...recipient, address: stranger }] })],
    ['another amount', 'recipients', claim({ recipients: [{ ...recipient, amount: '999' }] })],
    ['another token', 'recipients', claim({ recipients: [{ ...recipient, token: usdt }] })],
    ['the native coin', 'recipients', claim({ recipients: [{ ...recipient, token: null }] })],
    ['a second recipient', 'recipients', claim({ recipients: [recipient, recipient] })],
    ['a lower highest fee', 'max_fee', claim({ max_fee: '7499999' })],
    ['another chain', 'chain', claim({ chain: 'eip155:8453' })],
    ['another sender', 'from', claim({ from: stranger })],
    ['the path of another account', 'from', claim({ signers: [{ ...own, path: family.accountPath(1) }] })],
    ['another key', 'signers', claim({ signers: [{ ...own, key_id: 'house.2' }] })],
    ['other digests', 'signers', claim({ signers: [{ ...own, digests: [`0x${'11'.repeat(32)}`] }] })],
    ['another facilitator, with the sender of the order', 'from', changed(upto, { from: stranger })],
  ])('%s in the order', (_what, field, ordered) => {
    expect(refusalOf(ordered)).toMatchObject(mismatch(field));
  });

  test.each<[string, string, Ordered]>([
    ['a token that is not registered', 'recipients', orderFor({ ...exact, token: stranger })],
    ['an authorisation at a token without them', 'recipients', orderFor({ ...authorization, token: usdt })],
    ['an authorisation at a contract that is no token', 'recipients', orderFor({ ...authorization, token: stranger })],
    ['the settling account as payer', 'settlement.payer', orderFor({ ...exact, payer: from })],
    ['the settling account as recipient', 'recipients', orderFor({ ...exact, payTo: from })],
    ['a fee above the cap of the chain', 'max_fee', orderFor({ ...exact, maxFeePerGas: dear })],
  ])('%s, bytes and claims alike', (_what, field, ordered) => {
    expect(refusalOf(ordered)).toMatchObject(mismatch(field));
  });

  test.each([
    ['an authorisation', authorization, settledAt + 59],
    ['a permit', exact, settledAt + 60],
    ['a permit, long after', exact, settledAt + 86_400],
  ])('%s whose last second has begun', (_what, plan, now) => {
    expect(refusalOf(orderFor(plan), now)).toMatchObject(mismatch('settlement.window_end'));
  });
});

describe('no kind of order is another one:', () => {
  const asKind = (kind: SigningClaims['kind'], client: string): Ordered => claim({ kind, client_id: client });
  const replacing = { kind: 'replacement', attempt: 2 };
  const { settlement } = orderFor(exact).claims;

  test.each<[string, string, Ordered]>([
    ["a client's transfer over a settlement", 'kind', asKind('transfer', tenant)],
    ["the house's transfer over a settlement", 'client_id', asKind('transfer', houseClientId)],
    ["the house's transfer of coins", 'client_id', paymentOrder('transfer', native)],
    ["the house's transfer of tokens", 'client_id', paymentOrder('transfer', tokens)],
    ['a settlement over a payment of coins', 'kind', paymentOrder('gas', native, { kind: 'settlement', settlement })],
    ['a settlement over a payment of tokens', 'kind', paymentOrder('gas', tokens, { kind: 'settlement', settlement })],
    ['gas over a settlement', 'kind', asKind('gas', houseClientId)],
    ["gas of a client's", 'client_id', paymentOrder('gas', native, { client_id: tenant })],
    ['gas in tokens', 'recipients', paymentOrder('gas', tokens)],
    ['gas above the highest fee', 'recipients', paymentOrder('gas', { ...native, amount: ethereum.maxNetworkFee + 1n })],
    ['a withdrawal over a settlement', 'kind', asKind('withdrawal', houseClientId)],
    ["a withdrawal of a client's", 'client_id', paymentOrder('withdrawal', native, { client_id: tenant })],
    ['a withdrawal of tokens', 'recipients', paymentOrder('withdrawal', tokens)],
    ['a withdrawal to the account itself', 'recipients', paymentOrder('withdrawal', { ...native, to: from })],
    [
      "a client's replacement of a withdrawal",
      'client_id',
      paymentOrder('replacement', native, { client_id: tenant, purpose: 'withdrawal' }),
    ],
    [
      'a replacement of coins that leave the house, as if they were gas',
      'recipients',
      paymentOrder('replacement', { ...native, amount: ethereum.maxNetworkFee + 1n }),
    ],
    ['a cancellation over a settlement', 'kind', asKind('cancellation', houseClientId)],
    ['a replacement that does not say what it settles', 'kind', withoutFacts(claim(replacing))],
    ["a client's replacement over a settlement", 'kind', withoutFacts(claim({ ...replacing, client_id: tenant }))],
    ["a client's replacement that settles", 'client_id', claim({ ...replacing, client_id: tenant })],
    ['a replacement over a payment that says it settles', 'kind', paymentOrder('replacement', native, { settlement })],
    ["the house's replacement that pays tokens", 'recipients', paymentOrder('replacement', tokens)],
    ['a reissue over a settlement', 'kind', withoutFacts(asKind('reissue', houseClientId))],
    ["a client's reissue over a settlement", 'kind', withoutFacts(asKind('reissue', tenant))],
    ['a consolidation', 'kind', paymentOrder('gas', native, { kind: 'consolidation' })],
    ['a sweep', 'kind', paymentOrder('gas', native, { kind: 'sweep', client_id: tenant })],
  ])('%s', (_what, field, ordered) => {
    expect(refusalOf(ordered)).toMatchObject(mismatch(field));
  });

  test('bytes of typed data are no transaction', () => {
    const unsigned: Hex = `0x1901${'00'.repeat(64)}`;
    for (const kind of ['transfer', 'settlement', 'gas'] as const)
      expect(refusalOf({ ...asKind(kind, houseClientId), unsigned })).toMatchObject(mismatch('unsigned'));
  });

  test('the zero address settles for nobody', () => {
    expect(refusalOf(claim({ from: zeroAddress }))).toMatchObject(mismatch('from'));
  });
});
