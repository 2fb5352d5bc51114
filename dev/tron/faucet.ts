import { parseAddress } from './address';
import { buildTransaction, signTransaction } from './build';
import type { Chain } from './chain';
import { evmAddress, faucetAddress, faucetKey, tokenCall } from './genesis';
import { type Account, getAccount, getContract, newAccount, putAccount, putContract } from './state';

const feeLimit = 100_000_000n;

/**
 * Sends TRX as anybody would: a transaction that the faucet's key signs.
 * @param amount sun
 * @returns the transaction id; a block has it later
 * @throws Refusal, BadBase58
 */
export function giveTrx(chain: Chain, to: string, amount: bigint): Promise<string> {
  const transfer = { owner_address: faucetAddress, to_address: parseAddress(to), amount };
  return chain.broadcast(signTransaction(buildTransaction(chain, 'TransferContract', transfer), faucetKey));
}

/**
 * As `giveTrx`, with a TRC-20 token.
 * @param amount atomic units
 */
export function giveToken(chain: Chain, token: string, to: string, amount: bigint): Promise<string> {
  const call = {
    ...{
      owner_address: faucetAddress,
      contract_address: parseAddress(token),
      call_value: 0n,
      call_token_value: 0n,
      token_id: 0n,
    },
    data: tokenCall('transfer', [evmAddress(parseAddress(to)), amount]),
  };
  return chain.broadcast(signTransaction(buildTransaction(chain, 'TriggerSmartContract', call, { feeLimit }), faucetKey));
}

/** Sets what an account has a day, as if it had staked for it. */
export async function setResources(chain: Chain, address: string, given: { bandwidth?: bigint; energy?: bigint }): Promise<void> {
  const bytes = parseAddress(address);
  await chain.change((layer) => {
    const account: Account = getAccount(layer, bytes) ?? newAccount(chain.head.timeMs);
    const net = { ...account.net, limit: given.bandwidth ?? account.net.limit };
    const energy = { ...account.energy, limit: given.energy ?? account.energy.limit };
    putAccount(layer, bytes, { ...account, net, energy });
  });
}

/**
 * Puts a contract at an address, or changes one.
 * @param given code: hex, as it runs; energyFactor: ten-thousandths of energy on top, as the dynamic energy model takes of a popular contract
 */
export async function setContract(chain: Chain, address: string, given: { code?: string; energyFactor?: number }): Promise<void> {
  const bytes = parseAddress(address);
  await chain.change((layer) => {
    const contract = getContract(layer, bytes) ?? { name: '', code: '', energyFactor: 0 };
    const account = getAccount(layer, bytes) ?? newAccount(chain.head.timeMs);
    putAccount(layer, bytes, { ...account, type: 'Contract' });
    putContract(layer, bytes, { ...contract, ...given });
  });
}
