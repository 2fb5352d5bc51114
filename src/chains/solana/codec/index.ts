import { ed25519 } from '@noble/curves/ed25519.js';
import { fromHex, toHex } from '../../../platform/hex';
import type { FamilyCodec, SigningPayload, TransactionPlan } from '../../family';
import { groupPath } from '../../key-protocols';
import type { SettlementMethod } from '../../payments';
import { getOutput, getPayment } from '../../single-payment';
import type { AttemptKind, Hex, Prepared, SettlementAction, TransactionDescription, TransactionIntent } from '../../types';
import { readDetails, toPrepared, toPreparedSettlement } from '../details';
import { maxFee } from '../fees';
import {
  assembleAuthorisation,
  authorisationKey,
  buildAuthorisation,
  describeAuthorisation,
  recoverAuthorisation,
} from '../authorise/codec';
import { isAuthorisation } from '../authorise/bytes';
import type { SolanaNetwork } from '../network';
import { address, parseAddress, toAddress, toBytes } from './address';
import { fromBase58, toBase58 } from './base58';
import { writeLength } from './message';
import { messageHash } from './message-hash';
import { type MessageParts, readParts } from './parts';
import { tokenPrograms } from './programs';
import { authorisationOf, decodeSettlement, encodeSettlement, isSettlement, withoutSettler } from './settlement';
import { decode, encode } from './transaction';

/** `Payment.method` of a payment whose payer has signed the whole transaction. */
const settlementMethod: SettlementMethod = 'transaction';

function build(plan: TransactionPlan): Hex {
  const { intent, kind, prepared, resources } = plan;
  if (intent.action?.type === 'authorisation') return buildAuthorisation(plan);
  if (kind !== 'first' && kind !== 'reissue') throw new Error(`there is no ${kind} on Solana`);
  if (resources.length > 0) throw new Error('a Solana transaction uses nothing up');
  if (intent.action?.type === 'settlement') return buildSettlement(intent, intent.action, kind);
  const { recipient, tokenContract, amount } = getPayment(intent);
  const { blockhash, units, price, token } = readDetails(prepared);
  if ((token === null) !== (tokenContract === null)) throw new Error('it was prepared for another token');
  return encode({
    ...{ owner: toBytes(intent.from), recipient: toBytes(recipient), amount },
    token: token && { mint: toBytes(tokenContract as string), ...token },
    blockhash: fromBase58(blockhash, 32) as Buffer,
    ...{ units, price, memo: intent.memo ?? null },
  });
}

/** The payer has fixed everything: another message would take another signature of his. */
function buildSettlement(intent: TransactionIntent, action: SettlementAction, kind: AttemptKind): Hex {
  const { recipient, tokenContract, amount } = getOutput(intent);
  if (kind !== 'first') throw new Error('a settlement is not made again');
  if (action.method !== settlementMethod || action.permit) throw new Error('it is authorised in another way');
  const unsigned = encodeSettlement(fromHex(action.signature), toBytes(recipient), BigInt(action.validBefore));
  const { settler, transfer, transaction } = decodeSettlement(unsigned);
  const isAsMeant =
    intent.from === toBase58(settler) &&
    action.payer === toBase58(transfer.authority) &&
    action.nonce === messageHash(transaction.message) &&
    tokenContract === toBase58(transfer.mint) &&
    amount === transfer.amount &&
    BigInt(action.authorised) === transfer.amount;
  if (!isAsMeant) throw new Error('the payer has signed something else');
  return unsigned;
}

