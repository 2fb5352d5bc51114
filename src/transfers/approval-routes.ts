import type { GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import { getCaller, getIdempotencyContext } from '../http/context';
import type { DocumentedMiddleware, Route } from '../http/route';
import { body, getBody, getQuery, query } from '../http/validate';
import { mfaFailures, toMfaRequest } from '../mfa/request';
import { toFilter } from '../transactions/filter';
import { toListPage } from '../transactions/list-page';
import type { TransactionService } from '../transactions/service';
import { presentApprovals } from './approval-presenter';
import { approvalPage, decideApprovals, decisionsView, listApprovals } from './approval-schema';
import type { Approvals } from './screen/approvals';

const tag = 'Approvals';

export interface ApprovalRoutes {
  approvals: Approvals;
  transactions: TransactionService;
  registry: ChainRegistry;
  getFamily: GetFamily;
  authenticate: DocumentedMiddleware;
  idempotent: DocumentedMiddleware;
}

export function approvalRoutes({ approvals, transactions, authenticate, idempotent, ...chains }: ApprovalRoutes): Route[] {
  return [
    {
      method: 'get',
      path: '/approvals',
      id: 'listApprovals',
      tag,
      summary: 'List transfers that wait for an approval, newest first',
      description: 'Filters, pages and cursor are those of GET /transactions.',
      middleware: [authenticate, query(listApprovals)],
      answer: { status: 200, description: 'One page', schema: approvalPage },
      fails: [],
      handle: async (ctx) => {
        const { page, page_size, after, ...filters } = getQuery(ctx, listApprovals);
        const filter = toFilter(chains, { ...filters, status: ['AWAITING_APPROVAL'] });
        const part = toListPage(filter, { page, page_size, after });
        ctx.body = presentApprovals(await transactions.list(getCaller(ctx).clientId, filter, part));
      },
    },
    {
      method: 'post',
      path: '/approvals',
      id: 'decideApprovals',
      tag,
      summary: 'Approve and reject transfers that are AWAITING_APPROVAL, up to 100 with one code',
      description:
        'Each decision is carried out or refused for itself, and `results` says which: the answer is 200 also when all of them were refused. An approval is that of POST /transactions/{tx_id}/approve. A rejected transfer is REJECTED with `approval_rejected`, and its funds are unlocked; who requested it may reject it too. A transfer that was decided in the same way before is no error. Any other answer than 200 means that nothing was decided, except 503 `outcome_unknown` and the 409 of a code that has decided the same before. Send an Idempotency-Key: a retry with the same key and body gets the first answer again.',
      middleware: [authenticate, body(decideApprovals), idempotent],
      answer: { status: 200, description: 'What became of each decision', schema: decisionsView },
      fails: [...mfaFailures, 'not_awaiting_approval', 'reconcile_required'],
      handle: async (ctx) => {
        const decisions = getBody(ctx, decideApprovals).decisions.map(({ tx_id: txId, decision }) => ({ txId, decision }));
        ctx.body = await approvals.decide(toMfaRequest(ctx), getIdempotencyContext(ctx), decisions);
      },
    },
  ];
}
