import { loadRegistry } from '../../src/chains/registry';
import { transferWorkflowId } from '../../src/messages/workflow-ids';
import { gatewayQuery } from '../adversary/processes';
import { paidChain } from '../e2e/payers';
import { waitFor } from '../stack/client';
import { withTemporal } from '../stack/temporal';

/** Of a settlement, and of its workflow. */
const endMs = 180_000;

/** After it an attempt that no block takes is replaced, and so is its replacement: on a busy machine before the round is over. */
const { stuckAfterMs } = loadRegistry('local', [paidChain]).get(paidChain);

/** What the gateway has stored of a settlement that has ended. */
export interface Row {
  status: string;
  failure_code: string | null;
  /**
   * Their kinds, in their order, without those that took the place of one of their kind after its time; `executed`: of those that
   * a block has, which are all named.
   */
  attempts: string[];
  executed: string[];
  /** How often the settler was charged for it. */
  charges: number;
  is_released: boolean;
  /** Its workflow. */
  is_over: boolean;
}

/** Settlements that pay this address, once they and their workflows have ended; as they are, if they do not. */
export async function settlementsTo(payTo: string): Promise<Row[]> {
  const read = () =>
    gatewayQuery<Omit<Row, 'is_over'> & { tx_id: string; is_ended: boolean }>(
      `select t.tx_id, t.ended_at is not null as is_ended, t.status, t.failure_code, s.released_at is not null as is_released,
              array(select a.kind from transfer_attempts a where a.tx_id = t.tx_id and not exists (
                select from transfer_attempts b where b.tx_id = a.tx_id and b.attempt = a.attempt - 1 and b.kind = a.kind
                  and a.signing_begun_at >= b.signing_begun_at + make_interval(secs => $2)) order by a.attempt) as attempts,
              array(select a.kind from transfer_attempts a where a.tx_id = t.tx_id and a.block_number is not null order by a.attempt)
                as executed,
              (select count(*)::int from transactions g where g.parent_tx_id = t.tx_id and g.transaction_type = 'GAS') as charges
         from transactions t join x402_settlements s using (tx_id) where t.to_address = $1`,
      [payTo, stuckAfterMs / 1_000],
    );
  await waitFor(async () => (await read()).every((row) => row.is_ended), { timeoutMs: endMs }).catch(() => undefined);
  return Promise.all(
    (await read()).map(async ({ tx_id: txId, is_ended: _, ...row }) => ({ ...row, is_over: await isOver(txId) })),
  );
}

/** Once it is; a workflow that does not end is one whose last step was not safe to repeat. */
const isOver = (txId: string): Promise<boolean> =>
  withTemporal(async ({ workflow }) => {
    const hasEnded = async () => (await workflow.getHandle(transferWorkflowId(txId)).describe()).status.name !== 'RUNNING';
    return waitFor(hasEnded, { timeoutMs: endMs }).catch(() => false);
  });

export const confirmed: Row = {
  ...{ status: 'CONFIRMED', failure_code: null, attempts: ['first'], executed: ['first'], charges: 1 },
  ...{ is_released: false, is_over: true },
};
