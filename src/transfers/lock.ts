import type { EntityManager } from 'typeorm';
import type { LockedTransfer, TransferRequest } from '../messages/transfer';
import { audit } from '../audit/log';
import type { ChainRegistry } from '../chains/registry';
import type { ChainDefinition } from '../chains/types';
import { findLedgerAccountsForUpdate } from '../ledger/accounts';
import { placeHold } from '../ledger/entries';
import { post } from '../ledger/posting';
import { inTransaction } from '../platform/database';
import { GatewayError, invalidParameter, notFound } from '../platform/errors';
import { formatAmount, parseAmount } from '../platform/money';
import { TransactionEntity } from '../transactions/entity';
import { transferType } from '../transactions/types';
import { parseAddressLenient } from './addresses';
import type { StepDependencies } from './dependencies';
import { getRow } from './hold';
import { checkLimits } from './limits';
import { findSource } from './source';

/**
 * Takes a transfer on: checks it, stores it as PENDING and locks its amount and fee bound, in one database transaction.
 * Idempotent on tx_id, and for ever on (client, idempotency key): the answer may name an earlier transfer's tx_id.
 * @throws GatewayError naming why the transfer is refused (then nothing is stored), or unavailable.
 */
export function lockTransfer(steps: StepDependencies, request: TransferRequest): Promise<LockedTransfer> {
  const { database, registry, getFamily } = steps;
  return inTransaction(database, async (manager) => {
    const earlier = await findEarlier(manager, steps, request);
    if (earlier) return answer(registry, earlier);

    const chain = registry.find(request.chain);
    if (!chain) throw invalidParameter('chain', 'is not an enabled chain');
    const family = getFamily(chain.family);
    const from = parseAddressLenient(family, request.fromAddress);
    if (!from) throw new GatewayError('invalid_address', `from_address is no valid address on ${chain.name}`);
    if (from.key === parseAddressLenient(family, request.toAddress)?.key)
      throw invalidParameter('to_address', 'must differ from from_address');
    const to = family.parseAddress(request.toAddress);
    if (!to) throw new GatewayError('invalid_address', `to_address is no valid address on ${chain.name}`);

    const { account, token, asset, native } = await findSource(manager, request.clientId, chain, from.key, request.tokenSymbol);
    const amount = positiveAmount(request.amount, token.decimals);
    const feeLocked = await family.bound(manager, {
      chain,
      source: { chain: chain.name, accountId: account.accountId, addressKey: account.addressKey },
      token,
      outputs: [{ recipient: to.address, tokenContract: token.contract, amount }],
    });

    const transfer: Partial<TransactionEntity> = {
      txId: request.txId,
      clientId: request.clientId,
      walletId: account.walletId,
      accountId: account.accountId,
      assetId: asset.ledgerAccountId,
      chain: chain.name,
      transactionType: transferType,
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
      memo: request.memo,
      idempotencyKey: request.idempotencyKey,
      requestId: request.requestId,
    };
    // before limits and balance: what the same request has taken already must not refuse it now
    if (!(await inserted(manager, transfer))) {
      const concurrent = await findEarlier(manager, steps, request);
      if (!concurrent) throw new Error(`transfer ${request.txId} was neither stored nor found`);
      return answer(registry, concurrent);
    }
    await checkLimits(manager, {
      txId: request.txId,
      walletId: account.walletId,
      symbol: token.symbol,
      amount,
      decimals: token.decimals,
    });

    const rows = await findLedgerAccountsForUpdate(manager, [asset.ledgerAccountId, native.ledgerAccountId]);
    const hold = { token: getRow(rows, asset.ledgerAccountId), native: getRow(rows, native.ledgerAccountId), amount, feeLocked };
    for (const { symbol, frozenReason } of [hold.token, hold.native]) {
      if (frozenReason) throw new GatewayError('business_error', `${symbol} on ${chain.name} is frozen for this account`);
    }
    requireFunds(hold, chain);
    await post(manager, [{ txId: request.txId, kind: 'lock', seq: 0, entries: placeHold(hold) }]);
    const stored = await manager.findOneByOrFail(TransactionEntity, { txId: request.txId });
    await recordAccepted(manager, request, stored);
    return answer(registry, stored);
  });
}

