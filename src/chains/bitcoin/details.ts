import { GatewayError } from '../../platform/errors';
import type { JsonObject, JsonValue, Prepared } from '../types';
import type { Coin } from './codec/transaction';

/** What a transaction spends. */
export interface Selection {
  /** In the order of the inputs. */
  coins: Coin[];
  /** Satoshis. */
  fee: bigint;
}

export interface BitcoinDetails {
  /** Satoshis per virtual byte. */
  rate: bigint;
  /** Satoshis per virtual byte that it pays together with what it depends on; absent: `rate`. */
  current?: bigint;
  /** What the fee has to exceed by 1 satoshi per virtual byte (BIP-125), in satoshis; 0n: nothing. */
  outbid: bigint;
  /** null until inputs are reserved. */
  selection: Selection | null;
}

/** `feeBound`: satoshis. */
export const toPrepared = ({ rate, current = rate, outbid, selection }: BitcoinDetails, feeBound: bigint): Prepared => ({
  feeBound: feeBound.toString(),
  expiry: null,
  details: {
    rate: rate.toString(),
    current: current.toString(),
    outbid: outbid.toString(),
    coins: selection && selection.coins.map(({ resource, amount }) => [resource, amount.toString()]),
    fee: selection && selection.fee.toString(),
  },
});

/** @throws GatewayError invalid_parameter for details that toPrepared has not made: whoever prepares an attempt names them. */
export function readDetails({ details }: Prepared): Required<BitcoinDetails> {
  const { rate, current = rate, outbid, coins, fee } = (details ?? {}) as JsonObject;
  if (!isAmount(rate) || !isAmount(current) || !isAmount(outbid) || rate === '0')
    throw new GatewayError('invalid_parameter', 'prepared: the details are not of a Bitcoin chain');
  const selection = typeof fee === 'string' && Array.isArray(coins) ? { coins: coins.map(readCoin), fee: BigInt(fee) } : null;
  return { rate: BigInt(rate), current: BigInt(current), outbid: BigInt(outbid), selection };
}

/** 16 digits hold every amount of satoshis. */
const isAmount = (value: JsonValue | undefined): value is string =>
  typeof value === 'string' && /^(0|[1-9]\d{0,15})$/.test(value);

function readCoin(value: JsonValue): Coin {
  const [resource, amount] = value as [string, string];
  return { resource, amount: BigInt(amount) };
}
