import { getCaller, getIdempotencyContext, type GatewayContext } from '../http/context';
import { maxBatchItems } from '../http/batch';
import { toLimitOffset } from '../http/pagination';
import { resourceId, withoutId } from '../http/resource-id';
import { locate } from '../http/router';
import type { Route, DocumentedMiddleware } from '../http/route';
import { body, getBody, query, getQuery } from '../http/validate';
import { mfaFailures, toMfaRequest } from '../mfa/request';
import { invalidParameter } from '../platform/errors';
import type { SecurityFactorBatches } from './batch';
import { presentDeleted, presentFactor, presentFactors } from './presenter';
import {
  batchView,
  changeFactors,
  createFactor,
  deletedFactorView,
  deleteFactor,
  factorList,
  factorView,
  listFactors,
  setFactorStatus,
} from './schema';
import type { SecurityFactorService } from './service';

const tag = 'Security factors';
const path = '/client/security-factors';
/** For clients that append the paths of the specification, which begin with /v1, to the base path. */
const aliasPrefix = '/v1';

export interface SecurityFactorRoutes {
  factors: SecurityFactorService;
  batches: SecurityFactorBatches;
  authenticate: DocumentedMiddleware;
  idempotent: DocumentedMiddleware;
}

export function securityFactorRoutes({ factors, batches, authenticate, idempotent }: SecurityFactorRoutes): Route[] {
  const routes: Route[] = [
    {
      method: 'get',
      path,
      id: 'listSecurityFactors',
      tag,
      summary: 'List white- and blacklisted addresses, newest first',
      description:
        'A page has up to 1000 entries, a client up to 10000: where total is larger, request the next page. All operations on security factors are also available below /v1/client.',
      middleware: [authenticate, query(listFactors)],
      answer: { status: 200, description: 'The entries', schema: factorList },
      fails: [],
      handle: async (ctx) => {
        const { chain, factor_type: factorType, status, ...page } = getQuery(ctx, listFactors);
        const filter = { ...(chain && { chain }), ...(factorType && { factorType }), ...(status && { status }) };
        const [rows, total] = await factors.list(getCaller(ctx).clientId, filter, toLimitOffset(page));
        ctx.body = presentFactors(rows, total);
      },
    },
    {
      method: 'post',
      path,
      id: 'createSecurityFactor',
      tag,
      summary: 'Add an address to the white- or blacklist',
      description:
        'The lists apply to all users, wallets and accounts of the client. An inactive entry for the same address does not conflict.',
      middleware: [authenticate, body(createFactor), idempotent],
      answer: { status: 201, description: 'The entry, active', schema: factorView, location: true },
      fails: ['invalid_address', 'SECURITY_FACTOR_ALREADY_EXISTS', 'business_error', ...mfaFailures],
      handle: async (ctx) => {
        const factor = await factors.create(toMfaRequest(ctx), getIdempotencyContext(ctx), getBody(ctx, createFactor));
        locate(ctx, `${path}/${factor.factorId}`);
        ctx.body = presentFactor(factor);
      },
    },
    {
      method: 'post',
      path: `${path}/batch`,
      id: 'changeSecurityFactors',
      tag,
      summary: 'Delete and add entries, up to 100 together with one code',
      description:
        'Each change is carried out or refused for itself, as the routes for a single one do, and the answer says which: it is 200 also when all of them were refused. Any other answer means that nothing was changed, except 503 `outcome_unknown` and the 409 of a code that has carried out the same before. Send an Idempotency-Key: a retry with the same key and body gets the first answer again.',
      middleware: [authenticate, body(changeFactors), idempotent],
      answer: { status: 200, description: 'What became of each change', schema: batchView },
      fails: ['SECURITY_FACTOR_ALREADY_EXISTS', ...mfaFailures],
      handle: async (ctx) => {
        const { remove, add } = getBody(ctx, changeFactors);
        const count = remove.length + add.length;
        if (count < 1 || count > maxBatchItems)
          throw invalidParameter('add', `must have 1 to ${maxBatchItems} entries together with remove`);
        ctx.body = await batches.change(toMfaRequest(ctx), getIdempotencyContext(ctx), { remove, add });
      },
    },
    ...entryRoutes(factors, authenticate),
    withoutId(`${path}/`, tag, authenticate),
  ];
  return routes.map((route) => ({ ...route, alsoAt: `${aliasPrefix}${route.path}` }));
}

function entryRoutes(factors: SecurityFactorService, authenticate: DocumentedMiddleware): Route[] {
  const factorId = (ctx: GatewayContext) => resourceId(ctx, 'factor_id');
  return [
    {
      method: 'get',
      path: `${path}/:factor_id`,
      id: 'getSecurityFactor',
      tag,
      summary: 'Read an entry',
      middleware: [authenticate],
      answer: { status: 200, description: 'The entry', schema: factorView },
      fails: ['SECURITY_FACTOR_NOT_FOUND'],
      handle: async (ctx) => {
        ctx.body = presentFactor(await factors.get(getCaller(ctx).clientId, factorId(ctx)));
      },
    },
    {
      method: 'put',
      path: `${path}/:factor_id/status`,
      id: 'setSecurityFactorStatus',
      tag,
      summary: 'Activate or deactivate an entry',
      description: 'Setting the current status again is not an error.',
      middleware: [authenticate, body(setFactorStatus)],
      answer: { status: 200, description: 'The entry', schema: factorView },
      fails: ['SECURITY_FACTOR_NOT_FOUND', 'SECURITY_FACTOR_ALREADY_EXISTS', ...mfaFailures],
      handle: async (ctx) => {
        const { status } = getBody(ctx, setFactorStatus);
        ctx.body = presentFactor(await factors.setStatus(toMfaRequest(ctx), factorId(ctx), status));
      },
    },
    {
      method: 'delete',
      path: `${path}/:factor_id`,
      id: 'deleteSecurityFactor',
      tag,
      summary: 'Delete an entry; its address can be added again',
      middleware: [authenticate, body(deleteFactor)],
      answer: { status: 200, description: 'Deleted', schema: deletedFactorView },
      fails: ['SECURITY_FACTOR_NOT_FOUND', ...mfaFailures],
      handle: async (ctx) => {
        ctx.body = presentDeleted(await factors.delete(toMfaRequest(ctx), factorId(ctx)));
      },
    },
  ];
}