function positiveAmount(text: string, decimals: number): bigint {
  const amount = parseAmount(text, decimals);
  if (amount === 'format') throw invalidParameter('amount', 'must be a decimal number such as 1.5');
  if (amount === 'too_long') throw invalidParameter('amount', 'is too large');
  if (amount === 'too_precise') throw invalidParameter('amount', `must have at most ${decimals} decimal places`);
  if (amount === 0n) throw invalidParameter('amount', 'must be greater than 0');
  return amount;
}

function requireFunds({ token, native, amount, feeLocked }: Parameters<typeof placeHold>[0], chain: ChainDefinition): void {
  const same = token.ledgerAccountId === native.ledgerAccountId;
  if (token.available < amount) {
    throw new GatewayError('insufficient_balance', `The available balance of ${token.symbol} on ${chain.name} is too small`);
  }
  if (native.available < feeLocked + (same ? amount : 0n)) {
    const needed = formatAmount(feeLocked, chain.native.decimals);
    throw new GatewayError(
      'insufficient_balance',
      `The available balance of ${native.symbol} on ${chain.name} is too small for the network fee of up to ${needed} ${native.symbol}`,
    );
  }
}

/** The only record of who asked. A run that is started again names nobody, and never comes here: its transfer is stored. */
function recordAccepted(manager: EntityManager, { userId }: TransferRequest, transfer: TransactionEntity): Promise<void> {
  const { txId, clientId, chain, tokenSymbol, amount, decimals, toAddress, requestId } = transfer;
  return audit(manager, {
    action: 'transfer.accepted',
    outcome: 'success',
    actor: { type: 'user', id: userId },
    clientId,
    subject: { type: 'transaction', id: txId },
    detail: { chain, symbol: tokenSymbol, amount: formatAmount(amount, decimals), to_address: toAddress },
    requestId,
  });
}

async function inserted(manager: EntityManager, transfer: Partial<TransactionEntity>): Promise<boolean> {
  const result = await manager
    .createQueryBuilder()
    .insert()
    .into(TransactionEntity)
    .values(transfer)
    .orIgnore()
    .returning('tx_id')
    .execute();
  return (result.raw as unknown[]).length === 1;
}

/** The transfer this request has become before, by its id or its idempotency key. */
async function findEarlier(
  manager: EntityManager,
  steps: StepDependencies,
  request: TransferRequest,
): Promise<TransactionEntity | null> {
  const { txId, clientId, idempotencyKey } = request;
  const byId = await manager.findOneBy(TransactionEntity, { txId });
  if (byId) {
    if (byId.clientId !== clientId) throw notFound('transaction');
    return byId;
  }
  if (idempotencyKey === null) return null;
  const byKey = await manager.findOneBy(TransactionEntity, { clientId, idempotencyKey, isHeld: true });
  if (byKey && !isSameRequest(steps, byKey, request)) {
    throw new GatewayError('idempotency_key_reused', 'This Idempotency-Key was used for another transfer');
  }
  return byKey;
}

function isSameRequest(
  { registry, getFamily }: StepDependencies,
  transfer: TransactionEntity,
  request: TransferRequest,
): boolean {
  const family = getFamily(registry.get(transfer.chain).family);
  const isSameAddress = (a: string, b: string) => parseAddressLenient(family, a)?.key === parseAddressLenient(family, b)?.key;
  return (
    transfer.chain === request.chain &&
    transfer.tokenSymbol === request.tokenSymbol &&
    isSameAddress(transfer.fromAddress, request.fromAddress) &&
    isSameAddress(transfer.toAddress, request.toAddress) &&
    transfer.amount === parseAmount(request.amount, transfer.decimals)
  );
}

function answer(registry: ChainRegistry, transfer: TransactionEntity): LockedTransfer {
  const chain = registry.get(transfer.chain);
  if (transfer.walletId === null) throw new Error(`transfer ${transfer.txId} has no wallet`);
  return {
    txId: transfer.txId,
    status: transfer.status,
    walletId: transfer.walletId,
    tokenSymbol: transfer.tokenSymbol,
    chain: chain.name,
    amount: formatAmount(transfer.amount, transfer.decimals),
    stuckAfterMs: chain.stuckAfterMs,
    requiredConfirmations: transfer.requiredConfirmations,
    explorerTx: chain.explorerTx,
  };
}
