import type { FailureCode } from '../platform/codes';
import { formatAmount } from '../platform/money';
import { presentFailure, presentListedTransaction } from '../transactions/presenter';
import type { TransactionStatus } from '../transactions/entity';
import { type TransactionType, transactionTypes } from '../transactions/types';
import { unverifiedWallet } from '../wallets/presenter';

/** Kinds of events endpoints can subscribe to. webhook.test is sent to the tested endpoint only, independent of its subscription. */
export const eventKinds = [
  'wallet.active',
  'transaction.created',
  'transaction.updated',
  'transaction.needs_attention',
  'deposit.detected',
  'deposit.confirmed',
  'security_factor.changed',
  'webhook.disabled',
] as const;
export type EventKind = (typeof eventKinds)[number] | 'webhook.test';

const transactionKinds: readonly EventKind[] = [
  'transaction.created',
  'transaction.updated',
  'transaction.needs_attention',
  'deposit.detected',
  'deposit.confirmed',
];

/** Such an event shows an address of the gateway, whatever its row says beside. */
export const isOfTransaction = (kind: EventKind): boolean => transactionKinds.includes(kind);

/** What the other events show; anything else in their rows is left out. */
const shownFields: Partial<Record<EventKind, readonly string[]>> = {
  'wallet.active': [
    ...['wallet_id', 'client_id', 'wallet_name', 'description', 'external_id'],
    ...['status', 'key_status', 'created_at', 'updated_at'],
  ],
  'security_factor.changed': [
    ...['factor_id', 'factor_type', 'chain', 'address', 'label', 'reason', 'status', 'added_by', 'created_at', 'updated_at'],
    'change',
  ],
  'webhook.disabled': ['webhook_id', 'url', 'reason', 'disabled_at'],
  'webhook.test': ['webhook_id', 'message'],
};

/** A row of the outbox. */
export interface StoredEvent {
  kind: EventKind;
  snapshot: Record<string, unknown>;
  createdAt: Date;
}

/** The format of enqueue_transaction_event(): amounts as text in atomic units. */
export interface TransactionSnapshot {
  tx_id: string;
  wallet_id: string | null;
  client_id: string;
  chain: string;
  transaction_type: TransactionType;
  from_address: string;
  to_address: string;
  token_symbol: string;
  decimals: number;
  amount: string;
  status: TransactionStatus;
  tx_hash: string | null;
  created_at: string;
  updated_at: string;
  memo: string | null;
  /** This one and the next are absent in events that are older than they are. */
  external_id?: string | null;
  retry_of?: string | null;
  fee: string | null;
  fee_symbol: string | null;
  fee_decimals: number | null;
  failure_code: FailureCode | null;
  failure_message: string | null;
  version: number;
}

/**
 * Body of a delivery: the same bytes at every attempt. `timestamp` is the time of the event.
 * @param isAttested by the signing nodes: an address or a wallet's key that is not is not shown, as in answers of the API
 */
export function toPayload({ kind, snapshot, createdAt }: StoredEvent, isAttested: boolean): string {
  const data = isOfTransaction(kind)
    ? presentSnapshot(snapshot as unknown as TransactionSnapshot, isAttested)
    : {
        // absent in events that are older than it
        ...(kind === 'wallet.active' && { external_id: null }),
        ...presentTimes(shown(kind, snapshot)),
        ...(!isAttested && unverifiedWallet),
      };
  return JSON.stringify({ type: kind, timestamp: createdAt.toISOString(), data });
}

/** The transaction in the format of the API at the time of the event; `sequence` counts its state changes. */
function presentSnapshot(tx: TransactionSnapshot, isOwnAddress: boolean): Record<string, unknown> {
  const { direction } = transactionTypes[tx.transaction_type];
  return {
    ...presentListedTransaction({
      isOwnAddress,
      tx: {
        direction,
        txId: tx.tx_id,
        walletId: tx.wallet_id,
        clientId: tx.client_id,
        chain: tx.chain,
        transactionType: tx.transaction_type,
        fromAddress: tx.from_address,
        toAddress: tx.to_address,
        tokenSymbol: tx.token_symbol,
        amount: BigInt(tx.amount),
        decimals: tx.decimals,
        status: tx.status,
        txHash: tx.tx_hash,
        externalId: tx.external_id ?? null,
        retryOf: tx.retry_of ?? null,
        createdAt: new Date(tx.created_at),
      },
    }),
    memo: tx.memo,
    fee:
      tx.fee !== null && tx.fee_symbol !== null && tx.fee_decimals !== null
        ? { amount: formatAmount(BigInt(tx.fee), tx.fee_decimals), symbol: tx.fee_symbol }
        : null,
    failure: presentFailure({ status: tx.status, failureCode: tx.failure_code, failureMessage: tx.failure_message }),
    updated_at: new Date(tx.updated_at).toISOString(),
    sequence: tx.version,
  };
}

const shown = (kind: EventKind, snapshot: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(snapshot).filter(([field]) => shownFields[kind]?.includes(field)));

/** Converts times from the format of Postgres (microseconds and an offset) to that of the API (milliseconds and Z). */
function presentTimes(snapshot: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(snapshot).map(([field, value]) => [
      field,
      field.endsWith('_at') && typeof value === 'string' ? new Date(value).toISOString() : value,
    ]),
  );
}
