import { HDKey } from '@scure/bip32';
import { networks as bitcoinJsNetworks, Psbt } from 'bitcoinjs-lib';
import { regtest } from '../../../src/chains/bitcoin/network';
import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';
import type { Hex } from '../../../src/chains/types';
import type { SigningClaims } from '../../../src/messages/order';
import { deriveKey } from '../../../src/mpc/secp256k1';
import { verifyIntent } from '../../../src/mpc/verify-intent';
import { bitcoinCodec, type BitcoinPlan, buildBitcoin, coin } from '../../bitcoin';
import { orderHead } from '../../orders';

/** What a node signs on Bitcoin: exactly what is ordered, with change to the account itself and to nobody else. */

const registry = loadRegistry('local', ['ethereum', 'bitcoin']);
const root = HDKey.fromMasterSeed(Buffer.alloc(32, 7));
const key = { publicKey: root.publicKey as Uint8Array, chainCode: root.chainCode as Uint8Array };
const path = bitcoinCodec.accountPath(5);
const { address: from, key: sender } = bitcoinCodec.address(deriveKey(key, path));
const to = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
const stranger = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn';
const coins = [coin(1, 50_000n), coin(2, 30_000n)];
const payment: BitcoinPlan = { kind: 'first', from, payments: [{ to, amount: 60_000n }], coins, fee: 1_000n };
const cancellation: BitcoinPlan = { ...payment, kind: 'cancellation', payments: [{ to: from, amount: 0n }] };

/** The order of an honest authoriser for a plan: bytes and claims agree. */
function orderFor(plan: BitcoinPlan): { claims: SigningClaims; unsigned: Hex } {
  const unsigned = buildBitcoin(plan);
  const digests = bitcoinCodec.signingPayloads(unsigned, from).map(({ digest }) => digest);
  const claims: SigningClaims = {
    ...orderHead(),
    ...{ tx_id: 't1', attempt: 1, client_id: 'c1', request: null },
    kind: plan.kind === 'cancellation' ? 'cancellation' : 'transfer',
    signers: [{ key_id: 'w.1', path, protocol: 'ecdsa-secp256k1', digests }],
    chain: regtest.caip2,
    from,
    recipients: plan.payments.map(({ to: address, amount }) => ({ address, token: null, amount: amount.toString() })),
    max_fee: plan.fee.toString(),
  };
  return { claims, unsigned };
}
const verify = ({ claims, unsigned }: { claims: SigningClaims; unsigned: Hex }) =>
  verifyIntent(claims, unsigned, { registry, getFamily, keys: new Map([['w.1', key]]) });
const honest = orderFor(payment);

test('a payment: a digest for each input, which are the resources, and no change among what is spent', () => {
  const { payloads, resources, spends } = verify(honest);
  expect(payloads.map(({ digest }) => `0x${digest.toString('hex')}`)).toEqual(honest.claims.signers[0]?.digests);
  expect(payloads.map(({ publicKey }) => publicKey)).toEqual([deriveKey(key, path), deriveKey(key, path)]);
  expect(resources).toEqual(coins.map(({ resource }) => `bitcoin/${sender}/${resource}`));
  expect(spends).toMatchObject({ chain: 'bitcoin', token: null, amount: 60_000n, fee: 1_000n });
});

test('false amounts of the inputs, which hide a fee: some digests stay, under the same message key', () => {
  const of = (one: bigint, other: bigint, fee: bigint) =>
    verify(orderFor({ ...payment, coins: [coin(1, one), coin(2, other)], fee }));
  const dear = of(50_000n, 50_000n, 21_000n);
  const [less, more] = [of(31_000n, 50_000n, 2_000n), of(50_000n, 31_000n, 2_000n)];
  const digests = ({ payloads }: typeof dear) => payloads.map(({ digest }) => digest.toString('hex'));
  expect([digests(more)[0], digests(less)[1]]).toEqual(digests(dear));
  expect(new Set([dear, less, more].map(({ messageKey }) => messageKey)).size).toBe(1);
});

test('a cancellation: everything goes back to the account', () => {
  expect(verify(orderFor(cancellation)).spends).toMatchObject({ amount: 0n, fee: 1_000n, recipients: [] });
});