function describeSettlement({ caip2 }: SolanaNetwork, unsigned: Hex): TransactionDescription {
  const { settler, wallet, lastSecond, transfer, units, price, transaction } = decodeSettlement(unsigned);
  const { mint, authority, amount, program } = transfer;
  const [payer, identity] = [toBase58(authority), messageHash(transaction.message)];
  const action: SettlementAction = {
    ...{ type: 'settlement', method: settlementMethod, payer, nonce: identity, authorised: amount.toString() },
    ...{ validAfter: '0', validBefore: lastSecond.toString(), signature: toHex(withoutSettler(transaction)) },
  };
  return {
    chain: caip2,
    action: 'settlement',
    outputs: [{ recipient: toBase58(wallet), tokenContract: toBase58(mint), amount }],
    settlement: {
      ...{ method: settlementMethod, payer, identity, authorised: amount },
      facilitator: toBase58(settler),
      contract: toBase58(tokenPrograms[program]),
      ...{ action, authorisation: authorisationOf(transaction) },
    },
    maxNetworkFee: maxFee({ units, price, creates: null, signatures: transaction.signatures.length }),
    expiresAt: Number(lastSecond),
    resources: [],
  };
}

function describe(network: SolanaNetwork, unsigned: Hex): TransactionDescription {
  if (isSettlement(unsigned)) return describeSettlement(network, unsigned);
  if (isAuthorisation(unsigned)) return describeAuthorisation(network, unsigned);
  const { recipient, amount, token, units, price, memo } = decode(unsigned);
  return {
    // the bytes name no cluster, but a block of it
    chain: network.caip2,
    action: 'payment',
    outputs: [{ recipient: toAddress(recipient).address, tokenContract: token && toAddress(token.mint).address, amount }],
    maxNetworkFee: maxFee({ units, price, creates: token?.creates ? token.program : null }),
    ...(memo !== null && { memo }),
    resources: [],
  };
}

/** The bytes say which block they refer to, and not how high it is. */
function recover(unsigned: Hex, feeBound: bigint): Prepared {
  if (isSettlement(unsigned)) return toPreparedSettlement(toBase58(readParts(unsigned).blockhash), feeBound);
  if (isAuthorisation(unsigned)) return recoverAuthorisation(unsigned);
  const { blockhash, units, price, token } = decode(unsigned);
  const details = { blockhash: toBase58(blockhash), slot: null, lastValidBlockHeight: null, units, price };
  const kept = token && { program: token.program, decimals: token.decimals, creates: token.creates };
  return toPrepared({ ...details, token: kept }, feeBound);
}

/** What `from` signs. @throws Error for bytes of another sender. */
function readPartsOf(unsigned: Hex, from: string): MessageParts & { key: string } {
  const parts = readParts(unsigned);
  const { key } = toAddress(parts.signer);
  if (key !== parseAddress(from)?.key) throw new Error('the transaction is of another sender');
  return { ...parts, key };
}

function signingPayloads(unsigned: Hex, from: string): SigningPayload[] {
  const { key, message } = readPartsOf(unsigned, from);
  return [{ signer: key, digest: `0x${messageHash(message)}`, message: toHex(message) }];
}

/** The id of a transaction is its first signature, in Base58. */
function assemble(unsigned: Hex, [signature, ...others]: Hex[], from: string): { id: string; bytes: Hex } {
  if (!signature || !/^0x[0-9a-f]{128}$/i.test(signature) || others.length > 0)
    throw new Error('a transaction has one signature of 64 bytes of its sender');
  const { signer, message, signatures } = readPartsOf(unsigned, from);
  const signed = fromHex(signature);
  // as RFC 8032 has it: the network takes no unreduced points either
  if (!ed25519.verify(signed, message, signer, { zip215: false })) throw new Error('the signature is not of the sender');
  if (isAuthorisation(unsigned)) return assembleAuthorisation(unsigned, signed);
  return {
    id: toBase58(signed),
    bytes: toHex(Buffer.concat([writeLength(1 + signatures.length), signed, ...signatures, message])),
  };
}

function messageKey(unsigned: Hex, from: string): string {
  const hash = messageHash(readPartsOf(unsigned, from).message);
  return isAuthorisation(unsigned) ? authorisationKey(hash) : hash;
}

/** Each account has a key of its own. */
export const createSolanaCodec = (network: SolanaNetwork) =>
  ({
    accountPath: () => groupPath,
    address,
    parseAddress,
    build,
    recover,
    getOrdinal: () => null,
    describe: (unsigned: Hex) => describe(network, unsigned),
    signingPayloads,
    assemble,
    messageKey,
  }) satisfies Partial<FamilyCodec>;
