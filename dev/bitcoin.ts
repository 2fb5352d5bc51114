import { p2wpkh, Transaction } from '@scure/btc-signer';
import { pubECDSA } from '@scure/btc-signer/utils.js';
import { parseAddress, toScript } from '../src/chains/bitcoin/codec/address';
import { parseRawTransaction } from '../src/chains/bitcoin/block';
import { regtest } from '../src/chains/bitcoin/network';
import type { Hex } from '../src/chains/types';
import { createRpcCall, NodeRefusal, type RpcCall } from '../src/chains/bitcoin/rpc';

/** The faucet of local Bitcoin chains has a key that everybody knows. */
const privateKey = Uint8Array.from(Buffer.alloc(32, 1));
const { address, script } = p2wpkh(pubECDSA(privateKey), regtest.format);
export const faucetAddress = address;

/** A coinbase output can be spent 100 blocks later. */
const maturity = 100;
/** Enough for the first payments of the faucet. */
const initialBlocks = maturity + 20;
/** Satoshis per virtual byte, and virtual bytes. */
const faucetRate = 2n;
const maxTries = 20;
const sizes = { input: 68n, rest: 120n };
/** May be replaced (BIP-125). */
const sequence = 0xfffffffd;

/** The first output of a transaction. */
interface Coin {
  id: string;
  /** Satoshis. */
  amount: bigint;
}

const total = (coins: Coin[]): bigint => coins.reduce((sum, { amount }) => sum + amount, 0n);

/** A local Bitcoin node, for what only development needs. */
export class BitcoinDevNode {
  private readonly call: RpcCall;
  /** Blocks up to this height pay the faucet no more. */
  private spentUpTo = 0;
  /** What was spent, by transaction. */
  private readonly sent = new Map<string, Coin[]>();

  constructor(url: string) {
    this.call = createRpcCall(url);
  }

  height(): Promise<number> {
    return this.call('getblockcount', []);
  }

  /** Mines the blocks after which the faucet has coins. Idempotent. */
  async prepare(): Promise<void> {
    const missing = initialBlocks - (await this.height());
    if (missing > 0) await this.mine(missing);
  }

  mine(blocks: number): Promise<string[]> {
    return this.call('generate', [blocks]);
  }

  hashAt(height: number): Promise<string> {
    return this.call('getblockhash', [height]);
  }

  /** Of a block, in hex. */
  blockBytes(hash: string): Promise<string> {
    return this.call('getblock', [hash, 0]);
  }

  /** Adds a block, given in hex. False for bytes that are none. One that the node has is no failure. */
  async submit(bytes: string): Promise<boolean> {
    try {
      await this.call('submitblock', [bytes]);
      return true;
    } catch (error) {
      if (error instanceof NodeRefusal) return false;
      throw error;
    }
  }

  /** Removes the block of this height and those above it from the main chain, as a longer chain would. */
  async invalidate(height: number): Promise<void> {
    await this.call('invalidateblock', [await this.hashAt(height)]);
  }

  /** Other blocks take the place of this many newest ones, and one more. What they held is in them, or in the pool. */
  async reorganise(depth: number): Promise<void> {
    await this.invalidate((await this.height()) - depth + 1);
    await this.mine(depth + 1);
  }

  async pendingTransactions(): Promise<number> {
    return (await this.call<string[]>('getrawmempool', [])).length;
  }

  /**
   * Pays an address and mines a block.
   * @param amount satoshis
   * @returns the transaction id
   * @throws Error for an address that the chain does not have, and when the faucet has too few coins
   */
  async fund(to: string, amount: bigint): Promise<string> {
    const id = await this.send(to, amount);
    await this.mine(1);
    return id;
  }

  /** Returns the transaction id. */
  sendRaw(bytes: Hex): Promise<string> {
    return this.call('sendrawtransaction', [bytes.slice(2)]);
  }

  /** As `fund`, without a block. */
  async send(to: string, amount: bigint): Promise<string> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.pay(to, amount, await this.takeCoins(amount));
      } catch (error) {
        // another process may have spent the same coins meanwhile
        if (!(error instanceof NodeRefusal) || tries === maxTries) throw error;
      }
    }
  }

  /** Sends the coins of an earlier payment of this faucet somewhere else, at ten times the fee: the payment is never executed. */
  async replace(id: string, to: string, amount: bigint): Promise<string> {
    const coins = this.sent.get(id);
    if (!coins) throw new Error(`the faucet has not sent ${id}`);
    return this.pay(to, amount, coins, 10n * faucetRate);
  }

  private async pay(to: string, amount: bigint, coins: Coin[], rate = faucetRate): Promise<string> {
    const parsed = parseAddress(regtest, to);
    if (!parsed) throw new Error(`${to} is no Bitcoin address`);
    const transaction = new Transaction({ version: 2 });
    for (const { id: txid, amount: value } of coins)
      transaction.addInput({ txid, index: 0, sequence, witnessUtxo: { script, amount: value } });
    const fee = rate * (sizes.rest + sizes.input * BigInt(coins.length));
    transaction.addOutput({ script: toScript(parsed.key), amount });
    transaction.addOutput({ script, amount: total(coins) - amount - fee });
    transaction.sign(privateKey);
    transaction.finalize();
    const id = await this.sendRaw(`0x${transaction.hex}`);
    this.sent.set(id, coins);
    return id;
  }

  /** The oldest outputs of mined blocks, each once. */
  private async takeCoins(amount: bigint): Promise<Coin[]> {
    const height = await this.height();
    const coins: Coin[] = [];
    // with room for the fee and change
    while (total(coins) < amount + 100_000n) {
      this.spentUpTo += 1;
      if (this.spentUpTo > height - maturity) throw new Error('the faucet has too few coins: mine more blocks');
      const coinbase = await this.coinbase(this.spentUpTo);
      if (coinbase) coins.push(coinbase);
    }
    return coins;
  }

  /** null: spent. */
  private async coinbase(height: number): Promise<Coin | null> {
    const { tx } = await this.call<{ tx: string[] }>('getblock', [await this.hashAt(height), 1]);
    const id = tx[0] as string;
    if ((await this.call('gettxout', [id, 0, true])) === null) return null;
    const raw = parseRawTransaction(Buffer.from(await this.call<string>('getrawtransaction', [id, 0]), 'hex'));
    return { id, amount: raw.outputs[0]?.amount ?? 0n };
  }
}

/** True once the node responds. */
export async function isBitcoinReady(url: string): Promise<boolean> {
  try {
    await createRpcCall(url)('getblockcount', []);
    return true;
  } catch (error) {
    if (error instanceof NodeRefusal) return true;
    throw error;
  }
}
