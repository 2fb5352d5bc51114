import { type Address, getAddress, keccak256, serializeTransaction, toEventSelector, type Transaction } from 'viem';
import { toDigests } from '../../src/chains/evm/authorise/digests';
import { parseChainId } from '../../src/chains/evm/chain-id';
import { readAnySettlement, type SettlementRead } from '../../src/chains/evm/payments/read-calldata';
import { type RpcLog, transferTopic } from '../../src/chains/evm/rpc-types';
import { tokenByContract } from '../../src/chains/registry';
import type { ChainDefinition, Hex } from '../../src/chains/types';
import type { Executed, Owner } from './record-differences';

/** By address in lower case. */
export type OwnAddresses = ReadonlyMap<string, Owner>;

/** Events whose first argument is an account that has let somebody move its tokens, or has moved them itself. */
export const movingTopics: readonly Hex[] = [transferTopic, toEventSelector('AuthorizationUsed(address,bytes32)')];

/**
 * What of a transaction accounts of the gateway have signed: the transaction itself, if one of them has sent it, and the payments of those
 * whose tokens it moves without their having sent it (EIP-3009, Permit2).
 * @param logs the transaction's own, of `movingTopics`
 */
export function executedOnEvm(
  transaction: Transaction,
  logs: readonly Pick<RpcLog, 'topics'>[],
  chain: ChainDefinition,
  own: OwnAddresses,
): Executed[] {
  const subject = `${transaction.hash} on ${chain.name}`;
  const sender = transaction.from.toLowerCase();
  const payers = new Set(logs.map(({ topics: [, account] }) => `0x${account?.slice(-40).toLowerCase()}`));
  // nobody has to be allowed to move what is its own
  payers.delete(sender);
  return [
    ...toExecuted(sender, subject, own, () => digestOf(transaction)),
    ...[...payers].flatMap((payer) =>
      toExecuted(payer, `the payment of ${payer} in ${subject}`, own, () => paymentDigest(transaction, payer, chain)),
    ),
  ];
}

function toExecuted(account: string, subject: string, own: OwnAddresses, digest: () => Hex | null): Executed[] {
  const owner = own.get(account);
  return owner === undefined ? [] : [{ subject, digest: digest(), owner }];
}

/** What was signed, computed from what the chain has executed. */
function digestOf({ type, chainId, nonce, gas, to, value, input, ...fees }: Transaction): Hex {
  const common = { chainId: chainId ?? 0, nonce, gas, to, value, data: input };
  if (type === 'eip1559') {
    const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = fees;
    return keccak256(serializeTransaction({ ...common, type, maxFeePerGas, maxPriorityFeePerGas }));
  }
  return keccak256(serializeTransaction({ ...common, type: 'legacy', gasPrice: fees.gasPrice ?? 0n }));
}

/** null: the call does not name a payment of this payer, as one by way of another contract does not. */
function paymentDigest({ to, input }: Transaction, payer: string, chain: ChainDefinition): Hex | null {
  const read = to === null ? null : tryToRead(getAddress(to), input);
  if (read?.payment.payer.toLowerCase() !== payer) return null;
  const { method, payTo, authorised, nonce, validAfter, validBefore, facilitator, token } = read.payment;
  const [digest] = toDigests({
    ...{ chainId: parseChainId(chain), method, value: authorised, nonce: BigInt(nonce), validAfter, validBefore },
    ...{ token: token.contract as Address, from: payer as Address, to: payTo as Address, facilitator: facilitator as Address },
    domain: tokenByContract(chain, token.contract)?.domain ?? null,
    permitNonce: null,
  });
  return digest ?? null;
}

function tryToRead(to: Address, data: Hex): SettlementRead | null {
  try {
    return readAnySettlement({ to, data });
  } catch {
    // calldata of another function
    return null;
  }
}
