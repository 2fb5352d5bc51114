import type { EntityManager } from 'typeorm';
import { auditUser } from '../../audit/log';
import type { GetFamily } from '../../chains/family';
import type { Payment } from '../../chains/payments';
import { toSettlementAction } from '../../chains/settlement-action';
import { enqueue } from '../../outbox/outbox';
import { allInOrder } from '../../platform/all-in-order';
import { capSecond } from '../../platform/last-second';
import { formatAmount } from '../../platform/money';
import { changeState } from '../../transactions/state';
import { TransactionEntity } from '../../transactions/entity';
import { settlementType } from '../../transactions/types';
import type { PaymentKey } from './claimed';

/** Who asked for a settlement, and for which. */
export interface NewSettlement {
  txId: string;
  clientId: string;
  userId: string;
  requestId: string;
  version: 1 | 2;
  scheme: 'exact' | 'upto';
  key: PaymentKey;
  payment: Payment;
  /** Address of the settler that sends it, in the form shown to clients. */
  sender: string;
  /** What it may cost; atomic units of the native coin. */
  gasBound: bigint;
  /** What the payer lacks for its approval, where it brings one; atomic units of the native coin. */
  topUp: bigint;
  /** What it may cost to send that; atomic units of the native coin. */
  topUpFeeBound: bigint;
}

/**
 * Stores that the client has a payment settled: its transaction, what it settles, and the order to start its workflow. Of nothing,
 * nothing is sent: such a settlement is confirmed at once, and has used the payment up all the same.
 * @throws a unique violation of x402_settlements when the payment has a settlement.
 */
export async function claimPayment(manager: EntityManager, getFamily: GetFamily, settlement: NewSettlement): Promise<void> {
  const { txId, clientId, payment } = settlement;
  const { chain, amount } = payment;
  await manager.insert(TransactionEntity, toRow(settlement, getFamily));
  await allInOrder([
    insertSettlement(manager, settlement),
    ...(findApproval(payment) ? [insertApproval(manager, settlement)] : []),
    recordAccepted(manager, settlement),
    amount === 0n
      ? changeState(manager, { txId, version: 0 }, 'CONFIRMED')
      : enqueue(manager, { kind: 'start_transfer', subjectId: txId, clientId, chain: chain.name }),
  ]);
}

function toRow({ txId, clientId, userId, requestId, payment, sender }: NewSettlement, getFamily: GetFamily) {
  const { chain, token, payer, payTo, amount } = payment;
  return {
    ...{ txId, clientId, chain: chain.name, transactionType: settlementType },
    ...{ fromAddress: payer, senderAddress: sender, toAddress: payTo },
    toAddressKey: getFamily(chain.family).parseAddress(payTo)?.key ?? null,
    ...{ tokenSymbol: token.symbol, contractAddress: token.contract, decimals: token.decimals, amount },
    ...{ feeSymbol: chain.native.symbol, feeDecimals: chain.native.decimals, feeLocked: 0n },
    ...{ status: 'PENDING' as const, version: 0, requiredConfirmations: chain.confirmations },
    ...{ requestedBy: userId, requestId },
  };
}

function insertSettlement(manager: EntityManager, settlement: NewSettlement): Promise<unknown> {
  const { txId, clientId, version, scheme, key, payment, gasBound } = settlement;
  const { authorised, amount, validAfter, lastSecond, sponsoring } = payment;
  const sponsored = findApproval(payment) ? 'erc20_approval' : sponsoring.type === 'deployment' ? 'deployment' : 'none';
  return manager.query(
    `insert into x402_settlements (tx_id, client_id, chain, scheme, payload_type, identity, request_hash, payment_id, version, authorised,
       amount, valid_after, window_end, action, sponsoring, gas_bound)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    [
      ...[txId, clientId, key.chain, scheme, key.payloadType, key.identity, key.requestHash, key.paymentId, version],
      ...[authorised.toString(), amount.toString(), validAfter.toString()],
      capSecond(lastSecond).toString(),
      JSON.stringify(toSettlementAction(payment)),
      sponsoring.type === 'permit' ? 'eip2612' : sponsored,
      gasBound.toString(),
    ],
  );
}

/** Of nothing, nothing is sent: no approval either. */
const findApproval = ({ sponsoring, amount }: Payment) => (sponsoring.type === 'approval' && amount > 0n ? sponsoring : null);

async function insertApproval(manager: EntityManager, settlement: NewSettlement): Promise<void> {
  const { txId, clientId, payment, topUp, topUpFeeBound } = settlement;
  const approval = findApproval(payment);
  if (!approval) return;
  const { chain, token, payer } = payment;
  await manager.query(
    `insert into x402_approvals (tx_id, client_id, chain, contract_address, payer, raw, tx_hash, nonce, top_up, fee_bound)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      ...[txId, clientId, chain.name, token.contract, payer, approval.raw, approval.id, approval.nonce],
      ...[topUp.toString(), topUpFeeBound.toString()],
    ],
  );
}

function recordAccepted(manager: EntityManager, { txId, clientId, userId, requestId, payment }: NewSettlement): Promise<void> {
  const { chain, token, payer, payTo, amount } = payment;
  return auditUser(
    manager,
    { clientId, userId },
    {
      action: 'settlement.accepted',
      subject: { type: 'transaction', id: txId },
      detail: {
        chain: chain.name,
        symbol: token.symbol,
        amount: formatAmount(amount, token.decimals),
        ...{ from_address: payer, to_address: payTo },
      },
      requestId,
    },
  );
}
