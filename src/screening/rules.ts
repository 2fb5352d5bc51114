import type { EntityManager } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import { LedgerAccountEntity } from '../ledger/entity';
import type { FailureCode } from '../platform/codes';
import { WalletEntity } from '../wallets/entity';

/** The data of a transfer that rules use. */
export interface ScreenedTransfer {
  txId: string;
  clientId: string;
  walletId: string;
  accountId: string;
  assetId: string;
  chain: string;
  toAddress: string;
  tokenSymbol: string;
  /** Atomic units. */
  amount: bigint;
}

export type RuleVerdict = { allowed: true } | { allowed: false; code: FailureCode; reason: string };

/**
 * A reason to stop a locked transfer before it is signed. Rules only read, in the caller's database transaction. The rule about
 * destinations is in destinations.ts.
 */
export interface ScreeningRule {
  name: string;
  check(manager: EntityManager, transfer: ScreenedTransfer): Promise<RuleVerdict>;
}

const allowed: RuleVerdict = { allowed: true };

const walletIsActive: ScreeningRule = {
  name: 'wallet is active',
  check: async (manager, { walletId, clientId }) => {
    const active = await manager.existsBy(WalletEntity, { walletId, clientId, status: 'ACTIVE' });
    return active ? allowed : { allowed: false, code: 'wallet_not_active', reason: 'The wallet is no longer active' };
  },
};

const accountIsActive: ScreeningRule = {
  name: 'account is active',
  check: async (manager, { accountId, clientId }) => {
    const active = await manager.existsBy(AccountEntity, { accountId, clientId, status: 'ACTIVE' });
    return active ? allowed : { allowed: false, code: 'account_not_active', reason: 'The account is no longer active' };
  },
};

const assetIsNotFrozen: ScreeningRule = {
  name: 'asset is not frozen',
  check: async (manager, { assetId: ledgerAccountId, tokenSymbol }) => {
    const { frozenReason } = await manager.findOneByOrFail(LedgerAccountEntity, { ledgerAccountId });
    if (frozenReason === null) return allowed;
    return { allowed: false, code: 'business_error', reason: `${tokenSymbol} is frozen for this account` };
  },
};

/** The rules in order; the first refusal counts. New rules are added here. */
export const screeningRules: readonly ScreeningRule[] = [walletIsActive, accountIsActive, assetIsNotFrozen];

/** The first refusal of all rules. */
export async function checkRules(manager: EntityManager, transfer: ScreenedTransfer): Promise<RuleVerdict> {
  for (const rule of screeningRules) {
    const verdict = await rule.check(manager, transfer);
    if (!verdict.allowed) return verdict;
  }
  return allowed;
}
