import { callerOf, creationOf } from '../http/context';
import { presentPage, sliceOf } from '../http/pagination';
import { resourceId, withoutId } from '../http/resource-id';
import { locate } from '../http/router';
import type { Route, Step } from '../http/steps';
import { body, bodyOf, query, queryOf } from '../http/validate';
import { presentAccount } from './presenter';
import { accountPage, accountView, createAccount, listAccounts } from './schema';
import type { AccountService } from './service';

const tag = 'Accounts';

export interface AccountRoutes {
  accounts: AccountService;
  authenticate: Step;
  idempotent: Step;
}

export function accountRoutes({ accounts, authenticate, idempotent }: AccountRoutes): Route[] {
  return [
    {
      method: 'post',
      path: '/accounts',
      id: 'createAccount',
      tag,
      summary: 'Create an account: an address on a chain',
      description: 'The wallet has to be ACTIVE. An EVM account holds assets on every EVM chain.',
      steps: [authenticate, body(createAccount), idempotent],
      answer: { status: 201, description: 'The account', schema: accountView, location: true },
      fails: ['wallet_not_active', 'not_found', 'unavailable'],
      handle: async (ctx) => {
        const account = await accounts.create(callerOf(ctx), creationOf(ctx), ctx.state.requestId, bodyOf(ctx, createAccount));
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
      steps: [authenticate, query(listAccounts)],
      answer: { status: 200, description: 'One page', schema: accountPage },
      fails: [],
      handle: async (ctx) => {
        const { wallet_id: walletId, chain, ...page } = queryOf(ctx, listAccounts);
        const filter = { ...(walletId !== undefined && { walletId }), ...(chain !== undefined && { chain }) };
        const [rows, total] = await accounts.list(callerOf(ctx).clientId, filter, sliceOf(page));
        ctx.body = presentPage(rows, total, page, presentAccount);
      },
    },
    {
      method: 'get',
      path: '/accounts/:id',
      id: 'getAccount',
      tag,
      summary: 'Read an account',
      steps: [authenticate],
      answer: { status: 200, description: 'The account', schema: accountView },
      fails: ['not_found'],
      handle: async (ctx) => {
        ctx.body = presentAccount(await accounts.get(callerOf(ctx).clientId, resourceId(ctx, 'id')));
      },
    },
    withoutId('/accounts/', tag, authenticate),
  ];
}
