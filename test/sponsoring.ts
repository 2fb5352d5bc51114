import { type Address, encodeFunctionData, erc20Abi, maxUint256, type PrivateKeyAccount } from 'viem';
import { permit2Address } from '../src/chains/evm/payments/contracts';
import type { Hex, JsonObject, JsonValue } from '../src/chains/types';
import { change } from './unit/x402/bodies';

/** What payers without an allowance for Permit2 add to their payments, as official clients make it. */

/** The body with an extension of the protocol. */
export const extended = (body: JsonObject, key: string, info: JsonObject): JsonObject =>
  change(body, { 'paymentPayload.extensions': { [key]: { info: info as JsonValue } } });

export interface TokenPermit {
  payer: PrivateKeyAccount;
  token: Address;
  chainId?: number;
  /** Atomic units. */
  amount: bigint;
  /** Of the token. */
  nonce?: bigint;
}

/** eip2612GasSponsoring: a permit of the token, for 10 minutes. */
export async function permitInfo({ payer, token, chainId = 8453, amount, nonce = 0n }: TokenPermit): Promise<JsonObject> {
  const deadline = BigInt(Math.floor(Date.now() / 1000) + 600);
  const signature = await payer.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId, verifyingContract: token },
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'Permit',
    message: { owner: payer.address, spender: permit2Address, value: amount, nonce, deadline },
  });
  return {
    ...{ from: payer.address, asset: token, spender: permit2Address, amount: amount.toString(), nonce: nonce.toString() },
    ...{ deadline: deadline.toString(), signature, version: '1' },
  };
}

export interface SignedApproval {
  payer: PrivateKeyAccount;
  token: Address;
  chainId?: number;
  /** Of the payer's account. */
  nonce?: number;
  gas?: bigint;
  /** Wei. */
  maxFeePerGas?: bigint;
  amount?: bigint;
}

/** erc20ApprovalGasSponsoring: a signed transaction that gives Permit2 an allowance. */
export async function approvalInfo(approval: SignedApproval): Promise<JsonObject & { signedTransaction: Hex }> {
  const { payer, token, chainId = 8453, nonce = 0, gas = 70_000n, maxFeePerGas = 3_000_000_000n, amount = maxUint256 } = approval;
  const signedTransaction = await payer.signTransaction({
    ...{ type: 'eip1559', chainId, nonce, to: token, gas, maxFeePerGas, maxPriorityFeePerGas: 1_000_000n },
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [permit2Address, amount] }),
  });
  return {
    ...{ from: payer.address, asset: token, spender: permit2Address, amount: amount.toString() },
    ...{ signedTransaction, version: '1' },
  };
}
