import { ConfigError } from '../../platform/config';
import type { HttpTarget } from '../paced-post';
import type { Paces } from '../request-rate';

/** Requests a second where the url names no other number: public endpoints grant 100 in ten seconds, of one method 40. */
const usualRate = 10;
const tooMany: ReadonlySet<number> = new Set([429]);
/** A full block with the details of its transactions has a few MB. */
const maxResponseBytes = 64 * 1024 * 1024;
/** Of HTTP (RFC 9110, section 5.6.2: token). */
const headerName = /^[\w!#$%&'*+.^`|~-]{1,64}$/;

/**
 * `https://host/path?api-key=KEY&rate=15`: `rate` is how many requests a second the endpoint gets, everything else of path and query is sent as
 * it is. `https://KEY@host` sends the key as a bearer token, `https://NAME:KEY@host` in the header NAME.
 * @throws ConfigError, which does not name the url.
 */
export function parseEndpoint(text: string, where: string, paces: Paces): HttpTarget {
  const url = new URL(text);
  const pace = paces.turnsAt(url, usualRate, where);
  const [user, password] = [url.username, url.password].map(decodeURIComponent) as [string, string];
  if (password !== '' && !headerName.test(user)) throw new ConfigError(`${where} names a header that HTTP does not have`);
  const headers: Record<string, string> =
    password !== '' ? { [user]: password } : user !== '' ? { authorization: `Bearer ${user}` } : {};
  url.searchParams.delete('rate');
  return { base: `${url.origin}${url.pathname}${url.search}`, headers, pace, tooMany, maxResponseBytes };
}