test('a recipient in the spelling of another network is the same recipient', () => {
  const recipients = [{ address: 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', token: null, amount: '60000' }];
  expect(() => verify({ ...honest, claims: { ...honest.claims, recipients } })).not.toThrow();
});

describe('a consolidation', () => {
  const plan: BitcoinPlan = { ...payment, payments: [{ to: from, amount: 0n }], fee: 2_000n };
  const order = (changes: Partial<BitcoinPlan> = {}, claims: object = {}) => {
    const built = orderFor({ ...plan, ...changes });
    return { ...built, claims: { ...built.claims, kind: 'consolidation', ...claims } as SigningClaims };
  };
  const counted = { chain: 'bitcoin', token: 'consolidation', amount: 2_000n, fee: 2_000n, recipients: [] };

  test('spends several outputs of the account to the account: its fee counts against a limit of its own', () => {
    const { spends, resources, payloads } = verify(order());
    expect(spends).toEqual(counted);
    expect(resources).toEqual(coins.map(({ resource }) => `bitcoin/${sender}/${resource}`));
    expect(payloads).toHaveLength(2);
  });

  test('replaced at a higher fee is one again', () => {
    expect(verify(order({ fee: 3_000n }, { kind: 'replacement', attempt: 2 })).spends).toEqual({
      ...counted,
      ...{ amount: 3_000n, fee: 3_000n },
    });
  });

  const paying = (to: string, amount: bigint) => ({ payments: [{ to, amount }] });
  const claimed = { recipients: [{ address: from, token: null, amount: '0' }] };
  const psbtWith = (address: string, value: bigint): Hex => {
    const psbt = Psbt.fromHex(buildBitcoin(plan).slice(2), { network: bitcoinJsNetworks.regtest });
    psbt.addOutput({ script: Uint8Array.from(Buffer.from(bitcoinCodec.parseAddress(address)?.key ?? '', 'hex')), value });
    return `0x${psbt.toHex()}`;
  };
  test.each<[string, { claims: SigningClaims; unsigned: Hex }, RegExp]>([
    ['that pays somebody else, as its order says', order(paying(to, 60_000n)), /recipients: a consolidation moves nothing/],
    ['that pays somebody else, and its order says it stays', order(paying(to, 60_000n), claimed), /recipients/],
    [
      'that pays somebody nothing',
      { ...order(), claims: { ...order().claims, recipients: [{ address: to, token: null, amount: '0' }] } },
      /another recipient/,
    ],
    [
      'with an output to somebody else behind that of the account',
      { ...order(), unsigned: psbtWith(to, 300n) },
      /unsigned|recipients/,
    ],
    ['with a second output to the account', { ...order(), unsigned: psbtWith(from, 300n) }, /unsigned|recipients/],
    ['of a single output', order({ coins: [coin(1, 50_000n)] }), /a single output/],
    ['above the fee of its order', order({}, { max_fee: '1999' }), /max_fee/],
    [
      'with another amount of an input, which would hide a fee',
      { ...order(), unsigned: order({ coins: [coin(1, 51_000n), coin(2, 30_000n)], fee: 3_000n }).unsigned },
      /max_fee/,
    ],
    ['ordered as a transfer', order({}, { kind: 'transfer' }), /the bytes move nothing/],
  ])('is refused: one %s', (_name, it, problem) => {
    expect(() => verify(it)).toThrow(problem);
  });

  test('is refused: one above the cap of the chain', () => {
    const fee = registry.get('bitcoin').maxNetworkFee + 1n;
    expect(() => verify(order({ coins: [coin(1, 10n ** 8n), coin(2, 10n ** 8n)], fee }))).toThrow(/what this node allows/);
  });

  test('a replacement that pays is a payment, and counts as one', () => {
    const { spends } = verify(order(paying(to, 60_000n), { kind: 'replacement', attempt: 2 }));
    expect(spends).toMatchObject({ token: null, amount: 60_000n });
  });
});

describe('refused', () => {
  const ordered = (plan: Partial<BitcoinPlan>) => ({ claims: honest.claims, unsigned: buildBitcoin({ ...payment, ...plan }) });
  const orderSaying = (changes: object) => ({ ...honest, claims: { ...honest.claims, ...changes } as SigningClaims });

  test.each([
    [
      'change to somebody else',
      ordered({
        payments: [
          { to, amount: 60_000n },
          { to: stranger, amount: 19_000n },
        ],
      }),
      /recipients/,
    ],
    ['another recipient', ordered({ payments: [{ to: stranger, amount: 60_000n }] }), /another recipient/],
    ['another amount', ordered({ payments: [{ to, amount: 60_001n }] }), /another amount/],
    ['a higher fee', ordered({ fee: 1_001n }), /max_fee/],
    ['other inputs', ordered({ coins: [coin(1, 50_000n), coin(3, 30_000n)] }), /digests/],
    ['an input with another amount', ordered({ coins: [coin(1, 50_001n), coin(2, 29_999n)] }), /digests/],
    ['nothing paid at all', ordered({ payments: [{ to: from, amount: 0n }] }), /recipients/],
    ['a payment as cancellation', orderSaying({ kind: 'cancellation' }), /recipients/],
    ['a token', orderSaying({ recipients: [{ address: to, token: stranger, amount: '60000' }] }), /another token/],
    ['another chain', orderSaying({ chain: 'eip155:1' }), /from|chain/],
    ['another path of the key', orderSaying({ signers: [{ ...honest.claims.signers[0], path: 'm/60/5' }] }), /path/],
  ])('%s', (_name, order, problem) => {
    expect(() => verify(order)).toThrow(problem);
  });

  test('a fee above the cap of the chain, whatever the order says', () => {
    const fee = registry.get('bitcoin').maxNetworkFee + 1n;
    const order = orderFor({ ...payment, coins: [coin(1, 10n ** 8n)], fee });
    expect(() => verify(order)).toThrow(/what this node allows/);
  });

  test('inputs of which one is of somebody else', () => {
    const psbt = Psbt.fromHex(honest.unsigned.slice(2), { network: bitcoinJsNetworks.regtest });
    const script = Uint8Array.from(Buffer.from(bitcoinCodec.parseAddress(to)?.key ?? '', 'hex'));
    psbt.addInput({ hash: 'ab'.repeat(32), index: 0, sequence: 0xfffffffd, witnessUtxo: { script, value: 1_000n } });
    expect(() => verify({ ...honest, unsigned: `0x${psbt.toHex()}` })).toThrow(/several senders/);
  });
});
