import { getCaller, getIdempotencyContext } from '../http/context';
import { presentPage, toLimitOffset } from '../http/pagination';
import { locate } from '../http/router';
import { resourceId, withoutId } from '../http/resource-id';
import type { Route, DocumentedMiddleware } from '../http/route';
import { body, getBody, query, getQuery } from '../http/validate';
import type { NodeKeys } from '../mpc/identity';
import { presentAttestations, presentWallet } from './presenter';
import { attestationsView, createWallet, listWallets, walletPage, walletView } from './schema';
import type { WalletService } from './service';

const tag = 'Wallets';

export interface WalletRoutes {
  wallets: WalletService;
  nodeKeys: NodeKeys;
  authenticate: DocumentedMiddleware;
  idempotent: DocumentedMiddleware;
}

export function walletRoutes({ wallets, nodeKeys, authenticate, idempotent }: WalletRoutes): Route[] {
  return [
    {
      method: 'post',
      path: '/wallets',
      id: 'createWallet',
      tag,
      summary: 'Create a wallet',
      description:
        'The wallet is usable once status and key_status are ACTIVE: three signing nodes generate its key first. 503 `unavailable` when too many wallets wait for their key.',
      middleware: [authenticate, body(createWallet), idempotent],
      answer: { status: 201, description: 'The wallet, PROGRESSING and GENERATING', schema: walletView, location: true },
      fails: ['external_id_in_use', 'unavailable', 'outcome_unknown'],
      handle: async (ctx) => {
        const shown = await wallets.create(
          getCaller(ctx),
          getIdempotencyContext(ctx),
          ctx.state.requestId,
          getBody(ctx, createWallet),
        );
        locate(ctx, `/wallets/${shown.wallet.walletId}`);
        ctx.body = presentWallet(shown);
      },
    },
    {
      method: 'get',
      path: '/wallets',
      id: 'listWallets',
      tag,
      summary: 'List wallets, newest first',
      middleware: [authenticate, query(listWallets)],
      answer: { status: 200, description: 'One page', schema: walletPage },
      fails: [],
      handle: async (ctx) => {
        const { external_id: externalId, ...page } = getQuery(ctx, listWallets);
        const [rows, total] = await wallets.list(getCaller(ctx).clientId, { externalId }, toLimitOffset(page));
        ctx.body = presentPage(rows, total, page, presentWallet);
      },
    },
    {
      method: 'get',
      path: '/wallets/:id',
      id: 'getWallet',
      tag,
      summary: 'Read a wallet',
      middleware: [authenticate],
      answer: { status: 200, description: 'The wallet', schema: walletView },
      fails: ['not_found'],
      handle: async (ctx) => {
        ctx.body = presentWallet(await wallets.get(getCaller(ctx).clientId, resourceId(ctx, 'id')));
      },
    },
    {
      method: 'get',
      path: '/wallets/:id/attestations',
      id: 'getWalletAttestations',
      tag,
      summary: 'Read what the signing nodes attest about the key of a wallet',
      description:
        'Each node has signed that the key with this public key and chain code is bound to this wallet and client. Verify the signatures with the public keys that the operators of the nodes have given you: see docs/integration.md.',
      middleware: [authenticate],
      answer: { status: 200, description: 'The statements and their signatures, as stored', schema: attestationsView },
      fails: ['not_found'],
      handle: async (ctx) => {
        ctx.body = presentAttestations(await wallets.attestations(getCaller(ctx).clientId, resourceId(ctx, 'id')), nodeKeys);
      },
    },
    withoutId('/wallets/', tag, authenticate),
  ];
}
