import { ConfigError } from '../../platform/config';
import type { HttpTarget } from './http';
import { Pace } from './pace';

/** Requests a second where the url names no other number: below what TronGrid grants with a key. */
const usualRate = 10;
const maxRate = 1_000;

/**
 * `https://KEY@host/path?rate=15`: KEY is sent as TRON-PRO-API-KEY, `rate` is how many requests a second the endpoint gets.
 * @throws ConfigError, which does not name the url.
 */
export function parseEndpoint(text: string, where: string): HttpTarget {
  const url = new URL(text);
  const key = decodeURIComponent(url.username);
  const rate = Number(url.searchParams.get('rate') ?? usualRate);
  if (!(rate > 0 && rate <= maxRate)) throw new ConfigError(`${where} has a rate that is not between 0 and ${maxRate}`);
  return {
    base: `${url.origin}${url.pathname}`.replace(/\/+$/, ''),
    headers: key === '' ? {} : { 'TRON-PRO-API-KEY': key },
    pace: new Pace(rate),
  };
}
