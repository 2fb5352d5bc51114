import type { EntityManager } from 'typeorm';
import type { TransactionEntity } from '../../transactions/entity';
import { toPayment } from '../../transactions/intent';
import type { SignedType } from '../../transactions/signed-type';
import { isEnded, findTransaction } from '../../transactions/state';
import { refuse } from '../../transfers/not-begun';
import { getAccount } from '../../transfers/signers';
import { minLeftMs, settlementTimeLeft } from './time-left';

/** Coins of the house for the fee of an approval that a payer has signed; of use only before its settlement. */
export const topUp: SignedType = {
  orderKind: 'gas',
  loadIntent: (_manager, transaction) => Promise.resolve(toPayment(transaction)),
  findSigner: getAccount,
  // nobody is asked about coins that can never move: its settlement ends then, and other coins are not given for it
  rules: { stuck: 'replace', expired: 'fail', giveUp: 'cancel' },
  assertMayBegin: assertIsNeeded,
  assertMayContinue: assertIsNeeded,
  timeLeft,
};

async function assertIsNeeded(manager: EntityManager, transaction: TransactionEntity): Promise<void> {
  if ((await timeLeft(manager, transaction)) < minLeftMs)
    refuse('expired', 'There is too little time left for the approval and its settlement');
}

/** None once its settlement has ended: its nonce is not kept for coins that nobody needs. */
async function timeLeft(manager: EntityManager, transaction: TransactionEntity): Promise<number> {
  const parentTxId = getParent(transaction);
  return isEnded(await findTransaction(manager, parentTxId)) ? 0 : settlementTimeLeft(manager, parentTxId);
}

function getParent({ txId, parentTxId }: TransactionEntity): string {
  if (parentTxId === null) throw new Error(`top-up ${txId} serves no settlement`);
  return parentTxId;
}
