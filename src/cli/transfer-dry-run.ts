import { assertOrdersCompared } from '../orders/reconcile-required';
import { GatewayError } from '../platform/errors';
import { whyNotCancelledByOperator, whyRequestNotCancelled } from '../settlers/withdrawals/cancel';
import { findUnmade } from '../settlers/withdrawals/request';
import { type ExplainSources, explainTransaction, type TransactionReport } from './explain/transaction';
import { findTransfer } from './find-transfer';
import type { Row } from './output';

type Act = 'retry' | 'abandon' | 'cancel';

/**
 * What the command would do to a transfer now, as `gateway explain` says it. Changes nothing.
 * @throws GatewayError not_found; business_error when the command would be refused, or nobody can say.
 */
export async function tryTransferAct(sources: ExplainSources, txId: string, act: Act): Promise<Row> {
  const tx = await findTransfer(sources.database.manager, txId);
  const refused = act === 'cancel' ? whyNotCancelledByOperator(tx) : null;
  if (refused) throw refused;
  return toTried(await explainTransaction(sources, tx), act);
}

/** The same of `cancel`, also for a withdrawal that is asked for and not made. @throws GatewayError as tryTransferAct; reconcile_required. */
export async function tryCancel(sources: ExplainSources, txId: string): Promise<Row> {
  const { manager } = sources.database;
  await assertOrdersCompared(manager);
  const request = await findUnmade(manager, txId);
  if (!request) return tryTransferAct(sources, txId, 'cancel');
  const refused = whyRequestNotCancelled(request);
  if (refused) throw refused;
  const effect = 'It never gets a transaction, and holds nothing; another withdrawal of its settler can be asked for then';
  return { tx_id: txId, status: 'requested', would: effect };
}

/** Of its report. @throws GatewayError business_error when the act is none of those that would be taken now. */
export function toTried({ transaction, state, workflow, actions }: TransactionReport, act: Act): Row {
  const { tx_id: txId } = transaction;
  const action = actions.find(({ name, by }) => name === act && by === 'operator');
  if (!action)
    throw new GatewayError(
      'business_error',
      `${act} would not be taken now: the transaction is ${state.status}. ${workflow.note}. \`gateway explain ${txId}\` says more`,
    );
  return { tx_id: txId, status: state.status, would: action.effect };
}
