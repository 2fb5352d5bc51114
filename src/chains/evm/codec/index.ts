import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes, keccak256, serializeTransaction } from 'viem';
import type { FamilyCodec, SigningPayload, TransactionPlan } from '../../family';
import type { Hex, Prepared, TransactionDescription, TransactionIntent } from '../../types';
import { parseChainId, toCaip2 } from '../chain-id';
import { readDetails, toPrepared } from '../details';
import { highestGas } from '../fees';
import { address, evmAddress, parseAddress } from './address';
import { describePayment, encodeCall, getPayment } from './payment';
import { describeSettlement, encodeAction } from './settlement';
import { decode, feePerGas, feesIn, toNonce, withFees } from './transaction';

function build({ chain, intent, kind, prepared, resources }: TransactionPlan): Hex {
  if (kind === 'cancellation') assertMovesNothing(intent);
  const fees = readDetails(prepared);
  if (fees.gasLimit > highestGas(chain, intent)) throw new Error(`no transaction needs so much gas on ${chain.name}`);
  const common = { chainId: parseChainId(chain), nonce: toNonce(resources), gas: fees.gasLimit, ...encodeIntent(intent) };
  const unsigned = serializeTransaction(withFees(common, fees));
  describe(unsigned);
  return unsigned;
}

function assertMovesNothing(intent: TransactionIntent): void {
  const { recipient, tokenContract, amount } = getPayment(intent);
  const isOwn = recipient.toLowerCase() === intent.from.toLowerCase();
  if (intent.action || tokenContract !== null || amount !== 0n || !isOwn)
    throw new Error('a cancellation is a zero-value transaction of the account to itself');
}

/** The one call of a transaction: contract or recipient, value and calldata. */
export const encodeIntent = (intent: TransactionIntent) =>
  intent.action ? encodeAction(intent) : encodeCall(getPayment(intent));

function describe(unsigned: Hex): TransactionDescription {
  const transaction = decode(unsigned);
  return {
    chain: toCaip2(transaction.chainId as number),
    ...(describeSettlement(transaction) ?? describePayment(transaction)),
    // the L1 data fee of rollups is not in the bytes
    maxNetworkFee: (transaction.gas as bigint) * feePerGas(transaction),
    resources: [String(transaction.nonce ?? 0)],
  };
}

/** How many transactions of the sender were mined then is not in the bytes: not more than the nonce. */
function recover(unsigned: Hex, feeBound: bigint): Prepared {
  const { maxNetworkFee, resources } = describe(unsigned);
  return toPrepared({ ...feesIn(unsigned), minedNonce: toNonce(resources) }, feeBound - maxNetworkFee);
}

function signingPayloads(unsigned: Hex, from: string): SigningPayload[] {
  describe(unsigned);
  return [{ signer: evmAddress(from).key, digest: keccak256(unsigned) }];
}

/** The unsigned bytes do not contain their sender: two accounts may sign the same ones. */
export const messageKey = (unsigned: Hex, from: string): string => `${from.toLowerCase()}:${keccak256(unsigned)}`;

function assemble(unsigned: Hex, signatures: Hex[], from: string): { id: string; bytes: Hex } {
  describe(unsigned);
  const transaction = decode(unsigned);
  const [signature, ...others] = signatures;
  if (!signature || others.length > 0 || !/^0x[0-9a-fA-F]{130}$/.test(signature))
    throw new Error('one signature of 65 bytes is needed');
  const signed = hexToBytes(signature);
  const recovery = signed[64] as number;
  if (recovery > 1) throw new Error('the recovery id is 0 or 1');
  const ecdsa = secp256k1.Signature.fromBytes(signed.subarray(0, 64), 'compact');
  if (ecdsa.hasHighS()) throw new Error('s is above half the group order (EIP-2)');
  const point = ecdsa.addRecoveryBit(recovery).recoverPublicKey(keccak256(unsigned, 'bytes'));
  if (address(point.toBytes(true)).key !== from.toLowerCase()) throw new Error('the signature is not of the sender');
  const bytes = serializeTransaction(transaction, {
    r: bytesToHex(signed.subarray(0, 32)),
    s: bytesToHex(signed.subarray(32, 64)),
    v: 27n + BigInt(recovery),
    yParity: recovery,
  });
  return { id: keccak256(bytes), bytes };
}

/** Addresses by EIP-55, keys at BIP-32 path m/60/i, transactions by EIP-155 and EIP-1559. */
export const evmCodec = {
  accountPath: (index: number) => `m/60/${index}`,
  address,
  parseAddress,
  build,
  recover,
  getOrdinal: (resource: string) => BigInt(toNonce([resource])),
  signingPayloads,
  describe,
  assemble,
  messageKey,
} satisfies Partial<FamilyCodec>;
