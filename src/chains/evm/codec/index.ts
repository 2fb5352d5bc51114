import { keccak256, serializeTransaction } from 'viem';
import type { FamilyCodec, SigningPayload, TransactionPlan } from '../../family';
import type { Hex, Prepared, TransactionDescription, TransactionIntent } from '../../types';
import { isAuthorisation } from '../authorise/bytes';
import {
  assembleAuthorisation,
  authorisationPayloads,
  buildAuthorisation,
  describeAuthorisation,
  recoverAuthorisation,
  authorisationKeyOf,
  isAllowance,
} from '../authorise/codec';
import { parseChainId, toCaip2 } from '../chain-id';
import { readDetails, toPrepared } from '../details';
import { highestGas } from '../fees';
import { address, evmAddress, hasWrongChecksum, parseAddress } from './address';
import { describePayment, encodeCall, getPayment } from './payment';
import { describeSettlement, encodeAction } from './settlement';
import { readKeySignature } from './signature';
import { decode, feePerGas, feesIn, toNonce, withFees } from './transaction';

function build(plan: TransactionPlan): Hex {
  const { chain, intent, kind, prepared, resources } = plan;
  if (intent.action?.type === 'authorisation') return buildAuthorisation(plan);
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
  if (isAuthorisation(unsigned)) return describeAuthorisation(unsigned);
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
  if (isAuthorisation(unsigned)) return recoverAuthorisation(unsigned);
  const { maxNetworkFee, resources } = describe(unsigned);
  return toPrepared({ ...feesIn(unsigned), minedNonce: toNonce(resources) }, feeBound - maxNetworkFee);
}

function signingPayloads(unsigned: Hex, from: string): SigningPayload[] {
  if (isAuthorisation(unsigned)) return authorisationPayloads(unsigned, from);
  describe(unsigned);
  return [{ signer: evmAddress(from).key, digest: keccak256(unsigned) }];
}

/** The unsigned bytes do not contain their sender: two accounts may sign the same ones. */
export const messageKey = (unsigned: Hex, from: string): string =>
  isAuthorisation(unsigned) ? authorisationKeyOf(unsigned) : `${from.toLowerCase()}:${keccak256(unsigned)}`;

function assemble(unsigned: Hex, signatures: Hex[], from: string): { id: string; bytes: Hex } {
  if (isAuthorisation(unsigned)) return assembleAuthorisation(unsigned, signatures, from);
  describe(unsigned);
  const [signature, ...others] = signatures;
  if (others.length > 0) throw new Error('a transaction has one signature');
  const { r, s, yParity } = readKeySignature(signature, keccak256(unsigned), from);
  const bytes = serializeTransaction(decode(unsigned), { r, s, v: 27n + BigInt(yParity), yParity });
  return { id: keccak256(bytes), bytes };
}

/** Addresses by EIP-55, keys at BIP-32 path m/60/i, transactions by EIP-155 and EIP-1559, authorisations of payments by EIP-712. */
export const evmCodec = {
  accountPath: (index: number) => `m/60/${index}`,
  address,
  parseAddress,
  hasWrongChecksum,
  build,
  recover,
  getOrdinal: (resource: string) => (isAllowance(resource) ? null : BigInt(toNonce([resource]))),
  signingPayloads,
  describe,
  assemble,
  messageKey,
} satisfies Partial<FamilyCodec>;
