import { secp256k1 } from '@noble/curves/secp256k1.js';
import {
  bytesToHex,
  type Address,
  decodeFunctionData,
  encodeFunctionData,
  erc20Abi,
  hexToBytes,
  keccak256,
  parseTransaction,
  serializeTransaction,
  type TransactionSerializableEIP1559,
} from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import type { PaymentReason } from '../../payment-reasons';
import type { ChainDefinition, Hex, JsonObject } from '../../types';
import { parseChainId } from '../chain-id';
import { permit2Address } from './contracts';
import { isVersion, type NeededAllowance, readDecimal, type SponsoringResult } from './extension-fields';
import { readAddress, refuse } from './fields';

/** approve(address,uint256) */
const approveSelector = '0x095ea7b3';
/** A signed approval has about 180 bytes. */
const maxTransactionBytes = 512;
/** An approval of an ordinary token needs about 50,000, more behind a proxy; official clients sign 70,000. */
const gasRange = { min: 21_000n, max: 150_000n };

/**
 * Information of the extension erc20ApprovalGasSponsoring: a signed transaction of the payer that gives Permit2 an allowance. The
 * gateway would send it as it is, so it may be nothing else: one call of `approve`, without value, of this chain.
 */
export function readApproval(info: JsonObject, needed: NeededAllowance, chain: ChainDefinition): SponsoringResult {
  const raw = info.signedTransaction;
  const [from, asset, spender] = [readAddress(info.from), readAddress(info.asset), readAddress(info.spender)];
  const isWellFormed = from && asset && spender && readDecimal(info.amount) !== null && isVersion(info.version);
  if (!isWellFormed || typeof raw !== 'string' || !/^0x[0-9a-fA-F]+$/.test(raw))
    return refuse('invalid_erc20_approval_extension_format');
  if (from !== needed.payer) return refuse('erc20_approval_from_mismatch');
  if (asset !== needed.token) return refuse('erc20_approval_asset_mismatch');
  if (spender !== permit2Address) return refuse('erc20_approval_spender_not_permit2');
  const bytes = raw.toLowerCase() as Hex;
  const transaction = parse(bytes);
  if (!transaction) return refuse('erc20_approval_tx_parse_failed');
  const reason = callReason(transaction, needed) ?? envelopeReason(transaction, chain) ?? signerReason(transaction, needed);
  if (reason) return refuse(reason);
  const { gas = 0n, maxFeePerGas = 0n, nonce = 0 } = transaction;
  return { type: 'approval', raw: bytes, id: keccak256(bytes), nonce, maxCost: gas * maxFeePerGas };
}

type SignedTransaction = TransactionSerializableEIP1559 & { type: 'eip1559' };

/** null for bytes that are no signed type-2 transaction in canonical form. */
function parse(raw: Hex): SignedTransaction | null {
  if (raw.length > 2 + 2 * maxTransactionBytes) return null;
  try {
    const transaction = parseTransaction(raw) as SignedTransaction;
    if (transaction.type !== 'eip1559' || !transaction.r || !transaction.s) return null;
    return serializeTransaction(transaction) === raw ? transaction : null;
  } catch {
    return null;
  }
}

function callReason({ to, data = '0x' }: SignedTransaction, { token, amount }: NeededAllowance): PaymentReason | null {
  if (to?.toLowerCase() !== token.toLowerCase()) return 'erc20_approval_tx_wrong_target';
  if (!data.startsWith(approveSelector)) return 'erc20_approval_tx_wrong_selector';
  const call = decodeApprove(data);
  if (!call) return 'erc20_approval_tx_invalid_calldata';
  if (call.spender.toLowerCase() !== permit2Address.toLowerCase()) return 'erc20_approval_tx_wrong_spender';
  return call.amount < amount ? 'erc20_approval_tx_invalid_calldata' : null;
}

/** null unless the calldata is exactly one canonical call: 68 bytes. */
function decodeApprove(data: Hex): { spender: Address; amount: bigint } | null {
  try {
    const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data });
    if (functionName !== 'approve' || encodeFunctionData({ abi: erc20Abi, functionName, args }) !== data) return null;
    return { spender: args[0], amount: args[1] };
  } catch {
    return null;
  }
}

function envelopeReason(transaction: SignedTransaction, chain: ChainDefinition): PaymentReason | null {
  const { chainId, value = 0n, gas = 0n, maxFeePerGas = 0n, accessList = [] } = transaction;
  const isOrdinary = chainId === parseChainId(chain) && value === 0n && accessList.length === 0;
  if (gas * maxFeePerGas > chain.maxNetworkFee) return 'erc20_approval_tx_parse_failed';
  return isOrdinary && gas >= gasRange.min && gas <= gasRange.max ? null : 'erc20_approval_tx_parse_failed';
}

function signerReason(transaction: SignedTransaction, { payer }: NeededAllowance): PaymentReason | null {
  try {
    return recover(transaction).toLowerCase() === payer.toLowerCase() ? null : 'erc20_approval_tx_signer_mismatch';
  } catch {
    return 'erc20_approval_tx_invalid_signature';
  }
}

/** @throws Error for values that are no signature */
function recover({ r, s, yParity, v: _v, ...unsigned }: SignedTransaction): Address {
  if (!r || !s || (yParity !== 0 && yParity !== 1)) throw new Error('the signature is incomplete');
  const compact = hexToBytes(`0x${r.slice(2).padStart(64, '0')}${s.slice(2).padStart(64, '0')}`);
  const signature = secp256k1.Signature.fromBytes(compact, 'compact');
  if (signature.hasHighS()) throw new Error('s is above half the group order (EIP-2)');
  const point = signature.addRecoveryBit(yParity).recoverPublicKey(keccak256(serializeTransaction(unsigned), 'bytes'));
  return publicKeyToAddress(bytesToHex(point.toBytes(false)));
}
