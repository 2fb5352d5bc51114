import { getCaller, getIdempotencyContext } from '../http/context';
import { presentPage, toLimitOffset } from '../http/pagination';
import { resourceId, withoutId } from '../http/resource-id';
import { locate } from '../http/router';
import type { Route, DocumentedMiddleware } from '../http/route';
import { body, getBody, query, getQuery } from '../http/validate';
import type { NodeKeys } from '../mpc/identity';
import { presentAccount, presentAccountAttestations, presentListedAccount } from './presenter';
import { accountAttestationsView, accountPage, accountView, createAccount, listAccounts } from './schema';
import type { AccountService } from './service';

const tag = 'Accounts';

export interface AccountRoutes {
  accounts: AccountService;
  nodeKeys: NodeKeys;
  authenticate: DocumentedMiddleware;
  idempotent: DocumentedMiddleware;
}

export function accountRoutes({ accounts, nodeKeys, authenticate, idempotent }: AccountRoutes): Route[] {
  return [
    {
      method: 'post',
      path: '/accounts',
      id: 'createAccount',
      tag,
      summary: 'Create an account: an address on a chain',
      description:
        'The wallet has to be ACTIVE. An account on ethereum, bsc, polygon, arbitrum, optimism, avalanche or base holds assets on all of these. On some chains each account has a key of its own: the request then waits up to 10 seconds for the signing nodes to generate it, and with a node down the answer is 503 `unavailable` and nothing is created.',
      middleware: [authenticate, body(createAccount), idempotent],
      answer: { status: 201, description: 'The account', schema: accountView, location: true },
      fails: ['wallet_not_active', 'not_found', 'external_id_in_use', 'address_differs', 'unavailable', 'outcome_unknown'],
      handle: async (ctx) => {
        const account = await accounts.create(
          getCaller(ctx),
          getIdempotencyContext(ctx),
          ctx.state.requestId,
          getBody(ctx, createAccount),
        );
        locate(ctx, `/accounts/${account.accountId}`);
        ctx.body = presentAccount(account);
      },
    },
    {
      method: 'get',
      path: '/accounts',
      id: 'listAccounts',
      tag,
      summary: 'List accounts, newest first',
      middleware: [authenticate, query(listAccounts)],
      answer: { status: 200, description: 'One page', schema: accountPage },
      fails: [],
      handle: async (ctx) => {
        const { wallet_id: walletId, chain, external_id: externalId, ...page } = getQuery(ctx, listAccounts);
        const filter = { walletId, chain, externalId };
        const [rows, total] = await accounts.list(getCaller(ctx).clientId, filter, toLimitOffset(page));
        ctx.body = presentPage(rows, total, page, presentListedAccount);
      },
    },
    {
      method: 'get',
      path: '/accounts/:id',
      id: 'getAccount',
      tag,
      summary: 'Read an account',
      middleware: [authenticate],
      answer: { status: 200, description: 'The account', schema: accountView },
      fails: ['not_found', 'address_differs'],
      handle: async (ctx) => {
        ctx.body = presentAccount(await accounts.get(getCaller(ctx).clientId, resourceId(ctx, 'id')));
      },
    },
    {
      method: 'get',
      path: '/accounts/:id/attestations',
      id: 'getAccountAttestations',
      tag,
      summary: 'Read what the signing nodes attest about the key of an account',
      description:
        'Where each account has a key of its own, each node has signed that the key is bound to this account, wallet and client; elsewhere it is the key of the wallet, of which the account has a child. Verify the signatures with the public keys that the operators of the nodes have given you: see docs/integration.md.',
      middleware: [authenticate],
      answer: { status: 200, description: 'The statements and their signatures, as stored', schema: accountAttestationsView },
      fails: ['not_found'],
      handle: async (ctx) => {
        const found = await accounts.attestations(getCaller(ctx).clientId, resourceId(ctx, 'id'));
        ctx.body = presentAccountAttestations(found, nodeKeys);
      },
    },
    withoutId('/accounts/', tag, authenticate),
  ];
}
