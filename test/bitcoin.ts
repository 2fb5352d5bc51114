import { secp256k1 } from '@noble/curves/secp256k1.js';
import { createBitcoinCodec } from '../src/chains/bitcoin/codec';
import type { Coin } from '../src/chains/bitcoin/codec/transaction';
import { toPrepared } from '../src/chains/bitcoin/details';
import { regtest } from '../src/chains/bitcoin/network';
import { loadRegistry } from '../src/chains/registry';
import type { TransactionPlan } from '../src/chains/family';
import type { AttemptKind, ChainDefinition, Hex } from '../src/chains/types';

export const localBitcoin = (changes: Partial<ChainDefinition> = {}): ChainDefinition => ({
  ...loadRegistry('local', ['bitcoin']).get('bitcoin'),
  ...changes,
});

export const bitcoinCodec = createBitcoinCodec(regtest);

/** A payment as one object, of which tests change single fields; amounts in satoshis. */
export interface BitcoinPlan {
  kind: AttemptKind;
  from: string;
  payments: { to: string; amount: bigint }[];
  coins: Coin[];
  fee: bigint;
}

/** An output of a transaction that nobody knows. */
export const coin = (seed: number, amount: bigint, vout = 0): Coin => ({
  resource: `ab${seed.toString(16).padStart(62, '0')}:${vout}`,
  amount,
});

export const toPlan = ({ kind, from, payments, coins, fee }: BitcoinPlan): TransactionPlan => ({
  chain: localBitcoin(),
  intent: { from, outputs: payments.map(({ to: recipient, amount }) => ({ recipient, tokenContract: null, amount })) },
  kind,
  prepared: toPrepared({ rate: 1n, outbid: 0n, selection: { coins, fee } }, fee),
  resources: coins.map(({ resource }) => resource),
});

export const buildBitcoin = (plan: BitcoinPlan): Hex => bitcoinCodec.build(toPlan(plan));

/** Signs as the signing nodes do: r || s || recovery id. */
export const signDigests = (digests: Hex[], privateKey: Uint8Array): Hex[] =>
  digests.map((digest): Hex => {
    const [recovery, ...rs] = secp256k1.sign(Buffer.from(digest.slice(2), 'hex'), privateKey, {
      prehash: false,
      format: 'recovered',
    });
    return `0x${Buffer.from([...rs, recovery as number]).toString('hex')}`;
  });
