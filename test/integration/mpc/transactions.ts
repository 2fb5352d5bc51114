import { parseChainId } from '../../../src/chains/evm/chain-id';
import { getFamily } from '../../../src/chains/families';
import type { ChainRegistry } from '../../../src/chains/registry';
import type { Hex } from '../../../src/chains/types';
import type { GroupKey } from '../../../src/messages/key-generation';
import type { NodeIndex } from '../../../src/messages/nodes';
import type { SigningClaims } from '../../../src/messages/order';
import type { SignTransactionRequest } from '../../../src/messages/signing';
import { deriveKey } from '../../../src/mpc/secp256k1';
import { buildEvm, digestOf } from '../../evm';
import { orderHead, signOrder } from '../../orders';
import { client } from './group';

export const recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const stranger = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

const bytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');

export interface OrderedTransfer {
  claims: SigningClaims;
  unsigned: Hex;
}

/** An honest order for account `index` of a key: bytes and claims agree. `symbol` of a token, or none for the native coin. */
export function orderedTransfer(
  key: GroupKey,
  registry: ChainRegistry,
  options: { symbol?: string; index?: number; nonce?: number; chain?: string } = {},
): OrderedTransfer {
  const { symbol, index = 0, nonce = 7 } = options;
  const chain = registry.get(options.chain ?? 'ethereum');
  const family = getFamily(chain.family);
  const path = family.accountPath(index);
  const from = family.address(deriveKey({ publicKey: bytes(key.publicKey), chainCode: bytes(key.chainCode) }, path)).address;
  const tokenContract = symbol ? (chain.tokens.find((token) => token.symbol === symbol)?.contract ?? null) : null;
  if (symbol && tokenContract === null) throw new Error(`no token ${symbol}`);
  const gasLimit = symbol ? 100_000n : 21_000n;
  const maxFeePerGas = 30_000_000_000n;
  const unsigned = buildEvm({
    chainId: parseChainId(chain),
    kind: 'first',
    nonce,
    from,
    to: recipient,
    tokenContract,
    amount: 1_500_000n,
    gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas: 1_000_000_000n,
    gasPrice: null,
  });
  const claims: SigningClaims = {
    ...orderHead(),
    kind: 'transfer',
    tx_id: '0190b5a4-0000-7000-8000-000000000001',
    attempt: 1,
    client_id: client,
    request: null,
    signers: [{ key_id: key.keyId, path, protocol: family.keyProtocol, digests: [digestOf(unsigned, from)] }],
    chain: chain.caip2,
    from,
    recipients: [{ address: recipient, token: tokenContract, amount: '1500000' }],
    max_fee: (gasLimit * maxFeePerGas).toString(),
  };
  return { claims, unsigned };
}

/** The request of the workflow to a node. */
export const toRequest = async ({ claims, unsigned }: OrderedTransfer, peer: NodeIndex): Promise<SignTransactionRequest> => ({
  order: await signOrder(claims),
  unsigned,
  peer,
});

/** Changes the recipient in the order. */
export function payTo({ claims }: OrderedTransfer, address: string): void {
  claims.recipients = claims.recipients.map((output) => ({ ...output, address }));
}
