import { GatewayError } from '../../platform/errors';
import { isJsonObject } from '../json';
import type { JsonValue, Prepared } from '../types';
import { fromBase58 } from './codec/base58';
import { isTokenProgram, type TokenProgram } from './codec/programs';

/** What is chosen before an attempt begins. */
export interface SolanaDetails {
  /** Base58. */
  blockhash: string;
  /** Of the block with that hash; null: unknown, as after a recovery from bytes, which do not say it. */
  slot: number | null;
  /** The highest block height whose block may hold the message; null: unknown. */
  lastValidBlockHeight: number | null;
  /** Limit of compute units. */
  units: number;
  /** Millionths of a lamport for a unit. */
  price: bigint;
  /** null: SOL. */
  token: { program: TokenProgram; decimals: number; creates: boolean } | null;
}

/** `feeBound`: lamports. */
export function toPrepared(
  { blockhash, slot, lastValidBlockHeight, units, price, token }: SolanaDetails,
  feeBound: bigint,
): Prepared {
  return {
    feeBound: feeBound.toString(),
    expiry: { blockhash, ...(slot !== null && { slot }), ...(lastValidBlockHeight !== null && { lastValidBlockHeight }) },
    details: { units, price: price.toString(), token: token && { ...token } },
  };
}

/** Nothing else is chosen for a message that somebody else has made. `feeBound`: lamports. */
export const toPreparedSettlement = (blockhash: string, feeBound: bigint): Prepared => ({
  feeBound: feeBound.toString(),
  expiry: { blockhash },
  details: null,
});

/** @throws GatewayError invalid_parameter for details that toPrepared has not made: whoever prepares an attempt names them. */
export function readDetails({ details, expiry }: Prepared): SolanaDetails {
  if (!isJsonObject(details) || !expiry) throw invalid();
  const { units, price, token } = details;
  const { blockhash, slot = null, lastValidBlockHeight = null } = expiry;
  if (typeof blockhash !== 'string' || !fromBase58(blockhash, 32) || !isCount(units)) throw invalid();
  if ((slot !== null && !isCount(slot)) || (lastValidBlockHeight !== null && !isCount(lastValidBlockHeight))) throw invalid();
  if (typeof price !== 'string' || !/^(0|[1-9]\d{0,15})$/.test(price)) throw invalid();
  return { blockhash, slot, lastValidBlockHeight, units, price: BigInt(price), token: readToken(token) };
}

function readToken(token: JsonValue | undefined): SolanaDetails['token'] {
  if (token === null) return null;
  if (!isJsonObject(token)) throw invalid();
  const { program, decimals, creates } = token;
  if (!isTokenProgram(program) || !isCount(decimals) || decimals > 255 || typeof creates !== 'boolean') throw invalid();
  return { program, decimals, creates };
}

const invalid = (): GatewayError => new GatewayError('invalid_parameter', 'prepared: the details are not of a Solana chain');
const isCount = (value: JsonValue | undefined): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
