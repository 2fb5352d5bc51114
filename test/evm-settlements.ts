import { parseTransaction, serializeTransaction, type TransactionSerializableEIP1559 } from 'viem';
import { evmFamily } from '../src/chains/evm/family';
import { type GasFees, toPrepared } from '../src/chains/evm/details';
import { getChains } from '../src/chains/registry/data';
import type { ChainDefinition, Hex, SettlementAction, TransactionIntent } from '../src/chains/types';

/** A settlement on an EVM chain as one object, of which tests change single fields. */
export interface SettlementPlan extends GasFees, Omit<SettlementAction, 'type'> {
  chainId: number;
  /** Of the settling account. */
  accountNonce: number;
  from: string;
  payTo: string;
  token: string;
  /** Atomic units. */
  amount: bigint;
}

const [ethereum] = getChains('local') as [ChainDefinition];
const usdc = ethereum.tokens.find(({ symbol }) => symbol === 'USDC')?.contract as string;

/** Seconds since the epoch. */
export const settledAt = 1_800_000_000;
const settler = '0xD7a4C0b95E1f82637Ac94De05F3b186Cd279E8A4'.toLowerCase();
const payer = '0x9f3A1cE4b27D5068Fb1c93Ed4A7e2B60d58C7fA1'.toLowerCase();
const payTo = '0x5Bc2e97D04a8F61e3C7B90fD2A6548eC1f73d0E9'.toLowerCase();

/** A signature of the form that keys make. */
export const keySignature: Hex = `0x${'2a'.repeat(64)}1b`;
/** Of a contract wallet. */
export const walletSignature: Hex = `0x${'7e'.repeat(130)}`;
export const tokenPermit = {
  value: '1000',
  deadline: String(settledAt + 60),
  v: 28,
  r: `0x${'01'.repeat(32)}`,
  s: `0x${'02'.repeat(32)}`,
} as const;

export const authorizationPlan: SettlementPlan = {
  chainId: 1,
  accountNonce: 4,
  from: settler,
  method: 'eip3009',
  payer,
  payTo,
  token: usdc,
  amount: 1_000n,
  authorised: '1000',
  nonce: `0x${'a5'.repeat(32)}`,
  validAfter: String(settledAt - 600),
  validBefore: String(settledAt + 60),
  signature: keySignature,
  gasLimit: 150_000n,
  maxFeePerGas: 50n,
  maxPriorityFeePerGas: 1n,
  gasPrice: null,
};
/** Of a wallet that the transaction creates before. */
export const deploymentPlan: SettlementPlan = {
  ...authorizationPlan,
  signature: walletSignature,
  deployment: { factory: '0x6A7d45bC09E82f3a1D5c90B7e4F2683d1Ca0594e'.toLowerCase(), data: `0x${'c3'.repeat(100)}` },
};
export const exactPlan: SettlementPlan = { ...authorizationPlan, method: 'permit2_exact', nonce: '12345678901234567890' };
/** Takes less than was authorised. */
export const uptoPlan: SettlementPlan = { ...exactPlan, method: 'permit2_upto', amount: 400n };

export function toSettlementIntent(whole: SettlementPlan): TransactionIntent {
  const { from, payTo: recipient, token: tokenContract, amount, ...plan } = whole;
  const { method, payer: ofPayer, nonce, authorised, validAfter, validBefore, signature, permit, deployment } = plan;
  const action: SettlementAction = {
    type: 'settlement',
    ...{ method, payer: ofPayer, nonce, authorised, validAfter, validBefore, signature },
    ...(permit && { permit }),
    ...(deployment && { deployment }),
  };
  return { from, outputs: [{ recipient, tokenContract, amount }], action };
}

export const buildSettlement = (plan: SettlementPlan): Hex =>
  evmFamily.build({
    chain: { ...ethereum, caip2: `eip155:${plan.chainId}` },
    intent: toSettlementIntent(plan),
    kind: 'first',
    prepared: toPrepared({ ...plan, minedNonce: 0 }, 0n),
    resources: [String(plan.accountNonce)],
  });

/** The same transaction with other fields, whatever the gateway would build. */
export function changeBytes(
  unsigned: Hex,
  change: (transaction: TransactionSerializableEIP1559) => Partial<TransactionSerializableEIP1559>,
): Hex {
  const transaction = parseTransaction(unsigned) as TransactionSerializableEIP1559;
  return serializeTransaction({ ...transaction, ...change(transaction), type: 'eip1559' });
}
