import type { DataSource } from 'typeorm';
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

/** A reason to stop a locked transfer before it is signed. Rules only read. The rule about destinations is in destinations.ts. */
export interface ScreeningRule {
  name: string;
  check(transfer: ScreenedTransfer): Promise<RuleVerdict>;
}

const allowed: RuleVerdict = { allowed: true };

/** The rules in order; the first refusal counts. New rules are added here. */
export function screeningRules(database: DataSource): ScreeningRule[] {
  return [walletIsActive(database), accountIsActive(database), assetIsNotFrozen(database)];
}

const walletIsActive = (database: DataSource): ScreeningRule => ({
  name: 'wallet is active',
  check: async ({ walletId, clientId }) => {
    const active = await database.manager.existsBy(WalletEntity, { walletId, clientId, status: 'ACTIVE' });
    return active ? allowed : { allowed: false, code: 'wallet_not_active', reason: 'The wallet is no longer active' };
  },
});

const accountIsActive = (database: DataSource): ScreeningRule => ({
  name: 'account is active',
  check: async ({ accountId, clientId }) => {
    const active = await database.manager.existsBy(AccountEntity, { accountId, clientId, status: 'ACTIVE' });
    return active ? allowed : { allowed: false, code: 'account_not_active', reason: 'The account is no longer active' };
  },
});

const assetIsNotFrozen = (database: DataSource): ScreeningRule => ({
  name: 'asset is not frozen',
  check: async ({ assetId: ledgerAccountId, tokenSymbol }) => {
    const { frozenReason } = await database.manager.findOneByOrFail(LedgerAccountEntity, { ledgerAccountId });
    if (frozenReason === null) return allowed;
    return { allowed: false, code: 'business_error', reason: `${tokenSymbol} is frozen for this account` };
  },
});
