import { parseTransaction } from 'viem';
import type { PaymentReason } from '../../payment-reasons';
import type { ApprovalQuote, Payment, Sponsoring } from '../../payments';
import type { Hex } from '../../types';
import { fetchL1Fee } from '../l1-fee';
import { NodeRefusal, type RpcCall } from '../rpc';
import { quantity, type RpcBlock } from '../rpc-types';
import { encodeSettlement, maxSettlementGas } from './calldata';
import { reasonOfRevert } from './reverts';
import { hasCode } from './simulate';

/** Highest price that an approval may state: so many times the base fee, or what official clients state where they know none; wei. */
const highestRise = 10n;
const usualCap = 3_000_000_000n;
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

export type Approval = Extract<Sponsoring, { type: 'approval' }>;

/**
 * Whether the chain would execute the payer's approval and then the payment, and what the payer lacks for the first. The chain has said
 * before that nothing but the allowance is missing.
 * @throws the failure of a request that was not executed
 */
export async function quoteApproval(
  call: RpcCall,
  payment: Payment,
  approval: Approval,
  settler: string,
): Promise<ApprovalQuote> {
  const { payer } = payment;
  const [mined, pending, balance, block, isContract, reason, l1Fee] = await Promise.all([
    call<Hex>('eth_getTransactionCount', [payer, 'latest']),
    call<Hex>('eth_getTransactionCount', [payer, 'pending']),
    call<Hex>('eth_getBalance', [payer, 'latest']),
    call<RpcBlock>('eth_getBlockByNumber', ['latest', false]),
    hasCode(call, payer),
    simulateBoth(call, payment, approval, settler),
    fetchL1Fee(call, payment.chain, approval.raw),
  ]);
  // what it receives could be spent by its code, at once
  if (isContract) return { reason: 'permit2_allowance_required' };
  const isNext = Number(mined) === approval.nonce && Number(pending) === approval.nonce;
  const { maxFeePerGas = 0n } = parseTransaction(approval.raw);
  const baseFee = BigInt(block.baseFeePerGas ?? 0);
  // a higher price only makes a larger gift
  const isUsual = maxFeePerGas >= baseFee && maxFeePerGas <= max(highestRise * baseFee, usualCap);
  if (!isNext || !isUsual) return { reason: 'erc20_approval_tx_parse_failed' };
  if (reason) return { reason };
  // nodes ask for the L1 part beside the highest fee, at a price that rises by an eighth a block at most
  const missing = approval.maxCost + 2n * l1Fee - BigInt(balance);
  return { topUp: missing > 0n ? missing : 0n };
}

interface SimulatedBlock {
  calls: { status: Hex; returnData: Hex }[];
}

/** JSON-RPC codes of a method that a node does not have (EIP-1474). */
const missingMethod = new Set([-32601, -32004]);
/** Gas limits below what a transaction costs before it is executed: Geth's code, and the words of Geth and Anvil. */
const isTooLittleGas = ({ code, nodeMessage }: NodeRefusal): boolean => code === -38013 || /intrinsic gas/i.test(nodeMessage);

/** null: both would be executed, or the node cannot say (eth_simulateV1 is not everywhere). */
async function simulateBoth(call: RpcCall, payment: Payment, { raw }: Approval, settler: string): Promise<PaymentReason | null> {
  const { to, data, gas = 0n } = parseTransaction(raw);
  const calls = [
    { from: payment.payer, to, data, gas: quantity(gas) },
    { from: settler, ...encodeSettlement(payment, payment.authorised), gas: quantity(maxSettlementGas) },
  ];
  let blocks: SimulatedBlock[];
  try {
    blocks = await call<SimulatedBlock[]>('eth_simulateV1', [{ blockStateCalls: [{ calls }], validation: false }, 'latest']);
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error;
    if (missingMethod.has(error.code)) return null;
    if (isTooLittleGas(error)) return 'permit2_simulation_failed';
    throw error;
  }
  const [approved, settled] = blocks[0]?.calls ?? [];
  if (!approved || !settled) throw new Error('the node has not simulated both calls');
  if (BigInt(approved.status) === 1n && BigInt(settled.status) === 1n) return null;
  return reasonOfRevert(settled.returnData) ?? 'permit2_simulation_failed';
}
