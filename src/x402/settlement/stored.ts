import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from 'typeorm';
import type { TransactionDescription, TransactionIntent } from '../../chains/types';
import { capSecond } from '../../platform/last-second';
import type { TransactionEntity } from '../../transactions/entity';

interface Row {
  payment: string;
  identity: string;
  authorised: string;
  amount: string;
  valid_after: string;
  window_end: string;
}

/** By scheme and type of the payload. */
const methods: Readonly<Record<string, string>> = {
  'exact eip3009': 'eip3009',
  'exact permit2': 'permit2_exact',
  'upto permit2': 'permit2_upto',
};

/**
 * A payment is settled once, and counts against limits, by the columns of its row; its bytes are built from the action in it.
 * @returns name of the first column that is not what the bytes say; null if all are
 */
export async function findDifference(
  manager: EntityManager,
  { txId }: Pick<TransactionEntity, 'txId'>,
  { action, outputs }: TransactionIntent,
  { settlement, expiresAt }: Pick<TransactionDescription, 'settlement' | 'expiresAt'>,
): Promise<string | null> {
  if (action?.type !== 'settlement') return 'action';
  const [row] = await manager.query<Row[]>(
    `select scheme || ' ' || payload_type as payment, identity, authorised::text, amount::text, valid_after::text, window_end::text
       from x402_settlements where tx_id = $1`,
    [txId],
  );
  const begin = BigInt(action.validAfter);
  const compared: Record<string, [stored: unknown, built: unknown]> = {
    method: [row && methods[row.payment], settlement?.method],
    identity: [row?.identity, settlement?.identity],
    authorised: [row?.authorised, settlement?.authorised.toString()],
    amount: [[row?.amount], outputs.map(({ amount }) => amount.toString())],
    valid_after: [row?.valid_after, capSecond(begin).toString()],
    window_end: [row?.window_end, expiresAt?.toString()],
  };
  return Object.keys(compared).find((column) => !isDeepStrictEqual(compared[column]?.[0], compared[column]?.[1])) ?? null;
}
