import { ECDH } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import {
  bytesToHex,
  decodeFunctionData,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  hexToBytes,
  keccak256,
  parseTransaction,
  serializeTransaction,
  type Address,
  type TransactionSerializableEIP1559,
  type TransactionSerializableLegacy,
} from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import type { FamilyCodec, ParsedAddress, SigningPayload, TransactionPlan } from '../family';
import type { Hex, Prepared, TransactionDescription, TransactionIntent, TransactionOutput } from '../types';
import { parseChainId, toCaip2 } from './chain-id';
import { type GasFees, readDetails, toPrepared } from './details';

/** The transactions this gateway builds: EIP-1559 (type 2) and EIP-155 legacy, value or one ERC-20 transfer, nothing else. */
type Unsigned = (TransactionSerializableEIP1559 & { type: 'eip1559' }) | (TransactionSerializableLegacy & { type: 'legacy' });

const zeroAddress = '0x0000000000000000000000000000000000000000';
/** Minimum gas of any transaction (yellow paper, G_transaction). */
const minGas = 21_000n;
/** No chain of the registry has blocks with a higher limit; bounds the cost that bytes can state. */
const maxGas = 30_000_000n;
/** 79 billion coins per gas: keeps gas × fee within numeric(78,0) for any bytes. */
const maxFeePerGasLimit = 2n ** 96n;

/** Canonical forms of an address that is known to be valid. */
export function evmAddress(address: string): ParsedAddress {
  const checksummed = getAddress(address);
  return { address: checksummed, key: checksummed.toLowerCase() };
}

function parseAddress(text: string): ParsedAddress | null {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return null;
  const digits = text.slice(2);
  const parsed = evmAddress(`0x${digits.toLowerCase()}`);
  // nobody has the key of the zero address: a payment to it is lost, and no account can have it
  if (parsed.key === zeroAddress) return null;
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return oneCase || text === parsed.address ? parsed : null;
}

function address(publicKey: Uint8Array): ParsedAddress {
  if (publicKey.length !== 33) throw new Error('a compressed public key has 33 bytes');
  const point = ECDH.convertKey(publicKey, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer;
  return evmAddress(publicKeyToAddress(bytesToHex(point)));
}

/** An EVM transaction pays one recipient. @throws Error for any other number of outputs. */
export function getPayment({ outputs }: TransactionIntent): TransactionOutput {
  const [output, ...others] = outputs;
  if (!output || others.length > 0) throw new Error('a transaction has one output');
  return output;
}

function build({ chain, intent, kind, prepared, resources }: TransactionPlan): Hex {
  const { recipient, tokenContract, amount } = getPayment(intent);
  if (
    kind === 'cancellation' &&
    (tokenContract !== null || amount !== 0n || recipient.toLowerCase() !== intent.from.toLowerCase())
  ) {
    throw new Error('a cancellation is a zero-value transaction of the account to itself');
  }
  const fees = readDetails(prepared);
  const call = encodeCall({ recipient, tokenContract, amount });
  const common = { chainId: parseChainId(chain), nonce: toNonce(resources), gas: fees.gasLimit, ...call };
  const unsigned = serializeTransaction(withFees(common, fees));
  describe(unsigned);
  return unsigned;
}

/** Recipient, value and calldata of a payment. */
export function encodeCall({ recipient, tokenContract, amount }: TransactionOutput) {
  if (tokenContract === null) return { to: getAddress(recipient), value: amount, data: undefined };
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [getAddress(recipient), amount] });
  return { to: getAddress(tokenContract), value: 0n, data };
}

function toNonce(resources: string[]): number {
  const [resource = '', ...others] = resources;
  if (others.length > 0 || !/^(0|[1-9]\d*)$/.test(resource)) throw new Error('a transaction uses one nonce');
  return Number(resource);
}

function withFees<T extends object>(common: T, { maxFeePerGas, maxPriorityFeePerGas, gasPrice }: GasFees) {
  if (maxFeePerGas !== null && maxPriorityFeePerGas !== null)
    return { ...common, type: 'eip1559' as const, maxFeePerGas, maxPriorityFeePerGas };
  if (gasPrice === null) throw new Error('a plan needs EIP-1559 fees or a gas price');
  return { ...common, type: 'legacy' as const, gasPrice };
}

