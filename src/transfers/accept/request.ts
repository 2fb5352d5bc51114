import type { AuditActor } from '../../audit/log';
import type { FamilyCodec, GetFamily, ParsedAddress } from '../../chains/family';
import { invalidAddress } from '../../chains/invalid-address';
import { type ChainRegistry, tokenBySymbol } from '../../chains/registry';
import { assertNoTokenContract } from '../../chains/token-contracts';
import type { ChainDefinition, TokenDefinition } from '../../chains/types';
import { invalidParameter } from '../../platform/errors';
import { parseAmount } from '../../platform/money';
import type { TransactionEntity } from '../../transactions/entity';
import type { CreateTransfer } from '../schema';
import { parseAddressLenient } from '../../chains/lenient-address';

/** A requested transfer. */
export interface TransferRequest {
  txId: string;
  clientId: string;
  userId: string;
  requestId: string;
  idempotencyKey: string | null;
  fromAddress: string;
  toAddress: string;
  chain: string;
  tokenSymbol: string;
  /** Display units, as the client wrote them. */
  amount: string;
  /** What the client calls it. */
  externalId: string | null;
  /** The transfer that it is to be made in place of, at an operator's request. */
  retryOf: string | null;
  memo: string | null;
  /** The memo is part of what is signed too. */
  memoOnChain: boolean;
  /** The recipient may be an address of a program. */
  allowsProgram: boolean;
  /** Who asks for it in place of the user. */
  by?: AuditActor;
}

/** The request after the checks that need no database. */
export interface ParsedTransfer {
  request: TransferRequest;
  chain: ChainDefinition;
  /** undefined: the chain has no such token, so no asset can match. */
  token: TokenDefinition | undefined;
  from: ParsedAddress;
  to: ParsedAddress;
  /** Atomic units; 0n for an unknown token, whose decimals are unknown. */
  amount: bigint;
}

export interface TransferParser {
  registry: ChainRegistry;
  getFamily: GetFamily;
}

/** More decimals than any token has: for the amount of a token that does not exist. */
const maxDecimals = 78;

/**
 * The checks that need no database, in the order of the specification's table.
 * @throws GatewayError invalid_parameter, invalid_address.
 */
export function parseTransfer({ registry, getFamily }: TransferParser, request: TransferRequest): ParsedTransfer {
  const chain = registry.find(request.chain);
  if (!chain) throw invalidParameter('chain', 'is not an enabled chain');
  const family = getFamily(chain.family);
  const token = tokenBySymbol(chain, request.tokenSymbol);
  const amount = parsePositiveAmount(request.amount, token);
  const from = parseAddressLenient(family, request.fromAddress);
  if (request.fromAddress === request.toAddress || (from && from.key === parseAddressLenient(family, request.toAddress)?.key))
    throw invalidParameter('to_address', 'must differ from from_address');
  const to = family.parseAddress(request.toAddress);
  if (!to) throw invalidAddress('to_address', request.toAddress, chain, family);
  if (!from) throw invalidAddress('from_address', request.fromAddress, chain, family);
  if (token && token.contract !== null) assertNoTokenContract('to_address', to.address, chain);
  assertMemo(request, chain, family);
  assertHasPrograms(request, chain, family);
  return { request, chain, token, from, to, amount };
}

/** Who asks for the transfer, for the audit log. */
export const toActor = ({ by, userId }: TransferRequest): AuditActor => by ?? { type: 'user', id: userId };

/** The request with one spelling of its addresses: in another letter case it asks for the same. What is no address stays as it is. */
export function toComparableTransfer({ registry, getFamily }: TransferParser, input: CreateTransfer): CreateTransfer {
  const chain = registry.find(input.chain);
  if (!chain) return input;
  const family = getFamily(chain.family);
  const { from_address: from, to_address: to } = input;
  return {
    ...input,
    from_address: parseAddressLenient(family, from)?.key ?? from,
    to_address: family.parseAddress(to)?.key ?? to,
  };
}

/** Whether a stored transfer equals the request: decides whether its Idempotency-Key belongs to it. */
export function isSameTransfer(
  transfer: TransactionEntity,
  { request, chain, token, from, to, amount }: ParsedTransfer,
  { getFamily }: Pick<TransferParser, 'getFamily'>,
): boolean {
  return (
    transfer.chain === chain.name &&
    transfer.tokenSymbol === token?.symbol &&
    parseAddressLenient(getFamily(chain.family), transfer.fromAddress)?.key === from.key &&
    transfer.toAddressKey === to.key &&
    transfer.amount === amount &&
    transfer.externalId === request.externalId &&
    (transfer.memo ?? '') === (request.memo ?? '') &&
    transfer.memoOnChain === request.memoOnChain &&
    transfer.allowsProgram === request.allowsProgram
  );
}

function assertMemo({ memo, memoOnChain }: TransferRequest, { name }: ChainDefinition, { carriesMemo }: FamilyCodec): void {
  if (!memoOnChain) return;
  if (!carriesMemo) throw invalidParameter('on_chain_memo', `must be false: payments on ${name} carry no memo`);
  if (!memo) throw invalidParameter('memo', 'is required with on_chain_memo');
}

function assertHasPrograms({ allowsProgram }: TransferRequest, { name }: ChainDefinition, family: FamilyCodec): void {
  if (allowsProgram && !family.hasProgramAddresses)
    throw invalidParameter('allow_program_address', `must be false: ${name} has no addresses of programs`);
}

function parsePositiveAmount(text: string, token: TokenDefinition | undefined): bigint {
  const amount = parseAmount(text, token?.decimals ?? maxDecimals);
  if (amount === 'format') throw invalidParameter('amount', 'must be a decimal number such as 1.5');
  if (amount === 'too_precise')
    throw invalidParameter('amount', `must have at most ${token?.decimals ?? maxDecimals} decimal places`);
  if (amount === 'too_long') {
    if (token) throw invalidParameter('amount', 'is too large');
    return 0n;
  }
  if (amount === 0n) throw invalidParameter('amount', 'must be greater than 0');
  return token ? amount : 0n;
}
