import { evmFamily } from '../src/chains/evm/family';
import { type GasFees, toPrepared } from '../src/chains/evm/details';
import type { KnownAttempt } from '../src/chains/chain-client';
import type { TransactionPlan } from '../src/chains/family';
import { getChains } from '../src/chains/registry/data';
import type { AttemptKind, ChainDefinition, Hex, TransactionIntent } from '../src/chains/types';

/** A payment on an EVM chain as one object, of which tests change single fields. */
export interface EvmPlan extends GasFees {
  chainId: number;
  kind: AttemptKind;
  nonce: number;
  from: string;
  to: string;
  /** null: native coin. */
  tokenContract: string | null;
  amount: bigint;
}

/** A payment of 5 wei on the local chain, at fees that suffice there. */
export const localPlan = (nonce: number, from: string, to: string, changes: Partial<EvmPlan> = {}): EvmPlan => ({
  chainId: 1,
  kind: 'first',
  nonce,
  from,
  to,
  tokenContract: null,
  amount: 5n,
  gasLimit: 100_000n,
  maxFeePerGas: 20n * 10n ** 9n,
  maxPriorityFeePerGas: 10n ** 9n,
  gasPrice: null,
  ...changes,
});

const [ethereum] = getChains('local') as [ChainDefinition];

export const toIntent = ({
  from,
  to: recipient,
  tokenContract,
  amount,
}: Omit<EvmPlan, keyof GasFees | 'kind' | 'chainId' | 'nonce'>): TransactionIntent => ({
  from,
  outputs: [{ recipient, tokenContract, amount }],
});

export const toPlan = (plan: EvmPlan): TransactionPlan => ({
  chain: { ...ethereum, caip2: `eip155:${plan.chainId}` },
  intent: toIntent(plan),
  kind: plan.kind,
  prepared: toPrepared({ ...plan, minedNonce: 0 }, 0n),
  resources: [String(plan.nonce)],
});

export const buildEvm = (plan: EvmPlan): Hex => evmFamily.build(toPlan(plan));

/** The one digest that an EVM transaction has. */
export function digestOf(unsigned: Hex, from: string): Hex {
  const [payload] = evmFamily.signingPayloads(unsigned, from);
  if (!payload) throw new Error('no signing payload');
  return payload.digest;
}

/** An attempt as a chain client is asked about it. */
export function toKnown(plan: EvmPlan, ids: string[], attempt = 1): KnownAttempt {
  const unsigned = buildEvm(plan);
  const messageKey = evmFamily.messageKey(unsigned, plan.from);
  return { attempt, kind: plan.kind, intent: toIntent(plan), unsigned, messageKey, ids, expiry: null, begunAt: new Date() };
}

/** A signature of viem as signing nodes give theirs: r, s and the recovery id. */
export const compact = (signature: Hex): Hex => `${signature.slice(0, -2)}${signature.endsWith('1c') ? '01' : '00'}` as Hex;
