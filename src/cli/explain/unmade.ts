import { areOrdersCompared } from '../../orders/reconcile-required';
import { formatAmount } from '../../platform/money';
import { whyRequestNotCancelled } from '../../settlers/withdrawals/cancel';
import { findUnmade } from '../../settlers/withdrawals/request';
import type { Action } from './actions';
import { notCompared } from './state';
import type { ExplainSources } from './transaction';

export type UnmadeReport = NonNullable<Awaited<ReturnType<typeof explainUnmade>>>;

/** A withdrawal from a settler that has no transaction: not yet, or never. null: the id names none. Changes nothing. */
export async function explainUnmade({ database: { manager }, chains }: Pick<ExplainSources, 'database' | 'chains'>, id: string) {
  const request = await findUnmade(manager, id);
  if (!request) return null;
  const { withdrawalId, chain, amount, refused } = request;
  const native = chains.find(({ name }) => name === chain)?.native;
  const isCompared = await areOrdersCompared(manager);
  const mayBeCancelled = isCompared && whyRequestNotCancelled(request) === null;
  return {
    withdrawal: {
      ...{ tx_id: withdrawalId, settler_id: request.settlerId, chain, to: request.toAddress },
      amount: amount === null ? 'all' : native ? formatAmount(amount, native.decimals) : `${amount} atomic units`,
      symbol: native?.symbol ?? null,
      ...{ requested_by: request.operator, requested_at: request.requestedAt },
    },
    status: refused === null ? ('requested' as const) : ('refused' as const),
    why:
      refused === null
        ? [
            'An operator has asked for it, and no worker has made its transaction yet: nothing is locked.',
            isCompared ? due : notCompared,
          ]
        : [`It gets no transaction, and nothing is locked: ${refused}.`],
    actions: mayBeCancelled ? [cancel(withdrawalId)] : [],
  };
}

const due =
  'A worker makes it within seconds. If that lasts, no worker runs, or it cannot be made for now, such as while the fees of the chain are not known: ' +
  'the log of the worker says why.';

const cancel = (id: string): Action => ({
  name: 'cancel',
  by: 'operator',
  command: `gateway transfers cancel ${id}`,
  effect: 'It never gets a transaction; another withdrawal of its settler can be asked for then',
});
