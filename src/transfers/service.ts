import type { DataSource } from 'typeorm';
import type { TransferAccepted, TransferRequest } from '../messages/transfer';
import type { AccountRepository } from '../accounts/repository';
import { enabledChain } from '../accounts/service';
import type { AssetRepository } from '../assets/repository';
import type { GetFamily, ParsedAddress } from '../chains/family';
import { type ChainRegistry, tokenBySymbol } from '../chains/registry';
import type { ChainDefinition, TokenDefinition } from '../chains/types';
import { audit } from '../audit/log';
import type { Caller, IdempotencyContext } from '../http/context';
import { GatewayError, invalidParameter, notFound } from '../platform/errors';
import { parseAmount } from '../platform/money';
import { evaluateDestination } from '../screening/destinations';
import type { TransactionEntity } from '../transactions/entity';
import type { TransactionRepository } from '../transactions/repository';
import type { WalletRepository } from '../wallets/repository';
import type { CreateTransfer } from './schema';
import { parseAddressLenient } from './addresses';
import type { TransferWorkflows } from './workflows';

export interface TransferServiceDependencies {
  database: DataSource;
  registry: ChainRegistry;
  getFamily: GetFamily;
  wallets: WalletRepository;
  accounts: AccountRepository;
  assets: AssetRepository;
  transactions: TransactionRepository;
  workflows: TransferWorkflows;
}

export interface Submission {
  accepted: TransferAccepted;
  /** The Idempotency-Key belongs to a transfer made before, which is what is answered. */
  replayed: boolean;
}

interface Checked {
  chain: ChainDefinition;
  /** undefined: the chain has no such token, so no asset can match. */
  token: TokenDefinition | undefined;
  from: ParsedAddress;
  to: ParsedAddress;
}

/**
 * Takes transfers on. What is refused here is refused cheaply, before a workflow is started; the workflow's lock checks
 * all of it again, under lock, and has the last word.
 */
export class TransferService {
  constructor(private readonly deps: TransferServiceDependencies) {}

  /**
   * @throws GatewayError invalid_parameter, invalid_address, not_found, address_blacklisted, address_not_whitelisted,
   * wallet_not_active, account_not_active, insufficient_balance, business_error, idempotency_key_reused, unavailable (nothing begun), outcome_unknown (with tx_id).
   */
  async submit(caller: Caller, creation: IdempotencyContext, requestId: string, input: CreateTransfer): Promise<Submission> {
    const checked = this.check(input);
    const earlier = await this.findEarlier(caller, creation);
    if (earlier) return replayEarlier(earlier, input, checked);
    await this.preflight(caller, requestId, input, checked);

    const { workflows, transactions } = this.deps;
    const txId = creation.resourceId;
    const accepted = await workflows.submit(requestOf(caller, creation, requestId, input, checked));
    if (accepted) return { accepted, replayed: false };
    const stored = await transactions.find(caller.clientId, txId);
    if (!stored) throw await workflows.refusalOf(txId);
    return { accepted: { txId, status: stored.status }, replayed: true };
  }

  /** The rules that need no database, in the order of the specification's table. */
  private check(input: CreateTransfer): Checked {
    const chain = enabledChain(this.deps.registry, input.chain);
    const adapter = this.deps.getFamily(chain.family);
    const token = tokenBySymbol(chain, input.token_symbol);
    checkAmount(input.amount, token);
    const from = parseAddressLenient(adapter, input.from_address);
    if (input.from_address === input.to_address || (from && from.key === parseAddressLenient(adapter, input.to_address)?.key)) {
      throw invalidParameter('to_address', 'must differ from from_address');
    }
    const to = adapter.parseAddress(input.to_address);
    if (!to) throw invalidAddress('to_address', chain);
    if (!from) throw invalidAddress('from_address', chain);
    return { chain, token, from, to };
  }

  /** The same request's transfer from an earlier try, or one made with the same key before keys were forgotten. */
  private async findEarlier(
    { clientId }: Caller,
    { resourceId, idempotencyKey, firstAttemptAt: firstAttemptAt }: IdempotencyContext,
  ): Promise<TransactionEntity | null> {
    if (idempotencyKey === null) return null;
    const byId = firstAttemptAt && (await this.deps.transactions.find(clientId, resourceId));
    return byId ?? this.deps.transactions.findByIdempotencyKey(clientId, idempotencyKey);
  }

