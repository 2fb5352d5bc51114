import { createHash } from 'node:crypto';
import { parseChainId } from '../../../src/chains/evm/chain-id';
import { getFamily } from '../../../src/chains/families';
import type { ChainRegistry } from '../../../src/chains/registry';
import type { GroupKey } from '../../../src/messages/key-generation';
import type { SignTransactionRequest } from '../../../src/messages/signing';
import { deriveKey } from '../../../src/mpc/secp256k1';
import { buildEvm, digestOf } from '../../evm';

export const recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const stranger = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

const bytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');

/** An honest request for account `index` of a key: bytes and intent agree. `symbol` of a token, or none for the native coin. */
export function transferRequest(
  key: GroupKey,
  registry: ChainRegistry,
  options: { symbol?: string; index?: number; nonce?: number; chain?: string; kind?: 'cancellation' } = {},
): Omit<SignTransactionRequest, 'peer'> {
  const { symbol, index = 0, nonce = 7 } = options;
  const chain = registry.get(options.chain ?? 'ethereum');
  const family = getFamily(chain.family);
  const path = family.accountPath(index);
  const from = family.address(deriveKey({ publicKey: bytes(key.publicKey), chainCode: bytes(key.chainCode) }, path)).address;
  const tokenContract = symbol ? (chain.tokens.find((token) => token.symbol === symbol)?.contract ?? null) : null;
  if (symbol && tokenContract === null) throw new Error(`no token ${symbol}`);
  const gasLimit = symbol ? 100_000n : 21_000n;
  const maxFeePerGas = 30_000_000_000n;
  const isCancellation = options.kind === 'cancellation';
  const unsigned = buildEvm({
    chainId: parseChainId(chain),
    kind: options.kind ?? 'first',
    nonce,
    from,
    ...(isCancellation ? { to: from, tokenContract: null, amount: 0n } : { to: recipient, tokenContract, amount: 1_500_000n }),
    gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas: 1_000_000_000n,
    gasPrice: null,
  });
  return {
    signers: [{ keyId: key.keyId, path, protocol: family.keyProtocol, digests: [digestOf(unsigned, from)] }],
    family: chain.family,
    kind: options.kind ?? 'first',
    attempt: isCancellation ? 2 : 1,
    unsigned,
    intent: {
      txId: transactionId(unsigned, from),
      chain: chain.name,
      fromAddress: from,
      outputs: [{ to: recipient, tokenContract, amount: '1500000' }],
      feeBound: (gasLimit * maxFeePerGas).toString(),
    },
  };
}

/** Other bytes are another transfer: a node signs one set of digests for each attempt. */
const transactionId = (unsigned: string, from: string): string =>
  `0190b5a4-0000-7000-8000-${createHash('sha256').update(unsigned).update(from).digest('hex').slice(0, 12)}`;

/** Changes the recipient in the intent of the request. */
export function payTo(request: Pick<SignTransactionRequest, 'intent'>, to: string): void {
  request.intent.outputs = request.intent.outputs.map((output) => ({ ...output, to }));
}
