import type { GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import { getCaller, getIdempotencyContext } from '../http/context';
import { presentPage, toLimitOffset } from '../http/pagination';
import { resourceId, withoutId } from '../http/resource-id';
import { locate } from '../http/router';
import type { Route, DocumentedMiddleware } from '../http/route';
import { body, getBody, query, getQuery } from '../http/validate';
import { presentAsset } from './presenter';
import type { AssetRow } from './repository';
import { addAsset, assetPage, assetView, listAssets } from './schema';
import type { AssetService } from './service';

const tag = 'Assets';

export interface AssetRoutes {
  assets: AssetService;
  registry: ChainRegistry;
  getFamily: GetFamily;
  authenticate: DocumentedMiddleware;
  idempotent: DocumentedMiddleware;
}

export function assetRoutes({ assets, registry, getFamily, authenticate, idempotent }: AssetRoutes): Route[] {
  const present = (asset: AssetRow) => presentAsset(asset, registry, getFamily);
  return [
    {
      method: 'post',
      path: '/assets',
      id: 'addAsset',
      tag,
      summary: 'Add an asset to an account',
      description: 'Contract, decimals and type come from the chain registry. Earlier deposits are shown immediately.',
      middleware: [authenticate, body(addAsset), idempotent],
      answer: { status: 201, description: 'Asset added', schema: assetView, location: true },
      fails: ['asset_already_exists', 'account_not_active', 'not_found', 'unavailable', 'outcome_unknown'],
      handle: async (ctx) => {
        const asset = await assets.add(getCaller(ctx), getIdempotencyContext(ctx), ctx.state.requestId, getBody(ctx, addAsset));
        locate(ctx, `/assets/${asset.assetId}`);
        ctx.body = present(asset);
      },
    },
    {
      method: 'get',
      path: '/assets',
      id: 'listAssets',
      tag,
      summary: 'List assets, newest first',
      description: 'Also lists native coins with a balance that were not added.',
      middleware: [authenticate, query(listAssets)],
      answer: { status: 200, description: 'One page', schema: assetPage },
      fails: [],
      handle: async (ctx) => {
        const { account_id: accountId, ...page } = getQuery(ctx, listAssets);
        const [rows, total] = await assets.list(getCaller(ctx).clientId, accountId, toLimitOffset(page));
        ctx.body = presentPage(rows, total, page, present);
      },
    },
    {
      method: 'get',
      path: '/assets/:id',
      id: 'getAsset',
      tag,
      summary: 'Read an asset',
      middleware: [authenticate],
      answer: { status: 200, description: 'The asset', schema: assetView },
      fails: ['not_found'],
      handle: async (ctx) => {
        ctx.body = present(await assets.get(getCaller(ctx).clientId, resourceId(ctx, 'id')));
      },
    },
    withoutId('/assets/', tag, authenticate),
  ];
}
