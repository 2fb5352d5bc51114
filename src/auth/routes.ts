import { type Route, type DocumentedMiddleware, documented } from '../http/route';
import { presentToken } from './presenter';
import { tokenView } from './schema';
import type { AuthService } from './service';

const credentials: DocumentedMiddleware = documented(
  {
    headers: [
      { name: 'X-API-Key', description: 'API key', required: true, schema: { type: 'string' } },
      { name: 'X-API-Secret', description: 'Its secret', required: true, schema: { type: 'string' } },
    ],
  },
  (_ctx, next) => next(),
);

export interface AuthDependencies {
  auth: AuthService;
  ttlSeconds: number;
  /** Limits the requests for tokens. */
  limited: DocumentedMiddleware;
}

export function authRoutes({ auth, ttlSeconds, limited }: AuthDependencies): Route[] {
  return [
    {
      method: 'post',
      path: '/auth/token',
      id: 'createToken',
      tag: 'Authentication',
      summary: 'Get an access token',
      description:
        'More than ten failures per minute from one address or with one key are refused with 429. The body is ignored.',
      middleware: [limited, credentials],
      answer: { status: 200, description: 'Access token', schema: tokenView },
      fails: ['invalid_credentials', 'rate_limited', 'unavailable'],
      handle: async (ctx) => {
        const [apiKey, apiSecret] = [ctx.get('X-API-Key'), ctx.get('X-API-Secret')];
        const token = await auth.login({ apiKey, apiSecret, address: ctx.ip, requestId: ctx.state.requestId });
        ctx.body = presentToken(token, ttlSeconds);
      },
    },
  ];
}