  private async preflight(caller: Caller, requestId: string, input: CreateTransfer, checked: Checked): Promise<void> {
    const { clientId } = caller;
    const { chain, token, from } = checked;
    const { wallets, accounts, assets } = this.deps;
    const account = await accounts.findByAddress(clientId, chain.family, from.key);
    const asset = account && token && (await assets.findByToken(clientId, account.accountId, chain.name, token.symbol));
    if (!account || !token || !asset?.isActive) throw notFound('asset');
    await this.screen(caller, requestId, input, checked);
    const wallet = await wallets.find(clientId, account.walletId);
    if (wallet?.status !== 'ACTIVE' || wallet.keyStatus !== 'ACTIVE')
      throw new GatewayError('wallet_not_active', 'The wallet is not active');
    if (account.status !== 'ACTIVE') throw new GatewayError('account_not_active', 'The account is not active');
    const atomic = parseAmount(input.amount, token.decimals);
    if (typeof atomic === 'bigint' && atomic > asset.available) {
      throw new GatewayError('insufficient_balance', `The available balance of ${token.symbol} on ${chain.name} is too small`);
    }
  }

  /** Refused here at once; a transfer that needs approval is taken on and waits for it. */
  private async screen(
    { clientId, userId }: Caller,
    requestId: string,
    input: CreateTransfer,
    { chain, from, to }: Checked,
  ): Promise<void> {
    const { manager } = this.deps.database;
    const verdict = await evaluateDestination(manager, { clientId, chain: chain.name, addressKey: to.key });
    if (verdict.outcome !== 'refused') return;
    const { code, reason } = verdict;
    await audit(manager, {
      action: 'transfer.refused',
      outcome: 'refused',
      actor: { type: 'user', id: userId },
      clientId,
      subject: { type: 'address', id: to.address },
      detail: { code, chain: chain.name, from_address: from.address, token_symbol: input.token_symbol, amount: input.amount },
      requestId,
    });
    throw new GatewayError(code, reason, { fields: [{ field: 'to_address', message: reason.replace(/^to_address /, '') }] });
  }
}

/** Without a token its precision is unknown; the other rules hold all the same. */
function checkAmount(text: string, token: TokenDefinition | undefined): void {
  const maxDecimals = 78;
  const amount = parseAmount(text, token?.decimals ?? maxDecimals);
  if (amount === 'format') throw invalidParameter('amount', 'must be a decimal number such as 1.5');
  if (amount === 'too_precise')
    throw invalidParameter('amount', `must have at most ${token?.decimals ?? maxDecimals} decimal places`);
  if (amount === 'too_long' && token) throw invalidParameter('amount', 'is too large');
  if (amount === 0n) throw invalidParameter('amount', 'must be greater than 0');
}

function invalidAddress(field: string, chain: ChainDefinition): GatewayError {
  const message = `is not a valid address on ${chain.name}`;
  return new GatewayError('invalid_address', `${field} ${message}`, { fields: [{ field, message }] });
}

function replayEarlier(earlier: TransactionEntity, input: CreateTransfer, { chain, from, to }: Checked): Submission {
  const same =
    earlier.chain === chain.name &&
    earlier.tokenSymbol === input.token_symbol &&
    earlier.fromAddress === from.address &&
    earlier.toAddress === to.address &&
    earlier.amount === parseAmount(input.amount, earlier.decimals) &&
    (earlier.memo ?? '') === (input.memo ?? '');
  if (!same) throw new GatewayError('idempotency_key_reused', 'This Idempotency-Key was used for another transfer');
  return { accepted: { txId: earlier.txId, status: earlier.status }, replayed: true };
}

const requestOf = (
  { clientId, userId }: Caller,
  creation: IdempotencyContext,
  requestId: string,
  input: CreateTransfer,
  { from, to }: Checked,
): TransferRequest => ({
  txId: creation.resourceId,
  clientId,
  userId,
  requestId,
  idempotencyKey: creation.idempotencyKey,
  fromAddress: from.address,
  toAddress: to.address,
  chain: input.chain,
  tokenSymbol: input.token_symbol,
  amount: input.amount,
  memo: input.memo ?? null,
});
