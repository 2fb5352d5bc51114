import type { EntityManager } from 'typeorm';
import type { AttemptKind } from '../chains/types';
import type { BeginSigningResult } from '../messages/transfer';
import { AccountEntity } from '../accounts/entity';
import type { TransactionEntity } from '../transactions/entity';
import { WalletEntity } from '../wallets/entity';
import type { Attempt } from './attempts';
import type { StepDependencies } from './dependencies';

/** What the nodes are asked to sign: the attempt's bytes and what the client wanted. */
export async function signingRequest(
  manager: EntityManager,
  { registry }: StepDependencies,
  transfer: TransactionEntity,
  { attempt, kind, unsigned }: Attempt,
): Promise<Extract<BeginSigningResult, { outcome: 'begun' }>['request']> {
  const chain = registry.get(transfer.chain);
  const { to, tokenContract, amount } = toExpectedTransfer(transfer, kind);
  const account = await getAccount(manager, transfer);
  const { keyId } = await manager.findOneByOrFail(WalletEntity, { walletId: account.walletId });
  if (keyId === null) throw new Error(`wallet ${account.walletId} has no key`);
  return {
    keyId,
    derivationPath: account.derivationPath,
    family: chain.family,
    kind,
    attempt,
    unsigned,
    intent: {
      txId: transfer.txId,
      clientId: transfer.clientId,
      chain: chain.name,
      fromAddress: transfer.fromAddress,
      toAddress: to,
      tokenContract,
      amount: amount.toString(),
      feeBound: transfer.feeLocked.toString(),
    },
  };
}

/** What the bytes do, and the intent says: a cancellation moves nothing, from the account to itself. */
export function toExpectedTransfer({ fromAddress, toAddress, contractAddress, amount }: TransactionEntity, kind: AttemptKind) {
  if (kind === 'cancellation') return { to: fromAddress, tokenContract: null, amount: 0n };
  return { to: toAddress, tokenContract: contractAddress, amount };
}

export async function getAccount(manager: EntityManager, { txId, accountId }: TransactionEntity): Promise<AccountEntity> {
  if (accountId === null) throw new Error(`transfer ${txId} has no account`);
  return manager.findOneByOrFail(AccountEntity, { accountId });
}
