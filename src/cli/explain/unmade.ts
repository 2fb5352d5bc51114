import type { EntityManager } from 'typeorm';
import { areOrdersCompared } from '../../orders/reconcile-required';
import { isUuid } from '../../platform/ids';
import { formatAmount } from '../../platform/money';
import { whyRequestNotCancelled } from '../../settlers/withdrawals/cancel';
import type { Action } from './actions';
import { notCompared } from './state';
import type { ExplainSources } from './transaction';

export type UnmadeReport = NonNullable<Awaited<ReturnType<typeof explainUnmade>>>;

interface UnmadeRow {
  withdrawal_id: string;
  settler_id: string;
  chain: string;
  to_address: string;
  amount: string | null;
  operator: string;
  requested_at: Date;
  refused: string | null;
}

/** A withdrawal from a settler that has no transaction: not yet, or never. null: the id names none. Changes nothing. */
export async function explainUnmade({ database: { manager }, chains }: Pick<ExplainSources, 'database' | 'chains'>, id: string) {
  const row = isUuid(id) ? await findRow(manager, id) : undefined;
  if (!row) return null;
  const { chain, amount, refused } = row;
  const native = chains.find(({ name }) => name === chain)?.native;
  const isCompared = await areOrdersCompared(manager);
  const mayBeCancelled = isCompared && whyRequestNotCancelled({ settlerId: row.settler_id, refused }) === null;
  return {
    withdrawal: {
      ...{ tx_id: row.withdrawal_id, settler_id: row.settler_id, chain, to: row.to_address },
      amount: amount === null ? 'all' : native ? formatAmount(BigInt(amount), native.decimals) : `${amount} atomic units`,
      symbol: native?.symbol ?? null,
      ...{ requested_by: row.operator, requested_at: row.requested_at },
    },
    status: refused === null ? ('requested' as const) : ('refused' as const),
    why:
      refused === null
        ? [
            'An operator has asked for it, and no worker has made its transaction yet: nothing is locked.',
            isCompared ? due : notCompared,
          ]
        : [`It gets no transaction, and nothing is locked: ${refused}.`],
    actions: mayBeCancelled ? [cancel(row.withdrawal_id)] : [],
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

async function findRow(manager: EntityManager, id: string): Promise<UnmadeRow | undefined> {
  const [row] = await manager.query<UnmadeRow[]>(
    `select w.withdrawal_id, w.settler_id, s.chain, w.to_address, w.amount, w.operator, w.requested_at, w.refused
       from settler_withdrawals w join settlers s using (settler_id)
      where w.withdrawal_id = $1 and not exists (select from transactions t where t.tx_id = w.withdrawal_id)`,
    [id],
  );
  return row;
}
