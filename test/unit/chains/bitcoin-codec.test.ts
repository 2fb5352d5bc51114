import { createHash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { initEccLib, networks, payments as scripts, Psbt, Transaction } from 'bitcoinjs-lib';
import fc from 'fast-check';
import { decode, encode, maxInputs, sum } from '../../../src/chains/bitcoin/codec/transaction';
import { toPrepared } from '../../../src/chains/bitcoin/details';
import { regtest } from '../../../src/chains/bitcoin/network';
import type { Hex, SettlementAction } from '../../../src/chains/types';
import { maxPayloads } from '../../../src/mpc/order-schema';
import { bitcoinCodec as codec, type BitcoinPlan, buildBitcoin, coin, signDigests, toPlan } from '../../bitcoin';

const privateKey = Uint8Array.from(Buffer.from('0123456789abcdef'.repeat(4), 'hex'));
const publicKey = secp256k1.getPublicKey(privateKey, true);
const { address: from, key: sender } = codec.address(publicKey);
const other = codec.address(secp256k1.getPublicKey(Uint8Array.from(Buffer.alloc(32, 7)), true)).address;
const hash = Uint8Array.from(Buffer.alloc(20, 9));

/** bitcoinjs-lib brings no curve; for Taproot addresses it wants one. */
const lift = (x: Uint8Array) => secp256k1.Point.fromHex(`02${Buffer.from(x).toString('hex')}`);
initEccLib({
  isXOnlyPoint: (x) => {
    try {
      return Boolean(lift(x));
    } catch {
      return false;
    }
  },
  xOnlyPointAddTweak: (x, tweak) => {
    const scalar = BigInt(`0x${Buffer.from(tweak).toString('hex')}`);
    const { ZERO, BASE } = secp256k1.Point;
    const point = lift(x).add(scalar === 0n ? ZERO : BASE.multiply(scalar));
    if (point.equals(ZERO)) return null;
    return { parity: point.y % 2n === 0n ? 0 : 1, xOnlyPubkey: point.toBytes(true).slice(1) };
  },
});

const ofNetwork = { network: networks.regtest };
const recipients = {
  P2PKH: scripts.p2pkh({ hash, ...ofNetwork }),
  P2SH: scripts.p2sh({ hash, ...ofNetwork }),
  P2WPKH: scripts.p2wpkh({ hash, ...ofNetwork }),
  P2WSH: scripts.p2wsh({ hash: Uint8Array.from(Buffer.alloc(32, 3)), ...ofNetwork }),
  P2TR: scripts.p2tr({ pubkey: publicKey.slice(1), ...ofNetwork }),
};
const kinds = Object.entries(recipients).map(([kind, { address }]) => [kind, address as string] as const);

const plan = (changes: Partial<BitcoinPlan> = {}): BitcoinPlan => ({
  kind: 'first',
  from,
  payments: [{ to: other, amount: 40_000n }],
  coins: [coin(1, 50_000n), coin(2, 30_000n, 3)],
  fee: 500n,
  ...changes,
});

/** The same transaction by an independent library. */
function toBitcoinJs({ payments, coins, fee }: BitcoinPlan): Psbt {
  const psbt = new Psbt(ofNetwork);
  const script = Uint8Array.from(Buffer.from(sender, 'hex'));
  psbt.setVersion(2);
  for (const { resource, amount } of coins) {
    const [txid = '', vout] = resource.split(':');
    psbt.addInput({ hash: txid, index: Number(vout), sequence: 0xfffffffd, witnessUtxo: { script, value: amount } });
  }
  const paid = payments.filter(({ to }) => to !== from);
  for (const { to, amount } of paid) psbt.addOutput({ address: to, value: amount });
  const change = sum(coins) - sum(paid) - fee;
  if (change > 0n) psbt.addOutput({ script, value: change });
  return psbt;
}

const cases: [string, BitcoinPlan][] = [
  ...kinds.map(([kind, to]): [string, BitcoinPlan] => [`to ${kind}`, plan({ payments: [{ to, amount: 40_000n }] })]),
  ['without change', plan({ payments: [{ to: other, amount: 79_500n }] })],
  ['to several', plan({ payments: kinds.map(([, to]) => ({ to, amount: 10_000n })) })],
  ['with one input', plan({ coins: [coin(5, 90_000n, 7)] })],
  ['with 64 inputs', plan({ coins: Array.from({ length: 64 }, (_, seed) => coin(seed, 1_000n)), fee: 9_999n })],
  ['a cancellation', plan({ kind: 'cancellation', payments: [{ to: from, amount: 0n }] })],
];

/** Ids, and SHA-256 of the signed bytes (RFC 6979: the signatures are always the same), as bitcoinjs-lib 7.0.1 made them. */
const golden: Record<string, [id: string, signed: string]> = {
  'to P2PKH': [
    'a7a40ff772594161fbaba97615be598387d7c644c060c6f32afc8aaf0872cd1e',
    'a470c03e53ebd9a32dfbe26f3430a228db56e827003de570b839d66e515aaf7b',
  ],
  'to P2SH': [
    '35373d0892982ada4b6ceb0ffbe6b68ab0797daf902bd7ec92b81073ecf05085',
    '5729636396151938709c23db0d271e3433f3e0681793a29df565dbf0666e6d13',
  ],
  'to P2WPKH': [
    '1a33675187d1deb949512a18f31a2b9d877f516d41e9ca593c1a45667467c22d',
    'feb2e3a372b9465e0c4b303857ef825cecfb917b58e112584df65c7190e6253b',
  ],
  'to P2WSH': [
    '6b57cd6687133fb615c8633f58f4d97b4ad56bff3d775bb68ab59c810eff91d3',
    'fdfcc68e5c01272bff398e184bba09f82eee4b023b5d433a48da2950a5c960bc',
  ],
  'to P2TR': [
    '9c2f469a388b97695c619fe78066e4efc965728436dfb3f1df6f1bb9ca756da9',
    '816d3a2f602413074fb772a15813efb6ef309ae5a0766e03d2d7934221c90ba1',
  ],
  'without change': [
    'd28d5087c8a52d6ee000700c17c105d7a721cce8c2f4e506db61e4674d6ea1f4',
    '8319ffeb50b0bf058ed0d41cac449136d0fedd7aa9f29d268908107186f75fde',
  ],
  'to several': [
    '0860a55b0fa2a5ddac5d6d1fe678b6075f123deb5a403eb5c1c354fd51074018',
    '607966eceb5d16e7894bdd51d36f4346e53ef3e314171b1abd788aa7a274d542',
  ],
  'with one input': [
    'e829212f8b8c47930d80286d1633128ad0a631b9199fbe3b89aa3f6ea562b7e6',
    'd361eee05d930c706e18e69317e2648bee8571bdea5f94a24efa2f9be595e7ce',
  ],
  'with 64 inputs': [
    'c91d7ea943460fa44f59afac157bddc62ffca92a35dab2ec58329b3eb4c719f0',
    'd6ecc74d98472e7fd0b8531578244bbe48f8ea674d861b4726448b6fee84c148',
  ],
  'a cancellation': [
    '0b8f1c44b57964137539718ee292a9484f3f24be741c769765156b59a14007ea',
    '0bb384903ffba02601549beb7d1f1f0743a282b56861088d22f9b768f1e18f6e',
  ],
};

describe.each(cases)('%s', (name, given) => {
  const unsigned = buildBitcoin(given);
  const digests = codec.signingPayloads(unsigned, from).map(({ digest }) => digest);

  it('has the unsigned bytes and the digests of bitcoinjs-lib', () => {
    const psbt = toBitcoinJs(given);
    expect(unsigned).toBe(`0x${psbt.toHex()}`);
    const transaction = Transaction.fromBuffer(psbt.data.getTransaction());
    const code = scripts.p2pkh({ pubkey: publicKey }).output as Uint8Array;
    const expected = given.coins.map(({ amount }, index) =>
      Buffer.from(transaction.hashForWitnessV0(index, code, amount, Transaction.SIGHASH_ALL)).toString('hex'),
    );
    expect(digests).toEqual(expected.map((digest) => `0x${digest}`));
  });

  it('has the signed bytes and the id of bitcoinjs-lib, which verifies the signatures', () => {
    const psbt = toBitcoinJs(given);
    psbt.signAllInputs({
      publicKey,
      sign: (digest: Uint8Array) => secp256k1.sign(digest, privateKey, { prehash: false }),
    });
    const verify = (key: Uint8Array, message: Uint8Array, signature: Uint8Array) =>
      secp256k1.verify(signature, message, key, { prehash: false });
    expect(psbt.validateSignaturesOfAllInputs(verify)).toBe(true);
    psbt.finalizeAllInputs();
    // 9,999 satoshis for 64 inputs are no mistake
    const expected = psbt.extractTransaction(true);
    const signed = codec.assemble(unsigned, signDigests(digests, privateKey), from);
    expect(signed).toEqual({ id: expected.getId(), bytes: `0x${expected.toHex()}` });
    expect(codec.messageKey(unsigned, from)).toBe(signed.id);
    expect([expected.getId(), createHash('sha256').update(expected.toHex()).digest('hex')]).toEqual(golden[name]);
  });

  it('is described as it was planned, and recovered from its bytes', () => {
    const transaction = Transaction.fromBuffer(toBitcoinJs(given).data.getTransaction());
    const returned = given.coins.reduce((rest, { amount }) => rest + amount, -given.fee);
    const change = given.payments.reduce((rest, { amount }) => rest - amount, returned);
    // what the signatures of P2WPKH inputs add at most: a quarter of their items with lengths, and of the marker
    const size = transaction.byteLength() + Math.ceil((2 + 108 * given.coins.length) / 4);
    expect(codec.describe(unsigned)).toEqual({
      chain: regtest.caip2,
      action: 'payment',
      outputs: given.payments.map(({ to: recipient, amount }) => ({ recipient, tokenContract: null, amount })),
      maxNetworkFee: given.fee,
      resources: given.coins.map(({ resource }) => resource),
      ...(change > 0n && { change: { resource: `${transaction.getId()}:${transaction.outs.length - 1}`, amount: change } }),
      size,
    });
    const prepared = codec.recover(unsigned, given.fee);
    expect(codec.build({ ...toPlan(given), prepared })).toBe(unsigned);
  });
});

describe('build refuses', () => {
  const refused: [string, Partial<BitcoinPlan>, RegExp][] = [
    ['no inputs', { coins: [] }, /the inputs do not suffice/],
    ['more inputs than an order has digests', { coins: Array.from({ length: 65 }, (_, seed) => coin(seed, 2_000n)) }, /1 to 64/],
    ['an input twice', { coins: [coin(1, 50_000n), coin(1, 50_000n)] }, /spent twice/],
    ['inputs that do not suffice', { coins: [coin(1, 40_400n)] }, /do not suffice/],
    ['less than 1 satoshi per virtual byte', { fee: 208n }, /below 1 satoshi/],
    ['change that is dust', { payments: [{ to: other, amount: 79_207n }] }, /too small to be relayed/],
    ['a payment to the sender', { payments: [{ to: from, amount: 40_000n }] }, /goes to the sender/],
    ['a cancellation that pays', { kind: 'cancellation' }, /pays nobody/],
  ];

  it.each(refused)('%s', (_name, changes, problem) => {
    expect(() => buildBitcoin(plan(changes))).toThrow(problem);
  });

  it.each(kinds)('an output to %s below the dust limit of Bitcoin Core, and takes one at it', (kind, to) => {
    const limit = { P2PKH: 546n, P2SH: 540n, P2WPKH: 294n, P2WSH: 330n, P2TR: 330n }[kind] as bigint;
    expect(() => buildBitcoin(plan({ payments: [{ to, amount: limit - 1n }] }))).toThrow(/too small/);
    expect(buildBitcoin(plan({ payments: [{ to, amount: limit }] }))).toMatch(/^0x/);
  });

  it('tokens, actions and inputs that are not reserved', () => {
    const given = toPlan(plan());
    const [output] = given.intent.outputs as [{ recipient: string; tokenContract: null; amount: bigint }];
    const token = { ...given.intent, outputs: [{ ...output, tokenContract: other }] };
    expect(() => codec.build({ ...given, intent: token })).toThrow(/no tokens/);
    const action = { ...given.intent, action: { type: 'settlement' } as SettlementAction };
    expect(() => codec.build({ ...given, intent: action })).toThrow(/only payments/);
    expect(() => codec.build({ ...given, resources: [...given.resources].reverse() })).toThrow(/those that are reserved/);
    expect(() => codec.build({ ...given, prepared: toPrepared({ rate: 1n, outbid: 0n, selection: null }, 1n) })).toThrow(
      /no inputs/,
    );
  });
});

describe('describe refuses', () => {
  const script = Uint8Array.from(Buffer.from(sender, 'hex'));
  const input = { hash: 'ab'.repeat(32), index: 0, sequence: 0xfffffffd, witnessUtxo: { script, value: 50_000n } };
  const changed = (change: (psbt: Psbt) => void): Hex => {
    const psbt = toBitcoinJs(plan({ fee: 2_000n }));
    change(psbt);
    return `0x${psbt.toHex()}`;
  };
  const canonical = /not in canonical form/;
  const refused: [string, () => Hex, RegExp][] = [
    ['no PSBT', () => '0x00', /./],
    ['more than a transaction needs', () => `0x${'00'.repeat(16_385)}`, /at most 16384 bytes/],
    ['capitals', () => buildBitcoin(plan()).toUpperCase().replace('0X', '0x') as Hex, /lower-case/],
    ['another lock time', () => changed((psbt) => psbt.setLocktime(500_000)), canonical],
    ['another version', () => changed((psbt) => psbt.setVersion(1)), canonical],
    ['a final sequence', () => changed((psbt) => psbt.addInput({ ...input, sequence: 0xffffffff })), canonical],
    [
      'an input without its amount',
      () => changed((psbt) => psbt.addInput({ hash: input.hash, index: 0, sequence: input.sequence })),
      /lacks the output/,
    ],
    [
      'an input of another sender',
      () =>
        changed((psbt) =>
          psbt.addInput({ ...input, witnessUtxo: { script: recipients.P2WPKH.output as Uint8Array, value: 50_000n } }),
        ),
      /several senders/,
    ],
    [
      'a further field of an input',
      () => changed((psbt) => psbt.updateInput(0, { sighashType: Transaction.SIGHASH_NONE })),
      canonical,
    ],
    [
      'an unknown field',
      () => changed((psbt) => psbt.addUnknownKeyValToGlobal({ key: Buffer.from('f0', 'hex'), value: script })),
      canonical,
    ],
    [
      'an output without address',
      () => changed((psbt) => psbt.addOutput({ script: Buffer.from('6a0401020304', 'hex'), value: 600n })),
      /is not paid/,
    ],
    ['change before a payment', () => changed((psbt) => psbt.addOutput({ address: other, value: 600n })), /goes to the sender/],
    ['more outputs than inputs', () => changed((psbt) => psbt.addOutput({ address: other, value: 90_000n })), /goes to|below/],
  ];

  it.each(refused)('%s', (_name, bytes, problem) => {
    expect(() => codec.describe(bytes())).toThrow(problem);
  });

  it('nothing of what these are changed from', () => {
    expect(codec.describe(changed(() => undefined)).maxNetworkFee).toBe(2_000n);
  });
});

describe('signatures', () => {
  const unsigned = buildBitcoin(plan());
  const digests = codec.signingPayloads(unsigned, from).map(({ digest }) => digest);
  const signatures = signDigests(digests, privateKey);
  const highS = (signature: Hex): Hex => {
    const s = secp256k1.Point.Fn.ORDER - BigInt(`0x${signature.slice(66, 130)}`);
    const flipped = signature.endsWith('00') ? '01' : '00';
    return `${signature.slice(0, 66) as Hex}${s.toString(16).padStart(64, '0')}${flipped}`;
  };
  const [first, second] = signatures as [Hex, Hex];
  const refused: [string, Hex[]][] = [
    ['one of two', [first]],
    ['one too many', [first, second, second]],
    ['of another input', [second, first]],
    ['of somebody else', signDigests(digests, Uint8Array.from(Buffer.alloc(32, 7)))],
    ['too short', [first, second.slice(0, -2) as Hex]],
    ['with a high s', [first, highS(second)]],
  ];

  it.each(refused)('%s: refused', (_name, given) => {
    expect(() => codec.assemble(unsigned, given, from)).toThrow();
  });

  it('are asked of the sender alone', () => {
    expect(() => codec.signingPayloads(unsigned, other)).toThrow(/another sender/);
    expect(() => codec.assemble(unsigned, signatures, other)).toThrow(/another sender/);
    expect(() => codec.messageKey(unsigned, other)).toThrow(/another sender/);
    expect(codec.signingPayloads(unsigned, from).map(({ signer }) => signer)).toEqual([sender, sender]);
  });
});

it('an order has room for a digest of every input', () => {
  expect(maxInputs).toBeLessThanOrEqual(maxPayloads);
});

it('inputs are outputs and fee, whatever is encoded', () => {
  const amounts = fc.array(fc.bigInt(1_000n, 10n ** 12n), { minLength: 1, maxLength: maxInputs });
  fc.assert(
    fc.property(amounts, fc.bigInt(0n, 10n ** 6n), fc.nat(), (list, extra, share) => {
      const coins = list.map((amount, seed) => coin(seed, amount));
      const fee = 68n * BigInt(list.length) + 200n + extra;
      const rest = sum(coins) - fee;
      const amount = rest > 0n ? (rest * BigInt(share % 1000)) / 1000n : 0n;
      fc.pre(amount >= 294n && (rest === amount || rest - amount >= 294n));
      const given = plan({ coins, fee, payments: [{ to: other, amount }] });
      const transaction = decode(buildBitcoin(given));
      expect(sum(transaction.coins)).toBe(sum(transaction.payments) + transaction.change + fee);
      expect(encode(transaction)).toBe(buildBitcoin(given));
    }),
    { numRuns: 150 },
  );
});
