import { GatewayError } from '../platform/errors';
import { type DocumentedMiddleware, documented } from '../http/route';
import type { KeyStatus } from './key-status';
import type { AccessTokens } from './tokens';

const maxTokenLength = 2_000;

/** Authentication middleware: sets `ctx.state.caller` from a valid token whose API key is usable. */
export function createAuthenticate(tokens: AccessTokens, keys: KeyStatus): DocumentedMiddleware {
  return documented({ authenticated: true, fails: ['unauthorized', 'unavailable'] }, async (ctx, next) => {
    // exactly one header: with two, this process and a proxy in front of it could use different ones
    const [header = '', ...more] = ctx.req.headersDistinct.authorization ?? [];
    const token = /^Bearer +([\w.-]+) *$/i.exec(header)?.[1];
    if (more.length > 0 || !token || token.length > maxTokenLength)
      throw new GatewayError('unauthorized', 'An access token is required: Authorization: Bearer <token>');
    const caller = await tokens.verify(token);
    if (!(await keys.isUsable(caller))) throw new GatewayError('unauthorized', 'The access token is invalid or has expired');
    ctx.state.caller = caller;
    return next();
  });
}
