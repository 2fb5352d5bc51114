import type { EntityManager } from 'typeorm';
import type { TransactionEntity } from '../../transactions/entity';
import { toPayment } from '../../transactions/intent';
import type { SignedType } from '../../transactions/signed-type';
import { refuse } from '../../transfers/sign/not-begun';
import { getAccount } from '../../transfers/sign/signers';
import { rebuildRequest } from './rebuild';

/** Coins of a drained settler, to where an operator has asked for. Whether they may go there, each signing node decides by its own file. */
export const withdrawal: SignedType = {
  orderKind: 'withdrawal',
  loadIntent: (_manager, transaction) => Promise.resolve(toPayment(transaction)),
  findSigner: getAccount,
  assertMayBegin: async (manager, transaction) => {
    if ((await readRequested(manager, transaction)) !== 'idle')
      refuse('business_error', 'No operator has asked for it, or something else of the settler is open');
  },
  assertMayContinue: async (manager, transaction) => {
    if ((await readRequested(manager, transaction)) === null) refuse('business_error', 'No operator has asked for it');
  },
  timeLeft: () => Promise.resolve(null),
  prepareRebuild: rebuildRequest,
};

/** null: no operator has asked for this; `idle`: and nothing else of the settler is open. */
async function readRequested(
  manager: EntityManager,
  { txId, chain, accountId, toAddress, contractAddress, amount }: TransactionEntity,
): Promise<'idle' | 'busy' | null> {
  const [row] = await manager.query<{ is_idle: boolean }[]>(
    `select settler_is_idle(s.settler_id, w.withdrawal_id) as is_idle from settler_withdrawals w join settlers s using (settler_id)
      where w.withdrawal_id = $1 and w.refused is null and (s.chain, s.account_id, w.to_address) = ($2, $3::uuid, $4)
        and $5::text is null and $6::numeric = coalesce(w.amount, $6::numeric)`,
    [txId, chain, accountId, toAddress, contractAddress, amount.toString()],
  );
  if (!row) return null;
  return row.is_idle ? 'idle' : 'busy';
}
