import { selectUTXO } from '@scure/btc-signer';
import { toAddress } from './codec/address';
import { type Coin, maxInputs, type Payment, sum } from './codec/transaction';
import type { Selection } from './details';
import type { BitcoinNetwork } from './network';
import type { Package } from './package';
import { dustLimit, inputSize, virtualSize } from './sizes';

/** What inputs are chosen for. */
export interface SelectionRequest {
  /** P2WPKH script to which the coins belong and the change goes. */
  script: Uint8Array;
  payments: Payment[];
  /** Satoshis per virtual byte. */
  rate: bigint;
  /** What the fee has to exceed by 1 satoshi per virtual byte (BIP-125), in satoshis; 0n: nothing. */
  outbid: bigint;
  /** What it pays for others that it depends on; absent: there are none. */
  package?: Package;
  /** Spent in any case, first and in this order. */
  required: Coin[];
  available: Coin[];
}

export type SelectionResult =
  /** `size`: in virtual bytes. */
  | ({ outcome: 'selected'; size: bigint } & Selection)
  /** All coins together are too few. */
  | { outcome: 'insufficient' }
  /** They would suffice, but not within one transaction. */
  | { outcome: 'too_many' };

/** With every step the rate comes close to what the size of the transaction asks for. */
const maxSteps = 8;

/**
 * The biggest coins, so that there are few inputs; without change where what is left over would be dust: then it is paid as fee. Coins
 * that cost more than they are worth are left out.
 */
export function selectCoins(network: BitcoinNetwork, request: SelectionRequest): SelectionResult {
  const { script, payments, outbid, package: { rate: together, deficit } = { rate: 0n, deficit: 0n } } = request;
  let { rate } = request;
  for (let step = 0; step < maxSteps; step += 1) {
    const selected = selectAt(network, { ...request, rate });
    if (selected.outcome !== 'selected' || (outbid === 0n && deficit === 0n)) return selected;
    const { coins, fee, size } = selected;
    const paid = sum(coins) - sum(payments);
    const lowestFee = (ofSize: bigint): bigint =>
      [request.rate * ofSize, outbid === 0n ? 0n : outbid + ofSize, together * ofSize + deficit].reduce(max);
    // what the inputs have beyond the payments is change, also where the rate of this step left no room for it
    const scripts = [...payments.map((payment) => payment.script), script];
    const sizeWithChange = paid > fee ? size : virtualSize(coins.length, scripts);
    if (paid - lowestFee(sizeWithChange) >= dustLimit(script))
      return { ...selected, size: sizeWithChange, fee: lowestFee(sizeWithChange) };
    if (fee >= lowestFee(size)) return selected;
    rate = max(rate + 1n, (lowestFee(size) + size - 1n) / size);
  }
  return { outcome: 'insufficient' };
}

function selectAt(network: BitcoinNetwork, request: SelectionRequest): SelectionResult {
  const { script, payments, rate, required, available } = request;
  const toInput = ({ resource, amount }: Coin) => {
    const [txid = '', vout] = resource.split(':');
    return { txid, index: Number(vout), witnessUtxo: { script, amount } };
  };
  const candidates = [...available].sort(byAmount).slice(0, maxInputs + 1);
  const chosen = selectUTXO(candidates.map(toInput), payments, 'accumBiggest', {
    changeAddress: toAddress(network.format, script),
    feePerByte: rate,
    requiredInputs: required.map(toInput),
    // the smallest change that is kept
    dust: dustLimit(script),
    dustRelayFeeRate: 1n,
    alwaysChange: payments.length === 0,
    // in the order of the request, not sorted (BIP-69)
    bip69: false,
    createTx: false,
    network: network.format,
  });
  if (!chosen) return { outcome: suffices(request) ? 'too_many' : 'insufficient' };
  if (chosen.inputs.length > maxInputs) return { outcome: 'too_many' };
  const known = new Map([...required, ...available].map((coin) => [coin.resource, coin]));
  const coins = chosen.inputs.flatMap(
    ({ txid, index }) => known.get(`${Buffer.from(txid ?? []).toString('hex')}:${index}`) ?? [],
  );
  const change = chosen.outputs.slice(payments.length);
  // a transaction without payments has change in any case, also where it is too small to be one: with another coin it is bigger
  if (payments.length === 0 && sum(change) < dustLimit(script)) {
    const rest = [...available].sort(byAmount).filter((coin) => coin.amount > rate * inputSize && !coins.includes(coin));
    const [next, ...others] = rest;
    if (!next) return { outcome: 'insufficient' };
    return selectAt(network, { ...request, required: [...coins, next], available: others });
  }
  const size = virtualSize(coins.length, [...payments.map((payment) => payment.script), ...change.map(() => script)]);
  return { outcome: 'selected', coins, size, fee: sum(coins) - sum(payments) - sum(change) };
}

/** Whether all coins that are worth their fee would do, if a transaction could have any number of inputs. */
function suffices({ script, payments, rate, required, available }: SelectionRequest): boolean {
  const coins = [...required, ...available.filter(({ amount }) => amount > rate * inputSize)];
  if (coins.length <= maxInputs) return false;
  const scripts = payments.length === 0 ? [script] : payments.map((payment) => payment.script);
  const change = payments.length === 0 ? dustLimit(script) : 0n;
  return sum(coins) >= sum(payments) + change + rate * virtualSize(coins.length, scripts);
}

/** The biggest first; in their order where they are equal. */
const byAmount = (one: Coin, other: Coin): number => (one.amount === other.amount ? 0 : one.amount > other.amount ? -1 : 1);
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
