import type { HttpTarget } from '../paced-post';
import type { Paces } from '../request-rate';

/** Requests a second where the url names no other number: below what TronGrid grants with a key. */
const usualRate = 10;
/** TronGrid answers 403 beyond a limit, other services 429. */
const tooMany: ReadonlySet<number> = new Set([403, 429]);
/** Ten full blocks of 2 MB are twice as many hex digits, each of them once in raw_data and once in raw_data_hex. */
const maxResponseBytes = 96 * 1024 * 1024;

/**
 * `https://KEY@host/path?rate=15`: KEY is sent as TRON-PRO-API-KEY, `rate` is how many requests a second the endpoint gets.
 * @throws ConfigError, which does not name the url.
 */
export function parseEndpoint(text: string, where: string, paces: Paces): HttpTarget {
  const url = new URL(text);
  const key = decodeURIComponent(url.username);
  return {
    base: `${url.origin}${url.pathname}`.replace(/\/+$/, ''),
    headers: key === '' ? {} : { 'TRON-PRO-API-KEY': key },
    pace: paces.turnsAt(url, usualRate, where),
    tooMany,
    maxResponseBytes,
  };
}
