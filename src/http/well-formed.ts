import { invalidParameter } from '../platform/errors';
import type { Middleware } from './context';

/** No route has more than a dozen; every unknown one is named in the answer. */
const maxQueryParameters = 50;

/**
 * Refuses requests whose meaning is uncertain, and queries that would take long to validate, before anything reads them.
 * @throws GatewayError invalid_parameter
 */
export const wellFormed: Middleware = (ctx, next) => {
  assertHost(ctx.req.rawHeaders, ctx.req.httpVersion);
  assertQuery(ctx.querystring);
  return next();
};

/** RFC 9112, section 3.2: exactly one Host; Node itself takes the first of several. */
function assertHost(rawHeaders: string[], httpVersion: string): void {
  const count = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (count > 1 || (count === 0 && httpVersion === '1.1')) throw invalidParameter('Host', 'has to be sent exactly once');
}

/** Node's parser replaces what is not UTF-8 instead of refusing it. */
function assertQuery(query: string): void {
  if (query.split('&', maxQueryParameters + 1).length > maxQueryParameters)
    throw invalidParameter('query', `has more than ${maxQueryParameters} parameters`);
  try {
    decodeURIComponent(query);
  } catch {
    throw invalidParameter('query', 'is not valid percent-encoded UTF-8');
  }
}
