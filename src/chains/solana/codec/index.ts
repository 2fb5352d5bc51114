import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { fromHex, toHex } from '../../../platform/hex';
import type { FamilyCodec, SigningPayload, TransactionPlan } from '../../family';
import { groupPath } from '../../key-protocols';
import { getPayment } from '../../single-payment';
import type { Hex, Prepared, TransactionDescription } from '../../types';
import { readDetails, toPrepared } from '../details';
import { maxFee } from '../fees';
import type { SolanaNetwork } from '../network';
import { address, parseAddress, toAddress, toBytes } from './address';
import { fromBase58, toBase58 } from './base58';
import { writeLength } from './message';
import { decode, encode } from './transaction';

function build({ intent, kind, prepared, resources }: TransactionPlan): Hex {
  if (kind !== 'first' && kind !== 'reissue') throw new Error(`there is no ${kind} on Solana`);
  if (resources.length > 0) throw new Error('a Solana transaction uses nothing up');
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

function describe({ caip2 }: SolanaNetwork, unsigned: Hex): TransactionDescription {
  const { recipient, amount, token, units, price, memo } = decode(unsigned);
  return {
    // the bytes name no cluster, but a block of it
    chain: caip2,
    action: 'payment',
    outputs: [{ recipient: toAddress(recipient).address, tokenContract: token && toAddress(token.mint).address, amount }],
    maxNetworkFee: maxFee({ units, price, creates: token?.creates ? token.program : null }),
    ...(memo !== null && { memo }),
    resources: [],
  };
}

/** The bytes say which block they refer to, and not how high it is. */
function recover(unsigned: Hex, feeBound: bigint): Prepared {
  const { blockhash, units, price, token } = decode(unsigned);
  const details = { blockhash: toBase58(blockhash), slot: null, lastValidBlockHeight: null, units, price };
  const kept = token && { program: token.program, decimals: token.decimals, creates: token.creates };
  return toPrepared({ ...details, token: kept }, feeBound);
}

/** The bytes' sender. @throws Error for bytes of another one. */
function getSender(unsigned: Hex, from: string): { key: string; publicKey: Buffer } {
  const { owner } = decode(unsigned);
  const { key } = toAddress(owner);
  if (key !== parseAddress(from)?.key) throw new Error('the transaction is of another sender');
  return { key, publicKey: owner };
}

/** SHA-256 of the message: every signature over it makes another transaction id. 64 hex digits. */
export const messageHash = (message: Uint8Array): string => createHash('sha256').update(message).digest('hex');

const signingPayloads = (unsigned: Hex, from: string): SigningPayload[] => [
  { signer: getSender(unsigned, from).key, digest: `0x${messageHash(fromHex(unsigned))}`, message: unsigned },
];

/** The id of a transaction is its first signature, in Base58. */
function assemble(unsigned: Hex, [signature, ...others]: Hex[], from: string): { id: string; bytes: Hex } {
  if (!signature || !/^0x[0-9a-f]{128}$/i.test(signature) || others.length > 0)
    throw new Error('a transaction has one signature of 64 bytes');
  const { publicKey } = getSender(unsigned, from);
  const [signed, message] = [fromHex(signature), fromHex(unsigned)];
  // as RFC 8032 has it: the network takes no unreduced points either
  if (!ed25519.verify(signed, message, publicKey, { zip215: false })) throw new Error('the signature is not of the sender');
  return { id: toBase58(signed), bytes: toHex(Buffer.concat([writeLength(1), signed, message])) };
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
    messageKey: (unsigned: Hex, from: string) => {
      getSender(unsigned, from);
      return messageHash(fromHex(unsigned));
    },
  }) satisfies Partial<FamilyCodec>;
