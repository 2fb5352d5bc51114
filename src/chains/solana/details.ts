import { GatewayError } from '../../platform/errors';
import { isJsonObject } from '../json';
import type { JsonValue, Prepared } from '../types';
import { fromBase58 } from './codec/base58';
import { isTokenProgram, type TokenProgram } from './codec/programs';

/** What is chosen before an attempt begins. */
export interface SolanaDetails {
  /** Base58. */
  blockhash: string;
  /** The highest block height whose block may hold the message; null: unknown, as after a recovery from bytes, which do not say it. */
  lastValidBlockHeight: number | null;
  /** Limit of compute units. */
  units: number;
  /** Millionths of a lamport for a unit. */
  price: bigint;
  /** null: SOL. */
  token: { program: TokenProgram; decimals: number; creates: boolean } | null;
}

/** `feeBound`: lamports. */
export function toPrepared({ blockhash, lastValidBlockHeight, units, price, token }: SolanaDetails, feeBound: bigint): Prepared {
  return {
    feeBound: feeBound.toString(),
    expiry: { blockhash, ...(lastValidBlockHeight !== null && { lastValidBlockHeight }) },
    details: { units, price: price.toString(), token: token && { ...token } },
  };
}

/** @throws GatewayError invalid_parameter for details that toPrepared has not made: whoever prepares an attempt names them. */
export function readDetails({ details, expiry }: Prepared): SolanaDetails {
  if (!isJsonObject(details) || !expiry) throw invalid();
  const { units, price, token } = details;
  const { blockhash, lastValidBlockHeight = null } = expiry;
  if (typeof blockhash !== 'string' || !fromBase58(blockhash, 32) || !isCount(units)) throw invalid();
  if (lastValidBlockHeight !== null && !isCount(lastValidBlockHeight)) throw invalid();
  if (typeof price !== 'string' || !/^(0|[1-9]\d{0,15})$/.test(price)) throw invalid();
  return { blockhash, lastValidBlockHeight, units, price: BigInt(price), token: readToken(token) };
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
