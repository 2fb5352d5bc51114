import type { EntityManager } from 'typeorm';
import type { AuditAction } from '../../audit/log';
import type { GetFamily } from '../../chains/family';
import { findFeeLevels } from '../../chains/fee-levels';
import type { ChainDefinition, FeeLevels } from '../../chains/types';
import type { FailureCode } from '../../platform/codes';
import { type TransactionType, transferType } from '../../transactions/types';
import type { ParsedTransfer } from './request';
import type { TransferSource } from './source';

/** Why what a client asks for is not accepted. */
export const acceptanceFailures = [
  'insufficient_balance',
  'invalid_address',
  'address_blacklisted',
  'address_not_whitelisted',
  'wallet_not_active',
  'account_not_active',
  'address_differs',
  'business_error',
  'not_found',
  'unavailable',
  'reconcile_required',
  'outcome_unknown',
] as const satisfies FailureCode[];

/** What differs between what clients have signed, when it is accepted. */
export interface AcceptedKind {
  transactionType: TransactionType;
  action: AuditAction;
  /** What the bound of its fee depends on; absent: on nothing. Only reads. @throws GatewayError chain_unavailable. */
  readLevels?(manager: EntityManager, chain: ChainDefinition): Promise<FeeLevels>;
  /** Highest network fee that is to be held, atomic units of the native coin. `levels`: as read. */
  boundFee(
    manager: EntityManager,
    parsed: ParsedTransfer,
    source: TransferSource,
    levels: FeeLevels | undefined,
  ): Promise<bigint>;
  /** Stores what the row of the transaction does not say, after it. */
  store(manager: EntityManager, txId: string): Promise<unknown>;
  /** Whether a transaction with the same row is what the request asks for. */
  isSame(manager: EntityManager, txId: string): Promise<boolean>;
}

/** A payment that the gateway sends. */
export const toTransfer = ({ getFamily }: { getFamily: GetFamily }): AcceptedKind => ({
  transactionType: transferType,
  action: 'transfer.accepted',
  readLevels: findFeeLevels,
  boundFee: (manager, { request, chain, to, amount }, { account, token }, levels) =>
    getFamily(chain.family).bound(manager, {
      chain,
      source: { chain: chain.name, accountId: account.accountId, addressKey: account.addressKey },
      token,
      outputs: [{ recipient: to.address, tokenContract: token.contract, amount }],
      memo: request.memoOnChain && request.memo !== null ? request.memo : undefined,
      allowsProgram: request.allowsProgram,
      levels,
    }),
  store: () => Promise.resolve(),
  isSame: () => Promise.resolve(true),
});
