import { type Address, getAddress, isAddress, parseUnits } from 'viem';
import { parseAddress as parseOnBitcoin } from '../src/chains/bitcoin/codec/address';
import { regtest } from '../src/chains/bitcoin/network';
import { parseAddress as parseOnSolana } from '../src/chains/solana/codec/address';
import { parseAddress as parseOnTron } from '../src/chains/tron/codec/address';
import { loadRegistry, tokenBySymbol } from '../src/chains/registry';
import { BitcoinDevNode } from './bitcoin';
import { devChain, mintToken, sendNative } from './chain';
import { LocalChainClient } from './solana/stack';
import type { StackFile } from './stack-file';
import { SimulatorClient } from './tron/stack';

/** A request the faucet cannot serve; the message says what is possible. */
export class FaucetError extends Error {}

/**
 * Sends coins or test tokens of a local chain to an address and waits until the transaction is included.
 * @param amount display units, such as 1.5
 * @returns the transaction hash
 * @throws FaucetError for an unknown chain, symbol, address or amount
 */
export async function fund(
  stack: Pick<StackFile, 'chains'>,
  chainName: string,
  symbol: string,
  address: string,
  amount: string,
): Promise<string> {
  const chain = stack.chains[chainName];
  if (!chain) throw new FaucetError(`unknown chain ${chainName}: the stack has ${Object.keys(stack.chains).join(', ')}`);
  if (!chain.faucet) throw new FaucetError(`${chainName} is not a local chain: there is no faucet for it`);
  const definition = loadRegistry('local', [chainName]).get(chainName);
  const token = tokenBySymbol(definition, symbol.toUpperCase());
  if (!token)
    throw new FaucetError(
      `unknown symbol ${symbol}: ${chainName} has ${[definition.native, ...definition.tokens].map((t) => t.symbol).join(', ')}`,
    );
  const atomic = parseAmount(amount, token.decimals);
  if (chain.family === 'bitcoin') return new BitcoinDevNode(chain.rpc).fund(parseBitcoinAddress(address), atomic);
  if (chain.family === 'tron') {
    const simulator = new SimulatorClient(chain.rpc);
    const to = parseTronAddress(address);
    return token.contract === null ? simulator.fund(to, atomic) : simulator.fundToken(token.contract, to, atomic);
  }
  if (chain.family === 'solana') {
    const local = new LocalChainClient(chain.rpc);
    const to = parseSolanaAddress(address);
    return token.contract === null ? local.fund(to, atomic) : local.fundToken(token.contract, to, atomic);
  }
  const to = parseAddress(address);
  const node = devChain(chain.rpc);
  return token.contract === null ? sendNative(node, to, atomic) : mintToken(node, token.contract as Address, to, atomic);
}

function parseBitcoinAddress(text: string): string {
  const parsed = parseOnBitcoin(regtest, text);
  if (!parsed) throw new FaucetError(`${text} is not an address (P2PKH, P2SH, P2WPKH, P2WSH or P2TR)`);
  return parsed.address;
}

function parseTronAddress(text: string): string {
  const parsed = parseOnTron(text);
  if (!parsed) throw new FaucetError(`${text} is not an address (T… in Base58Check, or 41 and 40 hex digits)`);
  return parsed.address;
}

function parseSolanaAddress(text: string): string {
  const parsed = parseOnSolana(text);
  if (!parsed) throw new FaucetError(`${text} is not an address (32 bytes in Base58)`);
  return parsed.address;
}

function parseAddress(text: string): Address {
  const sameCase = /^0x([0-9a-f]{40}|[0-9A-F]{40})$/.test(text);
  if (!isAddress(text, { strict: !sameCase }))
    throw new FaucetError(`${text} is not an address (0x and 40 hex digits; mixed case must match the checksum)`);
  return getAddress(text);
}

function parseAmount(text: string, decimals: number): bigint {
  if (!/^\d{1,30}(\.\d+)?$/.test(text)) throw new FaucetError(`${text} is not an amount: use a number such as 100 or 0.5`);
  if ((text.split('.')[1] ?? '').length > decimals) throw new FaucetError(`${text} has more than ${decimals} decimals`);
  const atomic = parseUnits(text, decimals);
  if (atomic === 0n) throw new FaucetError('the amount is zero');
  return atomic;
}
