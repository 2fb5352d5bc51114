import type { LiveStatus } from '../messages/progress';
import { type FailureCode, failureCodes } from '../platform/codes';
import { formatAmount } from '../platform/money';
import type { TransactionEntity } from './entity';
import type { TransactionDetailView, TransactionPageView, TransactionView } from './schema';
import type { ListedTransaction, ListedTransactions, LiveTransaction } from './service';

/** The fields that the presentation needs; events have no others. */
type PresentableTransaction = Pick<
  TransactionEntity,
  | 'txId'
  | 'walletId'
  | 'clientId'
  | 'chain'
  | 'transactionType'
  | 'fromAddress'
  | 'toAddress'
  | 'tokenSymbol'
  | 'amount'
  | 'decimals'
  | 'status'
  | 'txHash'
  | 'externalId'
  | 'retryOf'
  | 'createdAt'
>;

const presentTransaction = (tx: PresentableTransaction): TransactionView => ({
  tx_id: tx.txId,
  wallet_id: tx.walletId,
  client_id: tx.clientId,
  chain: tx.chain,
  transaction_type: tx.transactionType,
  from_address: tx.fromAddress,
  to_address: tx.toAddress,
  token_symbol: tx.tokenSymbol,
  amount: formatAmount(tx.amount, tx.decimals),
  status: tx.status,
  tx_hash: tx.txHash,
  external_id: tx.externalId,
  retry_of: tx.retryOf,
  created_at: tx.createdAt.toISOString(),
});

/** With the gateway's own address only where the signing nodes attest it. */
export const presentListedTransaction = ({
  tx,
  isOwnAddress,
}: Omit<ListedTransaction, 'tx'> & { tx: PresentableTransaction & Pick<TransactionEntity, 'direction'> }): TransactionView => ({
  ...presentTransaction(tx),
  ...(!isOwnAddress && (tx.direction === 'in' ? { to_address: null } : { from_address: null })),
});

export const presentTransactions = ({ rows, total, isExact, hasMore, next }: ListedTransactions): TransactionPageView => ({
  data: rows.map(presentListedTransaction),
  total,
  total_is_exact: isExact,
  has_more: hasMore,
  next,
});

export function presentTransactionDetails({ details, isOwnAddress, live }: LiveTransaction): TransactionDetailView {
  const { tx, timeline, blockNumber, headBlock } = details;
  return {
    ...presentListedTransaction({ tx, isOwnAddress }),
    memo: tx.memo,
    asset_id: tx.assetId,
    account_id: tx.accountId,
    fee:
      tx.fee !== null && tx.feeSymbol !== null && tx.feeDecimals !== null
        ? { amount: formatAmount(tx.fee, tx.feeDecimals), symbol: tx.feeSymbol }
        : null,
    confirmations: countConfirmations(blockNumber, headBlock),
    required_confirmations: tx.requiredConfirmations,
    block_number: blockNumber === null ? null : Number(blockNumber),
    failure: presentFailure(tx),
    approval: tx.approvalExpiresAt && {
      expires_at: tx.approvalExpiresAt.toISOString(),
      approved_by: tx.approvedBy,
      approved_at: tx.approvedAt?.toISOString() ?? null,
    },
    screening: tx.screeningNote === null ? null : { code: 'address_blacklisted', message: tx.screeningNote },
    timeline: timeline.map(({ status, at }) => ({ status, at: at.toISOString() })),
    updated_at: tx.updatedAt.toISOString(),
    live: live && { step: live.step, attempt: live.attempt, detail: presentDetail(tx, live) },
  };
}

type Failed = Pick<TransactionEntity, 'status' | 'failureCode' | 'failureMessage'>;

/**
 * What a client reads of a failure. Why a transaction is parked is for operators: it may name signing nodes, endpoints and their words. Its client
 * gets the code with a sentence of its own.
 */
export const presentFailure = ({
  status,
  failureCode: code,
  failureMessage,
}: Failed): { code: FailureCode; message: string } | null =>
  code === null ? null : { code, message: status === 'NEEDS_ATTENTION' ? parkedSentence(code) : (failureMessage ?? '') };

const toDecide = 'An operator of the gateway has to decide';
const parkedSentence = (code: FailureCode): string => `${failureCodes[code].title}. ${toDecide}`;

/** Steps whose words a client reads: they have none of a node, an endpoint or an operator. */
const toldSteps: ReadonlySet<string> = new Set([
  ...['lock', 'screen', 'ask', 'resume', 'confirm', 'settle', 'abandon', 'proveAgain', 'failByProof'],
]);
/** What a client reads of the others, which also say for operators what was answered to them. */
const saidOfSteps: ReadonlyMap<string, string> = new Map([
  ['prepare', 'Its fee is found out, and signing is ordered'],
  ['sponsor', 'The approval of the payer comes first'],
  ['sign', 'Two signing nodes are asked to sign'],
  ['broadcast', 'What was signed is sent to the chain'],
  // the row was read before it was parked
  ['park', toDecide],
]);

function presentDetail({ status, failureCode }: Failed, { step, detail }: LiveStatus): string {
  if (status === 'NEEDS_ATTENTION' && failureCode !== null) return parkedSentence(failureCode);
  return toldSteps.has(step) ? detail : (saidOfSteps.get(step) ?? '');
}

/** Inclusion is depth 1, also while the follower's stored head lags behind the block. */
function countConfirmations(block: bigint | null, head: bigint | null): number {
  if (block === null) return 0;
  return head === null || head < block ? 1 : Number(head - block) + 1;
}
