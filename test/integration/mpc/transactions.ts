import { createHash } from 'node:crypto';
import { parseChainId } from '../../../src/chains/evm/chain-id';
import type { ImpossibilityProver } from '../../../src/chains/chain-client';
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

/** Whose keys they are. */
export const client = '0190b5a4-0000-7000-8000-00000000000c';
export const recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const stranger = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

const bytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');

export interface OrderedTransfer {
  claims: SigningClaims;
  unsigned: Hex;
}

export interface TransferOptions {
  /** Of a token; none for the native coin. */
  symbol?: string;
  /** Of the account. */
  index?: number;
  nonce?: number;
  chain?: string;
  /** Of another attempt than the first. */
  isCancellation?: boolean;
}

/** An honest order for an account of a key: bytes and claims agree. Other bytes are another transfer. */
export function orderedTransfer(key: GroupKey, registry: ChainRegistry, options: TransferOptions = {}): OrderedTransfer {
  const { symbol, index = 0, nonce = 7, isCancellation = false } = options;
  const chain = registry.get(options.chain ?? 'ethereum');
  const family = getFamily(chain.family);
  const path = family.accountPath(index);
  const from = family.address(deriveKey({ publicKey: bytes(key.publicKey), chainCode: bytes(key.chainCode) }, path)).address;
  const contract = symbol ? (chain.tokens.find((token) => token.symbol === symbol)?.contract ?? null) : null;
  if (symbol && contract === null) throw new Error(`no token ${symbol}`);
  const gasLimit = symbol ? 100_000n : 21_000n;
  const maxFeePerGas = 30_000_000_000n;
  const pays = isCancellation
    ? { to: from, tokenContract: null, amount: 0n }
    : { to: recipient, tokenContract: contract, amount: 1_500_000n };
  const unsigned = buildEvm({
    chainId: parseChainId(chain),
    kind: isCancellation ? 'cancellation' : 'first',
    nonce,
    from,
    ...pays,
    gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas: 1_000_000_000n,
    gasPrice: null,
  });
  const claims: SigningClaims = {
    ...orderHead(),
    kind: isCancellation ? 'cancellation' : 'transfer',
    tx_id: transactionId(unsigned, from),
    attempt: isCancellation ? 2 : 1,
    client_id: client,
    request: null,
    signers: [{ key_id: key.keyId, path, protocol: family.keyProtocol, digests: [digestOf(unsigned, from)] }],
    chain: chain.caip2,
    from,
    recipients: [{ address: pays.to, token: pays.tokenContract, amount: pays.amount.toString() }],
    max_fee: (gasLimit * maxFeePerGas).toString(),
  };
  return { claims, unsigned };
}

const transactionId = (unsigned: string, from: string): string =>
  `0190b5a4-0000-7000-8000-${createHash('sha256').update(unsigned).update(from).digest('hex').slice(0, 12)}`;

/** The same bytes as a later attempt of a transfer. */
export const asAttempt = (
  ordered: OrderedTransfer,
  attempt: number,
  kind: 'transfer' | 'replacement',
  { claims: first }: OrderedTransfer = ordered,
): OrderedTransfer => ({ ...ordered, claims: { ...toCommon(ordered), tx_id: first.tx_id, attempt, kind } });

/** The same bytes in the place of earlier attempts, the oldest first. */
export const asReissue = (ordered: OrderedTransfer, attempt: number, earlier: OrderedTransfer[]): OrderedTransfer => ({
  ...ordered,
  claims: {
    ...toCommon(ordered),
    ...{ tx_id: earlier[0]?.claims.tx_id ?? ordered.claims.tx_id, attempt, kind: 'reissue' },
    earlier: earlier.map(({ claims, unsigned }) => ({
      attempt: claims.attempt,
      digests: claims.signers.flatMap(({ digests }) => digests),
      unsigned,
    })),
  },
});

/** What orders of every kind say. */
function toCommon({ claims }: OrderedTransfer) {
  const common = { ...claims };
  if ('earlier' in common) Reflect.deleteProperty(common, 'earlier');
  return common;
}

/** Where everything is proven. */
export const provesAll: ReadonlyMap<string, ImpossibilityProver> = new Map([
  ['ethereum', { proveImpossible: () => Promise.resolve({ endpoint: 'test', block: { number: 1, hash: '0x00' } }) }],
]);

/** Another order over the same bytes. */
export const ordersAgain = ({ claims, unsigned }: OrderedTransfer, seq: number): OrderedTransfer => ({
  claims: { ...claims, ...orderHead({ seq }) },
  unsigned,
});

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
