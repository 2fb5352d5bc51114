import { getCaller, getIdempotencyContext } from '../http/context';
import { presentPage, toLimitOffset } from '../http/pagination';
import { resourceId, withoutId } from '../http/resource-id';
import { locate } from '../http/router';
import type { Route, DocumentedMiddleware } from '../http/route';
import { body, getBody, query, getQuery } from '../http/validate';
import { presentAccount, presentListedAccount } from './presenter';
import { accountPage, accountView, createAccount, listAccounts } from './schema';
import type { AccountService } from './service';

const tag = 'Accounts';

export interface AccountRoutes {
  accounts: AccountService;
  authenticate: DocumentedMiddleware;
  idempotent: DocumentedMiddleware;
}

export function accountRoutes({ accounts, authenticate, idempotent }: AccountRoutes): Route[] {
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
      fails: ['wallet_not_active', 'not_found', 'address_differs', 'unavailable', 'outcome_unknown'],
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
        const { wallet_id: walletId, chain, ...page } = getQuery(ctx, listAccounts);
        const filter = { ...(walletId !== undefined && { walletId }), ...(chain !== undefined && { chain }) };
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
    withoutId('/accounts/', tag, authenticate),
  ];
}
