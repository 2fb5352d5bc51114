import type { EntityManager } from 'typeorm';
import { GatewayError } from '../../platform/errors';
import { TransactionEntity } from '../../transactions/entity';
import { isEnded } from '../../transactions/state';
import type { TransactionType } from '../../transactions/types';
import { findByKey } from '../accept/earlier';
import { redoKey } from '../accept/redone';

/** As may_be_redone in migrations/0086 has it. */
const maxDays = 30;

const otherTypes: Record<Exclude<TransactionType, 'OUTBOUND'>, string> = {
  INBOUND: 'it is a deposit, which others have sent',
  X402_SETTLE: 'it settles what its payer has signed: who was to be paid sends the payment to POST /x402/settle again',
  X402_SIGN: 'it authorises a payment that others send: its client asks for another authorisation by POST /x402/sign',
  CONSOLIDATION: 'it pays nobody: an operator begins another consolidation of the account',
  GAS_TOPUP: 'it serves a settlement, and ends with it',
  GAS_WITHDRAWAL: 'it is of the house: `gateway settlers withdraw` begins another one',
  GAS: 'it is what a settlement has cost',
};

const refuse = (why: string): GatewayError => new GatewayError('business_error', `The transaction is not redone: ${why}`);

/**
 * Why nobody makes another transfer in place of this one; null: the rules of POST /transfer decide. It has to have ended without paying, and so
 * that nothing which was signed for it can be executed any more. One that was redone before is not refused here.
 */
export async function whyNotRedone(manager: EntityManager, tx: TransactionEntity): Promise<GatewayError | null> {
  if (tx.transactionType !== 'OUTBOUND') return refuse(otherTypes[tx.transactionType]);
  if (tx.status === 'CONFIRMED') return refuse('it is CONFIRMED, and has paid');
  if (!isEnded(tx)) return refuse(`it is ${tx.status}, and may still pay`);
  if (tx.requestedBy === null)
    return refuse('who has requested it is not known, since it was rebuilt after a restore: its client sends it again');
  if (!(await meets(manager, 'ended_at > now() - make_interval(days => $2)', tx.txId, [maxDays])))
    return refuse(`it has ended more than ${maxDays} days ago: its client sends it again`);
  if (await meets(manager, 'may_be_redone(t)', tx.txId)) return null;
  return refuse('what was signed for it may still be executed: the block that ended it is not final yet, or is gone');
}

/** Whether the row meets the condition, which is SQL about `t`. */
async function meets(manager: EntityManager, condition: string, txId: string, values: unknown[] = []): Promise<boolean> {
  const rows = await manager.query<unknown[]>(`select from transactions t where tx_id = $1 and ${condition}`, [txId, ...values]);
  return rows.length > 0;
}

/** Its client, and the user who has requested it, whose credentials the API asks for with every request. @throws GatewayError business_error. */
export async function assertRequesterActive(manager: EntityManager, { clientId, requestedBy }: TransactionEntity): Promise<void> {
  const [row] = await manager.query<{ client: string; user: string | null }[]>(
    `select c.status as client, u.status as user from clients c
       left join users u on u.client_id = c.client_id and u.user_id = $2 where c.client_id = $1`,
    [clientId, requestedBy],
  );
  if (row?.client !== 'ACTIVE') throw refuse('its client is disabled');
  if (row.user !== 'ACTIVE') throw refuse('the user who has requested it is disabled');
}

/**
 * The transfer that stands in the place of this one: linked, or of the key that redoes it, whether its client has sent it before this one could
 * be redone or it was rebuilt after a restore. What the key has made of something else stands in its place for nobody.
 */
export async function findRedo(manager: EntityManager, tx: TransactionEntity): Promise<TransactionEntity | null> {
  const linked = await manager.findOneBy(TransactionEntity, { retryOf: tx.txId });
  if (linked) return linked;
  const byKey = await findByKey(manager, tx.clientId, redoKey(tx.txId));
  return byKey && paysTheSame(byKey, tx) ? byKey : null;
}

const paysTheSame = (one: TransactionEntity, other: TransactionEntity): boolean =>
  one.transactionType === other.transactionType &&
  one.accountId === other.accountId &&
  one.assetId === other.assetId &&
  one.amount === other.amount &&
  one.toAddress === other.toAddress;
