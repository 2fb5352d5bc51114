import type { EntityManager } from 'typeorm';
import type { FailureCode } from '../platform/codes';

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

/** What rules are about, as it is now. */
interface Facts {
  isWalletActive: boolean;
  isAccountActive: boolean;
  isFrozen: boolean;
}

/** A reason to stop a locked transfer before it is signed. The rule about destinations is in destinations.ts. */
export interface ScreeningRule {
  name: string;
  check(facts: Facts, transfer: ScreenedTransfer): RuleVerdict;
}

const allowed: RuleVerdict = { allowed: true };

const walletIsActive: ScreeningRule = {
  name: 'wallet is active',
  check: ({ isWalletActive }) =>
    isWalletActive ? allowed : { allowed: false, code: 'wallet_not_active', reason: 'The wallet is no longer active' },
};

const accountIsActive: ScreeningRule = {
  name: 'account is active',
  check: ({ isAccountActive }) =>
    isAccountActive ? allowed : { allowed: false, code: 'account_not_active', reason: 'The account is no longer active' },
};

const assetIsNotFrozen: ScreeningRule = {
  name: 'asset is not frozen',
  check: ({ isFrozen }, { tokenSymbol }) =>
    isFrozen ? { allowed: false, code: 'business_error', reason: `${tokenSymbol} is frozen for this account` } : allowed,
};

/** The rules in order; the first refusal counts. New rules are added here. */
export const screeningRules: readonly ScreeningRule[] = [walletIsActive, accountIsActive, assetIsNotFrozen];

/** The first refusal of all rules. They only read, in the caller's database transaction. */
export async function checkRules(manager: EntityManager, transfer: ScreenedTransfer): Promise<RuleVerdict> {
  const facts = await loadFacts(manager, transfer);
  for (const rule of screeningRules) {
    const verdict = rule.check(facts, transfer);
    if (!verdict.allowed) return verdict;
  }
  return allowed;
}

async function loadFacts(
  manager: EntityManager,
  { txId, walletId, accountId, assetId, clientId }: ScreenedTransfer,
): Promise<Facts> {
  const [facts] = await manager.query<Facts[]>(
    `select exists (select from wallets where wallet_id = $1 and client_id = $4 and status = 'ACTIVE') as "isWalletActive",
            exists (select from accounts where account_id = $2 and client_id = $4 and status = 'ACTIVE') as "isAccountActive",
            frozen_reason is not null as "isFrozen"
       from ledger_accounts where ledger_account_id = $3`,
    [walletId, accountId, assetId, clientId],
  );
  if (!facts) throw new Error(`transfer ${txId} names no ledger account`);
  return facts;
}
