import { HDKey } from '@scure/bip32';
import { Psbt, Transaction, networks } from 'bitcoinjs-lib';
import fc from 'fast-check';
import { toOutputScript } from '../../../src/chains/bitcoin/codec/address';
import { type Coin, maxInputs, sum } from '../../../src/chains/bitcoin/codec/transaction';
import { highestRate } from '../../../src/chains/bitcoin/fees';
import { regtest } from '../../../src/chains/bitcoin/network';
import { selectCoins } from '../../../src/chains/bitcoin/select';
import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';
import type { Hex } from '../../../src/chains/types';
import type { SigningClaims } from '../../../src/messages/order';
import { deriveKey } from '../../../src/mpc/secp256k1';
import { verifyIntent } from '../../../src/mpc/verify-intent';
import { bitcoinCodec, buildBitcoin, coin, signDigests } from '../../bitcoin';
import { orderHead } from '../../orders';

/** From coins to what is sent, as bitcoinjs-lib reads it. */

const registry = loadRegistry('local', ['bitcoin']);
const chain = registry.get('bitcoin');
const root = HDKey.fromMasterSeed(Buffer.alloc(32, 5));
const path = bitcoinCodec.accountPath(0);
const key = { publicKey: root.publicKey as Uint8Array, chainCode: root.chainCode as Uint8Array };
const { privateKey } = root.derive(path);
const { address: from } = bitcoinCodec.address(deriveKey(key, path));
const script = toOutputScript(regtest, from);
const keys = new Map([['w.1', key]]);

/** Of Bitcoin Core for a fee of 3 satoshis per virtual byte, by kind. */
const destinations = [
  { to: 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', dust: 546n },
  { to: '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc', dust: 540n },
  { to: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', dust: 294n },
  { to: 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7', dust: 330n },
  { to: 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', dust: 330n },
];
type Destination = (typeof destinations)[number];
const changeDust = 294n;

const toCoins = (amounts: bigint[]): Coin[] => amounts.map((amount, seed) => coin(seed, amount));
const select = (available: Coin[], { to }: Destination, amount: bigint, rate: bigint) =>
  selectCoins(regtest, {
    ...{ script, rate, available, required: [], outbid: 0n },
    payments: [{ script: toOutputScript(regtest, to), amount }],
  });

/** What an honest authoriser orders for these bytes. */
const claimsFor = (unsigned: Hex, to: string, amount: bigint, fee: bigint): SigningClaims => ({
  ...orderHead(),
  ...{ tx_id: 't1', attempt: 1, client_id: 'c1', request: null, kind: 'transfer', chain: regtest.caip2, from },
  signers: [
    {
      ...{ key_id: 'w.1', path, protocol: 'ecdsa-secp256k1' },
      digests: bitcoinCodec.signingPayloads(unsigned, from).map(({ digest }) => digest),
    },
  ],
  recipients: [{ address: to, token: null, amount: amount.toString() }],
  max_fee: fee.toString(),
});

/** What is true of a selection, by its own words. */
function assertSound(coins: Coin[], change: bigint, { amount, fee, dust }: { amount: bigint; fee: bigint; dust: bigint }): void {
  expect(sum(coins)).toBe(amount + change + fee);
  expect(coins.length).toBeLessThanOrEqual(maxInputs);
  expect(amount).toBeGreaterThanOrEqual(dust);
  expect(change === 0n || change >= changeDust).toBe(true);
}

test('of 1 to 500 coins: inputs are outputs and fee, and nothing is dust', () => {
  const outcomes = new Set<string>();
  // above the most that a transaction has, the smallest do not count
  for (let count = 1; count <= 500; count += count <= maxInputs + 1 ? 1 : 15) {
    const available = toCoins(Array.from({ length: count }, (_, index) => 1_000n + BigInt((index * 7_919) % 100_003)));
    const destination = destinations[count % destinations.length] as Destination;
    // from a part of the biggest coin to more than all of them
    const amount = 600n + (sum(available) * BigInt(count % 23)) / 21n;
    const rate = BigInt(1 + (count % 50));
    const chosen = select(available, destination, amount, rate);
    outcomes.add(chosen.outcome);
    if (chosen.outcome !== 'selected') continue;
    const { coins, fee, size } = chosen;
    assertSound(coins, sum(coins) - amount - fee, { amount, fee, dust: destination.dust });
    expect(fee).toBeGreaterThanOrEqual(rate * size);
  }
  expect([...outcomes].sort()).toEqual(['insufficient', 'selected', 'too_many']);
});

test('what is signed pays what was asked for, its change to the sender, and never more than the cap as fee', () => {
  const amounts = fc.array(fc.oneof(fc.bigInt(1_000n, 200_000n), fc.bigInt(10_000n, 10n ** 9n)), {
    minLength: 1,
    maxLength: 500,
  });
  const rates = fc.oneof(fc.bigInt(1n, 100n), fc.bigInt(1n, 20_000n));
  const seen = { signed: 0, tooDear: 0 };
  fc.assert(
    fc.property(amounts, fc.constantFrom(...destinations), rates, fc.nat({ max: 1_000 }), (list, destination, wanted, share) => {
      const { to, dust } = destination;
      const available = toCoins(list);
      const amount = (sum(available) * BigInt(share)) / 1_000n;
      fc.pre(amount >= dust);
      const chosen = select(available, destination, amount, wanted < highestRate(chain) ? wanted : highestRate(chain));
      if (chosen.outcome !== 'selected') return;
      const { coins, fee } = chosen;
      const unsigned = buildBitcoin({ kind: 'first', from, payments: [{ to, amount }], coins, fee });
      const verify = () => verifyIntent(claimsFor(unsigned, to, amount, fee), unsigned, { registry, getFamily, keys });
      if (fee > chain.maxNetworkFee) {
        seen.tooDear += 1;
        expect(verify).toThrow(/what this node allows/);
        return;
      }
      seen.signed += 1;
      const digests = verify().payloads.map(({ digest }): Hex => `0x${digest.toString('hex')}`);
      const { bytes } = bitcoinCodec.assemble(unsigned, signDigests(digests, privateKey as Uint8Array), from);

      const sent = Transaction.fromHex(bytes.slice(2));
      const worth = Psbt.fromHex(unsigned.slice(2), { network: networks.regtest }).data.inputs.map(
        ({ witnessUtxo }) => witnessUtxo?.value ?? 0n,
      );
      const paid = sent.outs.reduce((total, { value }) => total + value, 0n);
      expect(worth.reduce((total, value) => total + value, 0n)).toBe(paid + fee);
      expect(sent.outs[0]).toMatchObject({ value: amount, script: toOutputScript(regtest, to) });
      const [change, ...more] = sent.outs.slice(1);
      expect(more).toEqual([]);
      if (change) expect(change.script).toEqual(script);
      assertSound(coins, change?.value ?? 0n, { amount, fee, dust });
      // nodes relay nothing below 1 satoshi per virtual byte
      expect(fee).toBeGreaterThanOrEqual(BigInt(sent.virtualSize()));
    }),
    {
      numRuns: 80,
      // several inputs at the highest rate
      examples: [[Array(3).fill(10n ** 9n), destinations[2] as Destination, 20_000n, 900]],
    },
  );
  expect(seen.signed).toBeGreaterThan(10);
  expect(seen.tooDear).toBeGreaterThan(0);
});
