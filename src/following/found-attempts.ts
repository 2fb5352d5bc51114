import type { EntityManager } from 'typeorm';
import type { BlockTransaction } from '../chains/chain-client';
import type { AttemptKind, Hex } from '../chains/types';
import type { IntendedTransaction } from '../transactions/intent';
import type { TransactionType } from '../transactions/types';

/** Statement parameters at once: Postgres takes 65,535, and smaller arrays plan better. */
const chunkSize = 5_000;

const toChunks = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / chunkSize) }, (_, index) =>
    items.slice(index * chunkSize, (index + 1) * chunkSize),
  );

/** An attempt that a block holds, under the id `id`. */
export interface FoundAttempt {
  txId: string;
  attempt: number;
  id: string;
  kind: AttemptKind;
  unsigned: Hex;
  transaction: IntendedTransaction;
}

interface FoundRow {
  tx_id: string;
  attempt: number;
  id: string;
  kind: AttemptKind;
  unsigned: Hex;
  transaction_type: TransactionType;
  from_address: string;
  sender_address: string | null;
  to_address: string;
  contract_address: string | null;
  amount: string;
  memo: string | null;
  memo_on_chain: boolean;
}

/**
 * The attempts among these transactions, of which one may carry out several: by an id on record, and by their message, since a
 * signature session whose result never reached us gives an id that is not.
 */
export async function findAttemptsAmong(
  manager: EntityManager,
  chain: string,
  transactions: BlockTransaction[],
): Promise<FoundAttempt[]> {
  const byId = await queryFound(
    manager,
    `select f.id, i.tx_id, i.attempt from unnest($2::text[]) as f (id) join attempt_ids i on i.chain = $1 and i.id = f.id`,
    chain,
    toChunks(transactions).map((chunk) => [chunk.map(({ id }) => id)]),
  );
  const signedByUs = transactions.filter(({ messageKey }) => messageKey !== null);
  const byMessage = await queryFound(
    manager,
    `select f.id, i.tx_id, i.attempt from unnest($2::text[], $3::text[]) as f (id, message_key)
       join transfer_attempts i on i.chain = $1 and i.message_key = f.message_key`,
    chain,
    toChunks(signedByUs).map((chunk) => [chunk.map(({ id }) => id), chunk.map(({ messageKey }) => messageKey)]),
  );
  const found = [...byId, ...byMessage].map((attempt) => [`${attempt.id} ${attempt.txId} ${attempt.attempt}`, attempt] as const);
  return [...new Map(found).values()];
}

async function queryFound(manager: EntityManager, matches: string, chain: string, chunks: unknown[][]): Promise<FoundAttempt[]> {
  const pages = await Promise.all(
    chunks.map((parameters) =>
      manager.query<FoundRow[]>(
        `select m.id, a.tx_id, a.attempt, a.kind, a.unsigned, t.transaction_type, t.from_address, t.sender_address, t.to_address, t.contract_address,
                t.amount, t.memo, t.memo_on_chain
           from (${matches}) m join transfer_attempts a using (tx_id, attempt) join transactions t using (tx_id)`,
        [chain, ...parameters],
      ),
    ),
  );
  return pages.flat().map((row) => ({
    txId: row.tx_id,
    attempt: row.attempt,
    id: row.id,
    kind: row.kind,
    unsigned: row.unsigned,
    transaction: {
      txId: row.tx_id,
      transactionType: row.transaction_type,
      fromAddress: row.from_address,
      senderAddress: row.sender_address,
      toAddress: row.to_address,
      contractAddress: row.contract_address,
      amount: BigInt(row.amount),
      memo: row.memo,
      memoOnChain: row.memo_on_chain,
    },
  }));
}
