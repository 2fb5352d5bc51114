import { fromHex, toHex } from '../../../platform/hex';
import type { FamilyCodec, SigningPayload, TransactionPlan } from '../../family';
import { getPayment } from '../../single-payment';
import type { Hex, Prepared, TransactionDescription } from '../../types';
import { readDetails, toPrepared } from '../details';
import type { TronNetwork } from '../network';
import { address, findForeignUsers, hasWrongChecksum, parseAddress, toAddress, toBytes } from './address';
import { sha256 } from './base58';
import { writeMessage } from './protobuf';
import { toTronSignature } from './signature';
import { decode, encode } from './transaction';

function build({ intent, kind, prepared, resources }: TransactionPlan): Hex {
  if (kind !== 'first' && kind !== 'reissue') throw new Error(`there is no ${kind} on Tron`);
  if (resources.length > 0) throw new Error('a Tron transaction uses nothing up');
  const { recipient, tokenContract, amount } = getPayment(intent);
  const { reference, expiration, timestamp, feeLimit } = readDetails(prepared);
  const token = tokenContract === null ? null : toBytes(tokenContract);
  return encode({
    owner: toBytes(intent.from),
    call: { recipient: toBytes(recipient), token, amount },
    reference: { number: Buffer.from(reference.number, 'hex'), id: Buffer.from(reference.id, 'hex') },
    expiration: BigInt(expiration),
    timestamp: BigInt(timestamp),
    feeLimit,
    memo: intent.memo ?? null,
  });
}

function describe({ caip2 }: TronNetwork, unsigned: Hex): TransactionDescription {
  const { call, expiration, feeLimit, memo } = decode(unsigned);
  const { recipient, token, amount } = call;
  return {
    // the bytes name no network, but a block of it
    chain: caip2,
    action: 'payment',
    outputs: [{ recipient: toAddress(recipient).address, tokenContract: token && toAddress(token).address, amount }],
    // what bandwidth, a new account and a memo cost is set by the network and not by the bytes
    maxNetworkFee: feeLimit,
    expiresAt: Number(expiration / 1000n),
    ...(memo !== null && { memo }),
    resources: [],
  };
}

function recover(unsigned: Hex, feeBound: bigint): Prepared {
  const { reference, expiration, timestamp, feeLimit } = decode(unsigned);
  const { number, id } = reference;
  const times = { expiration: Number(expiration), timestamp: Number(timestamp) };
  return toPrepared({ reference: { number: number.toString('hex'), id: id.toString('hex') }, ...times, feeLimit }, feeBound);
}

/** The bytes' sender in canonical form. @throws Error for bytes of another one. */
function getSender(unsigned: Hex, from: string): string {
  const { key } = toAddress(decode(unsigned).owner);
  if (key !== parseAddress(from)?.key) throw new Error('the transaction is of another sender');
  return key;
}

/** SHA-256 of the unsigned bytes, which is what is signed too (TRON's documents, "Transaction"). */
export const transactionId = (unsigned: Hex): string => sha256(fromHex(unsigned)).toString('hex');

const signingPayloads = (unsigned: Hex, from: string): SigningPayload[] => [
  { signer: getSender(unsigned, from), digest: `0x${transactionId(unsigned)}` },
];

function assemble(unsigned: Hex, [signature, ...others]: Hex[], from: string): { id: string; bytes: Hex } {
  if (others.length > 0) throw new Error('a transaction has one signature');
  const id = transactionId(unsigned);
  const signed = toTronSignature(signature, Buffer.from(id, 'hex'), getSender(unsigned, from));
  const bytes = writeMessage([
    [1, fromHex(unsigned)],
    [2, signed],
  ]);
  return { id, bytes: toHex(bytes) };
}

/**
 * Accounts at BIP-32 path m/195/i (coin type of SLIP-44). The id of a transaction does not depend on its signature, so it is the message
 * key too.
 */
export const createTronCodec = (network: TronNetwork) =>
  ({
    accountPath: (index: number) => `m/195/${index}`,
    address,
    parseAddress,
    findForeignUsers,
    hasWrongChecksum,
    build,
    recover,
    getOrdinal: () => null,
    describe: (unsigned: Hex) => describe(network, unsigned),
    signingPayloads,
    assemble,
    messageKey: (unsigned: Hex, from: string) => {
      getSender(unsigned, from);
      return transactionId(unsigned);
    },
  }) satisfies Partial<FamilyCodec>;
