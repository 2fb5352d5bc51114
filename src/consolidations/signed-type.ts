import type { EntityManager } from 'typeorm';
import type { GatherRequest } from '../chains/types';
import type { TransactionEntity } from '../transactions/entity';
import { toPayment } from '../transactions/intent';
import type { SignedType } from '../transactions/signed-type';
import { refuseByRule } from '../transfers/sign/not-begun';
import { getAccount } from '../transfers/sign/signers';
import { toScreened } from '../transfers/destination';
import { checkRules } from '../screening/rules';

/** Joins small outputs of an account, on chains whose balances consist of outputs: nothing leaves it but the fee. */
export const consolidation: SignedType = {
  orderKind: 'consolidation',
  feeIsFixed: true,
  loadIntent: async (manager, transaction) => {
    const gather = await findRequest(manager, transaction.txId);
    return { ...toPayment(transaction), ...(gather && { gather }) };
  },
  findSigner: getAccount,
  assertMayBegin: assertIsAllowed,
  assertMayContinue: () => Promise.resolve(),
  timeLeft: () => Promise.resolve(null),
  // which outputs were asked for is not in the bytes: the first attempt has them
  rebuild: (manager, { txId }) => insertConsolidation(manager, txId, null),
};

/** It has no destination: lists and limits of the client say nothing about it. */
async function assertIsAllowed(manager: EntityManager, transaction: TransactionEntity): Promise<void> {
  const rule = await checkRules(manager, toScreened(transaction));
  if (!rule.allowed) refuseByRule(rule.code, rule.reason);
}

/** Which outputs are joined; null: of a rebuilt transaction, whose first attempt says it. */
async function findRequest(manager: EntityManager, txId: string): Promise<GatherRequest | null> {
  const [row] = await manager.query<{ max_inputs: number | null; below: string | null }[]>(
    'select max_inputs, below from consolidations where tx_id = $1',
    [txId],
  );
  return row?.max_inputs && row.below ? { maxInputs: row.max_inputs, below: BigInt(row.below) } : null;
}

export async function insertConsolidation(manager: EntityManager, txId: string, request: GatherRequest | null): Promise<void> {
  await manager.query('insert into consolidations (tx_id, max_inputs, below) values ($1, $2, $3)', [
    txId,
    request?.maxInputs ?? null,
    request?.below.toString() ?? null,
  ]);
}
