import { GatewayError } from '../../platform/errors';
import { isJsonObject } from '../json';
import type { JsonValue, Prepared } from '../types';

/** What is chosen before an attempt begins. */
export interface TronDetails {
  /** Hex: two bytes of the number, eight of the id of a solidified block. */
  reference: { number: string; id: string };
  /** Milliseconds since the epoch. */
  expiration: number;
  /** Milliseconds since the epoch. */
  timestamp: number;
  /** Sun; 0n for TRX. */
  feeLimit: bigint;
}

/** `feeBound`: sun. */
export const toPrepared = ({ reference, expiration, timestamp, feeLimit }: TronDetails, feeBound: bigint): Prepared => ({
  feeBound: feeBound.toString(),
  expiry: { expiration },
  details: { reference: { ...reference }, timestamp, feeLimit: feeLimit.toString() },
});

/** @throws GatewayError invalid_parameter for details that toPrepared has not made: whoever prepares an attempt names them. */
export function readDetails({ details, expiry }: Prepared): TronDetails {
  if (!isJsonObject(details) || !isJsonObject(details.reference) || !expiry) throw invalid();
  const { timestamp, feeLimit } = details;
  const { number, id } = details.reference;
  const { expiration } = expiry;
  if (!isHex(number, 4) || !isHex(id, 16) || !isTime(timestamp) || !isTime(expiration)) throw invalid();
  if (typeof feeLimit !== 'string' || !/^(0|[1-9]\d{0,15})$/.test(feeLimit)) throw invalid();
  return { reference: { number, id }, expiration, timestamp, feeLimit: BigInt(feeLimit) };
}

const invalid = (): GatewayError => new GatewayError('invalid_parameter', 'prepared: the details are not of a Tron chain');
const isHex = (value: JsonValue | undefined, digits: number): value is string =>
  typeof value === 'string' && value.length === digits && /^[0-9a-f]*$/.test(value);
const isTime = (value: JsonValue | undefined): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
