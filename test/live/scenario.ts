import { createHash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { BitcoinChainClient } from '../../src/chains/bitcoin/client';
import type { Coin } from '../../src/chains/bitcoin/codec/transaction';
import { readDetails, toPrepared } from '../../src/chains/bitcoin/details';
import { virtualSize } from '../../src/chains/bitcoin/sizes';
import { getFamily } from '../../src/chains/families';
import type { AttemptStatus, KnownAttempt } from '../../src/chains/chain-client';
import type { ChainDefinition } from '../../src/chains/types';
import { signDigests } from '../bitcoin';

export interface LiveOptions {
  chain: ChainDefinition;
  urls: string[];
  /** 32 bytes; it controls the first account, its hash the second one. */
  key: Uint8Array;
  /** Height from which on blocks are read for coins of both accounts. */
  fromBlock: number;
}

/** Blocks read at most, for coins. */
const maxBlocks = 5_000;
const blocksAtOnce = 50;
/** What one account pays the other, in satoshis. */
const amount = 1_000n;

/** A payment from one of two accounts to the other, as the gateway makes and sees it, by the chain's own nodes. */
export class LivePayment {
  readonly client: BitcoinChainClient;
  private readonly family;
  private readonly accounts;

  constructor(private readonly options: LiveOptions) {
    const { chain, urls, key } = options;
    this.client = new BitcoinChainClient(chain, urls);
    this.family = getFamily(chain.family);
    this.accounts = [key, Uint8Array.from(createHash('sha256').update(key).digest())].map((privateKey) => ({
      privateKey,
      ...this.family.address(secp256k1.getPublicKey(privateKey, true)),
    }));
  }

  get addresses(): string[] {
    return this.accounts.map(({ address }) => address);
  }

  readonly isOurs = (keys: string[]): Promise<Set<string>> =>
    Promise.resolve(new Set(keys.filter((key) => this.accounts.some((account) => account.key === key))));

  /** Coins in blocks, by the account's canonical address; the biggest first. */
  async findCoins(): Promise<Map<string, Coin[]>> {
    const { number: head } = await this.client.head();
    const coins = new Map<string, { owner: string; coin: Coin }>();
    const first = Math.max(this.options.fromBlock, head - maxBlocks + 1);
    for (let from = first; from <= head; from += blocksAtOnce) {
      const { blocks } = await this.client.scan(from, Math.min(head, from + blocksAtOnce - 1), this.isOurs);
      for (const { outputs } of blocks) {
        for (const { resource, owner, amount: value, spendableFrom } of outputs?.made ?? [])
          if (spendableFrom <= head) coins.set(resource, { owner, coin: { resource, amount: value } });
        for (const { resource } of outputs?.spent ?? []) coins.delete(resource);
      }
    }
    const ofAccount = (key: string) => [...coins.values()].flatMap(({ owner, coin }) => (owner === key ? [coin] : []));
    return new Map(this.accounts.map(({ key }) => [key, ofAccount(key).sort((a, b) => Number(b.amount - a.amount))]));
  }

  /** Signs and sends it. @throws Error naming the addresses to be funded where neither account has a coin that suffices. */
  async pay(): Promise<{
    attempt: KnownAttempt;
    status: () => Promise<AttemptStatus | undefined>;
    send: () => Promise<unknown>;
  }> {
    const coins = await this.findCoins();
    const details = readDetails(await this.client.prepare({ kind: 'first', intent: this.toIntent(0), previous: [] }));
    const fee = details.rate * virtualSize(1, [new Uint8Array(22), new Uint8Array(22)]);
    const payer = this.accounts.findIndex(({ key }) => (coins.get(key)?.[0]?.amount ?? 0n) >= 2n * amount + fee);
    const { privateKey, address, key } = this.accounts[payer] ?? {};
    const coin = key && coins.get(key)?.[0];
    if (!privateKey || !address || !coin)
      throw new Error(
        `no coin of ${2n * amount + fee} satoshis: send one to ${this.addresses.join(' or ')} and wait for its block`,
      );
    const intent = this.toIntent(payer);
    const prepared = toPrepared({ ...details, selection: { coins: [coin], fee } }, fee);
    const plan = { chain: this.options.chain, intent, kind: 'first' as const, prepared, resources: [coin.resource] };
    const unsigned = this.family.build(plan);
    const digests = this.family.signingPayloads(unsigned, address).map(({ digest }) => digest);
    const { id, bytes } = this.family.assemble(unsigned, signDigests(digests, privateKey), address);
    const messageKey = this.family.messageKey(unsigned, address);
    const attempt: KnownAttempt = {
      ...{ attempt: 1, kind: 'first', intent, unsigned, messageKey, ids: [id], expiry: null, begunAt: new Date() },
    };
    const send = () => this.client.broadcast(bytes);
    return { attempt, send, status: async () => (await this.client.status([attempt], [], () => Promise.resolve([])))[0] };
  }

  /** From the account of this number to the other one. */
  private toIntent(payer: number) {
    const [from, to] = payer === 0 ? this.addresses : this.addresses.slice().reverse();
    return { from: from as string, outputs: [{ recipient: to as string, tokenContract: null, amount }] };
  }
}
