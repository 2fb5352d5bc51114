import { GatewayError, notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import { TransactionEntity } from '../transactions/entity';
import { type ExplainSources, explainTransaction, type TransactionReport } from './explain/transaction';
import type { Row } from './output';

/**
 * What `retry` or `abandon` would do to a transfer now, as `gateway explain` says it. Changes nothing.
 * @throws GatewayError not_found; business_error when the command would be refused, or nobody can say.
 */
export async function tryTransferAct(sources: ExplainSources, txId: string, act: 'retry' | 'abandon'): Promise<Row> {
  const tx = isUuid(txId) ? await sources.database.manager.findOneBy(TransactionEntity, { txId }) : null;
  if (!tx) throw notFound(`transaction ${txId}`);
  return toTried(await explainTransaction(sources, tx), act);
}

/** Of its report. @throws GatewayError business_error when the act is none of those that would be taken now. */
export function toTried({ transaction, state, workflow, actions }: TransactionReport, act: 'retry' | 'abandon'): Row {
  const { tx_id: txId } = transaction;
  const action = actions.find(({ name, by }) => name === act && by === 'operator');
  if (!action)
    throw new GatewayError(
      'business_error',
      `${act} would not be taken now: the transaction is ${state.status}. ${workflow.note}. \`gateway explain ${txId}\` says more`,
    );
  return { tx_id: txId, status: state.status, would: action.effect };
}
