import { type Address, decodeFunctionData, encodeFunctionData, erc20Abi, getAddress, zeroAddress } from 'viem';
import type { TransactionDescription, TransactionIntent, TransactionOutput } from '../../types';
import type { Unsigned } from './transaction';

/** An EVM transaction pays one recipient. @throws Error for any other number of outputs. */
export function getPayment({ outputs }: TransactionIntent): TransactionOutput {
  const [output, ...others] = outputs;
  if (!output || others.length > 0) throw new Error('a transaction has one output');
  return output;
}

/** Recipient, value and calldata of a payment. */
export function encodeCall({ recipient, tokenContract, amount }: TransactionOutput) {
  if (tokenContract === null) return { to: getAddress(recipient), value: amount, data: undefined };
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [getAddress(recipient), amount] });
  return { to: getAddress(tokenContract), value: 0n, data };
}

/** What a payment does, from its bytes alone. @throws Error for calldata other than transfer(address,uint256). */
export function describePayment(transaction: Unsigned): Pick<TransactionDescription, 'action' | 'outputs'> {
  const output = parseOutput(transaction);
  if (output.recipient.toLowerCase() === zeroAddress) throw new Error('the recipient is the zero address');
  return { action: 'payment', outputs: [output] };
}

/** Value, or one ERC-20 transfer. */
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
