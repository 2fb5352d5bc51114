import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from 'typeorm';
import { findPaymentMethod } from '../../chains/payment-methods';
import type { PayloadType, PaymentScheme } from '../../chains/payments';
import { capSecond } from '../../platform/last-second';
import type { TransactionEntity } from '../../transactions/entity';
import type { BuiltTransaction } from '../../transactions/signed-type';

interface Row {
  scheme: PaymentScheme;
  payloadType: PayloadType;
  identity: string;
  authorised: string;
  amount: string;
  valid_after: string;
  window_end: string;
}

/**
 * A payment is settled once, and counts against limits, by the columns of its row; its bytes are built from the action in it.
 * @returns name of the first column that is not what the bytes say; null if all are
 */
export async function findDifference(
  manager: EntityManager,
  { txId }: Pick<TransactionEntity, 'txId'>,
  { chain, intent: { action, outputs }, described: { settlement, expiresAt } }: BuiltTransaction,
): Promise<string | null> {
  if (action?.type !== 'settlement') return 'action';
  const [row] = await manager.query<Row[]>(
    `select scheme, payload_type as "payloadType", identity, authorised::text, amount::text, valid_after::text, window_end::text
       from x402_settlements where tx_id = $1`,
    [txId],
  );
  const begin = BigInt(action.validAfter);
  const compared: Record<string, [stored: unknown, built: unknown]> = {
    method: [row && findPaymentMethod(chain.family, row)?.settlementMethod(row.scheme), settlement?.method],
    identity: [row?.identity, settlement?.identity],
    authorised: [row?.authorised, settlement?.authorised.toString()],
    amount: [[row?.amount], outputs.map(({ amount }) => amount.toString())],
    valid_after: [row?.valid_after, capSecond(begin).toString()],
    window_end: [row?.window_end, expiresAt?.toString()],
  };
  return Object.keys(compared).find((column) => !isDeepStrictEqual(compared[column]?.[0], compared[column]?.[1])) ?? null;
}
