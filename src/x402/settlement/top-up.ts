import type { EntityManager } from 'typeorm';
import { isBlacklisted } from '../../screening/destinations';
import type { TransactionEntity } from '../../transactions/entity';
import { toPayment } from '../../transactions/intent';
import type { SignedType } from '../../transactions/signed-type';
import { isEnded, findTransaction } from '../../transactions/state';
import { toDestination } from '../../transfers/destination';
import { refuse, refuseByRule } from '../../transfers/sign/not-begun';
import { getAccount } from '../../transfers/sign/signers';
import { payerListedReason } from './fund-payer';
import { findParent } from './rebuild-top-up';
import { minLeftMs, settlementTimeLeft } from './time-left';

/** Coins of the house for the fee of an approval that a payer has signed; of use only before its settlement. */
export const topUp: SignedType = {
  orderKind: 'gas',
  loadIntent: (_manager, transaction) => Promise.resolve(toPayment(transaction)),
  findSigner: getAccount,
  // nobody is asked about coins that can never move: its settlement ends then, and other coins are not given for it
  rules: { stuck: 'replace', expired: 'fail', abandoned: 'cancel' },
  assertMayBegin: async (manager, transaction) => {
    await assertIsNeeded(manager, transaction);
    await assertNotListed(manager, transaction);
  },
  assertMayContinue: assertIsNeeded,
  timeLeft,
  prepareRebuild: findParent,
};

async function assertIsNeeded(manager: EntityManager, transaction: TransactionEntity): Promise<void> {
  if ((await timeLeft(manager, transaction)) < minLeftMs)
    refuse('expired', 'There is too little time left for the approval and its settlement');
}

/** The client for whom it is given has not listed the payer; the house has no lists. */
async function assertNotListed(manager: EntityManager, transaction: TransactionEntity): Promise<void> {
  const { clientId } = await findTransaction(manager, getParent(transaction));
  if (await isBlacklisted(manager, { ...toDestination(transaction), clientId }))
    refuseByRule('address_blacklisted', payerListedReason);
}

/** None once its settlement has ended, or was lost with a database: its nonce is not kept for coins that nobody needs. */
async function timeLeft(manager: EntityManager, { parentTxId }: TransactionEntity): Promise<number> {
  if (parentTxId === null) return 0;
  return isEnded(await findTransaction(manager, parentTxId)) ? 0 : settlementTimeLeft(manager, parentTxId);
}

function getParent({ txId, parentTxId }: TransactionEntity): string {
  if (parentTxId === null) throw new Error(`top-up ${txId} serves no settlement`);
  return parentTxId;
}
