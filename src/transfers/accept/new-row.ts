import type { AccountEntity } from '../../accounts/entity';
import type { ParsedAddress } from '../../chains/family';
import type { ChainDefinition, TokenDefinition } from '../../chains/types';
import type { TransactionEntity } from '../../transactions/entity';
import type { TransactionType } from '../../transactions/types';

export interface NewTransfer {
  txId: string;
  transactionType: TransactionType;
  chain: ChainDefinition;
  account: Pick<AccountEntity, 'clientId' | 'walletId' | 'accountId' | 'address'>;
  token: TokenDefinition;
  /** Ledger account of the token. */
  assetId: string;
  to: ParsedAddress;
  /** Atomic units of the token. */
  amount: bigint;
  /** Atomic units of the native coin. */
  feeLocked: bigint;
}

/** A transfer at its start, without what only its request says. */
export const toNewRow = ({ txId, transactionType, chain, account, token, assetId, to, amount, feeLocked }: NewTransfer) =>
  ({
    txId,
    clientId: account.clientId,
    walletId: account.walletId,
    accountId: account.accountId,
    assetId,
    chain: chain.name,
    transactionType,
    fromAddress: account.address,
    toAddress: to.address,
    toAddressKey: to.key,
    tokenSymbol: token.symbol,
    contractAddress: token.contract,
    decimals: token.decimals,
    amount,
    feeSymbol: chain.native.symbol,
    feeDecimals: chain.native.decimals,
    feeLocked,
    status: 'PENDING',
    version: 0,
    requiredConfirmations: chain.confirmations,
  }) satisfies Partial<TransactionEntity>;