/**
 * Decodes and checks: bytes that serialise differently, carry an access list, calldata other than transfer(address,uint256) or a
 * signature, or have any other type are refused.
 */
function decode(unsigned: Hex): Unsigned {
  if (!/^0x(?:[0-9a-f]{2}){1,1024}$/.test(unsigned)) throw new Error('unsigned bytes are lower-case hex, at most 1024 bytes');
  const parsed = parseTransaction(unsigned) as TransactionSerializableEIP1559 | TransactionSerializableLegacy;
  if (parsed.type !== 'eip1559' && parsed.type !== 'legacy')
    throw new Error('only EIP-1559 and EIP-155 legacy transactions are signed');
  const transaction = parsed as Unsigned;
  if (serializeTransaction(transaction) !== unsigned) throw new Error('the bytes are not in canonical form');
  if (transaction.r !== undefined || transaction.s !== undefined) throw new Error('the transaction is already signed');
  if (!transaction.chainId || !Number.isSafeInteger(transaction.chainId))
    throw new Error('the transaction is not bound to a chain (EIP-155)');
  if (transaction.type === 'eip1559' && (transaction as TransactionSerializableEIP1559).accessList?.length)
    throw new Error('access lists are not used');
  if (!transaction.to) throw new Error('contract creations are not signed');
  if (!Number.isSafeInteger(transaction.nonce)) throw new Error('the nonce is out of range');
  if (!transaction.gas || transaction.gas < minGas || transaction.gas > maxGas) throw new Error('the gas limit is out of range');
  const fee = feePerGas(transaction);
  if (fee === 0n || fee > maxFeePerGasLimit) throw new Error('the fee per gas is out of range');
  return transaction;
}

const feePerGas = (transaction: Unsigned): bigint =>
  (transaction.type === 'eip1559' ? transaction.maxFeePerGas : transaction.gasPrice) ?? 0n;

function describe(unsigned: Hex): TransactionDescription {
  const transaction = decode(unsigned);
  const output = parseOutput(transaction);
  if (output.recipient.toLowerCase() === zeroAddress) throw new Error('the recipient is the zero address');
  return {
    chain: toCaip2(transaction.chainId as number),
    action: 'payment',
    outputs: [output],
    // the L1 data fee of rollups is not in the bytes
    maxNetworkFee: (transaction.gas as bigint) * feePerGas(transaction),
    resources: [String(transaction.nonce ?? 0)],
  };
}

function parseOutput(transaction: Unsigned): TransactionOutput {
  const to = getAddress(transaction.to as Address);
  const { data = '0x', value = 0n } = transaction;
  if (data === '0x') return { recipient: to, tokenContract: null, amount: value };
  if (value !== 0n) throw new Error('a token transfer carries no value');
  const call = decodeFunctionData({ abi: erc20Abi, data });
  if (call.functionName !== 'transfer') throw new Error('only transfer(address,uint256) is called');
  const [recipient, amount] = call.args;
  // the ABI decoder ignores dirty upper bytes and trailing data: the decoded call would differ from the signed bytes
  if (encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [recipient, amount] }) !== data)
    throw new Error('the calldata is not canonical');
  return { recipient: getAddress(recipient), tokenContract: to, amount };
}

/** Fees in the bytes; atomic units of the native coin per gas. */
export function feesIn(unsigned: Hex): GasFees {
  const transaction = decode(unsigned);
  const gasLimit = transaction.gas as bigint;
  return transaction.type === 'eip1559'
    ? {
        gasLimit,
        maxFeePerGas: transaction.maxFeePerGas ?? 0n,
        maxPriorityFeePerGas: transaction.maxPriorityFeePerGas ?? 0n,
        gasPrice: null,
      }
    : { gasLimit, maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: transaction.gasPrice ?? 0n };
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
  ordinalOf: (resource: string) => BigInt(toNonce([resource])),
  signingPayloads,
  describe,
  assemble,
  messageKey,
} satisfies Partial<FamilyCodec>;
