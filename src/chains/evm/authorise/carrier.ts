import { pad, toEventSelector } from 'viem';
import type { Hex } from '../../types';
import type { RpcCall } from '../rpc';
import { quantity, transferEvent, transferTopic, type RpcBlock, type RpcLog, type RpcTransaction } from '../rpc-types';
import { type Authorisation, nonceBytes, toIdentity } from './bytes';
import { readCarriedOut } from './carried-out';

/** EIP-3009. */
const usedTopic: Hex = toEventSelector('AuthorizationUsed(address,bytes32)');

/** Blocks of one request for logs: public endpoints refuse more. */
const chunk = 1_000;
/** Chunks that are looked through: an hour of the fastest chain has 15. */
const maxChunks = 64;
/** The clocks of the gateway and of blocks differ. */
const earlierSeconds = 600;

/**
 * The transaction that has used a payment's nonce up, looked for from the newest block back to the time when the payment was begun; null:
 * no log shows it.
 */
export async function findCarrier(
  call: RpcCall,
  authorisation: Authorisation,
  head: number,
  begunAt: Date,
): Promise<string | null> {
  const since = Math.floor(begunAt.getTime() / 1000) - earlierSeconds;
  for (let to = head, count = 0; to >= 0 && count < maxChunks; to -= chunk, count += 1) {
    const from = Math.max(to - chunk + 1, 0);
    const found = await findIn(call, authorisation, from, to);
    if (found !== null) return found;
    const first = await call<RpcBlock | null>('eth_getBlockByNumber', [quantity(from), false]);
    if (!first || Number(first.timestamp) < since) return null;
  }
  return null;
}

async function findIn(call: RpcCall, authorisation: Authorisation, from: number, to: number): Promise<string | null> {
  const { method, token } = authorisation;
  const range = { address: token, fromBlock: quantity(from), toBlock: quantity(to) };
  const payer = pad(authorisation.from);
  if (method === 'eip3009') {
    const topics = [usedTopic, payer.toLowerCase(), nonceBytes(authorisation.nonce)];
    const [log] = await call<RpcLog[]>('eth_getLogs', [{ ...range, topics }]);
    return log?.transactionHash ?? null;
  }
  // Permit2 tells nobody which nonce it has used: the call says so, unless another contract has made it
  const topics = [transferTopic, payer.toLowerCase(), pad(authorisation.to).toLowerCase()];
  const logs = (await call<RpcLog[]>('eth_getLogs', [{ ...range, topics }])).filter((log) => isPart(log, authorisation));
  const ids = [...new Set(logs.map(({ transactionHash }) => transactionHash))];
  const carried = await Promise.all(ids.map((id) => readById(call, id)));
  const named = ids.find((_, index) => carried[index]?.identity === toIdentity(authorisation));
  return named ?? ids.find((_, index) => carried[index] === null) ?? null;
}

function isPart(log: RpcLog, { method, value }: Authorisation): boolean {
  const amount = transferEvent(log)?.amount;
  return amount !== undefined && (method === 'permit2_upto' ? amount <= value : amount === value);
}

async function readById(call: RpcCall, id: Hex): Promise<ReturnType<typeof readCarriedOut>> {
  const transaction = await call<RpcTransaction | null>('eth_getTransactionByHash', [id]);
  return transaction && readCarriedOut(transaction);
}
