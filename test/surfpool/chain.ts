import { setTimeout as delay } from 'node:timers/promises';
import { AccountRole, type Address, address, type Instruction, type KeyPairSigner } from '@solana/kit';
import { associatedTokenAddress } from '../../dev/solana/addresses';
import { faucetSigner, mintAccount } from '../../dev/solana/genesis';
import { defaultTokens, programs } from '../../dev/solana/parameters';
import { LocalChainClient } from '../../dev/solana/stack';
import { createAssociated, type RunningChain, sol, TestChain, transferSol, unitPrice } from '../solana-chain';
import { startValidator } from './validator';

/** Milliseconds between two blocks. */
const slotMs = 100;
/** Longest wait for a block. */
const mostMs = 60_000;

/** Lamports of a mint: more than its rent. */
const mintLamports = sol(0.01);
const faucetLamports = sol(100_000);

/** For methods that @solana/kit does not know. @throws Error for an answer that is one */
async function ask(url: string, method: string, params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const { result, error } = (await response.json()) as { result?: unknown; error?: unknown };
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}

/** MintTo of the Token program. */
async function mintTo(authority: Address, mint: string, owner: string, amount: bigint): Promise<Instruction> {
  const data = Buffer.alloc(9);
  data.writeUInt8(7, 0);
  data.writeBigUInt64LE(amount, 1);
  return {
    programAddress: address(programs.token),
    accounts: [
      { address: address(mint), role: AccountRole.WRITABLE },
      { address: await associatedTokenAddress(owner, mint, programs.token), role: AccountRole.WRITABLE },
      { address: authority, role: AccountRole.READONLY_SIGNER },
    ],
    data: new Uint8Array(data),
  };
}

/** Gives coins and tokens as the local chain does; everything else of that chain's own paths surfpool has not. */
class Faucet extends LocalChainClient {
  given = 0;

  constructor(
    private readonly chain: () => SurfpoolChain,
    private readonly signer: KeyPairSigner,
    url: string,
  ) {
    super(url);
  }

  override fund(to: string, amount: bigint): Promise<string> {
    return this.give(transferSol(this.signer.address, to, amount));
  }

  override async fundToken(token: string, owner: string, amount: bigint): Promise<string> {
    const { address: from } = this.signer;
    const mint = defaultTokens[token] ?? token;
    return this.give(await createAssociated(from, owner, mint), await mintTo(from, mint, owner, amount));
  }

  /** In a block. The price tells one gift from another of the same. */
  private async give(...instructions: Instruction[]): Promise<string> {
    this.given += 1;
    const chain = this.chain();
    const signed = await chain.sign(this.signer, [unitPrice(BigInt(this.given)), ...instructions]);
    await chain.sendChecked(signed);
    const end = Date.now() + mostMs;
    while (!(await chain.status(signed.id)) && Date.now() < end) await delay(slotMs);
    return signed.id;
  }
}

/** surfpool in the place of the local chain: its blocks come by the clock, and one is finalized when 31 others stand on it. */
export class SurfpoolChain extends TestChain<RunningChain> {
  /** With the mints of mainnet, whose authority is a faucet with 100,000 SOL. */
  static async open(): Promise<SurfpoolChain> {
    const { url, stop } = await startValidator(process.env.SURFPOOL_VALIDATOR ?? '', slotMs);
    const signer = await faucetSigner();
    const faucet = new Faucet(() => chain, signer, url);
    const chain: SurfpoolChain = new SurfpoolChain({ url, stop }, faucet);
    for (const mint of Object.values(defaultTokens)) {
      const { lamports, data, owner, executable } = mintAccount(signer.address, mintLamports);
      const account = { lamports: Number(lamports), data: data.toString('hex'), owner, executable };
      await ask(url, 'surfnet_setAccount', [mint, account]);
    }
    await ask(url, 'requestAirdrop', [signer.address, Number(faucetLamports)]);
    // what is finalized lies before the first block until 31 others stand on that
    await chain.mine();
    return chain;
  }

  /** The next so many slots have no block. */
  async skip(slots: number): Promise<void> {
    const slot = await this.rpc.getSlot({ commitment: 'processed' }).send();
    await ask(this.local.url, 'surfnet_timeTravel', [{ absoluteSlot: Number(slot) + slots + 1 }]);
  }

  /** Until so many blocks more than there are now are finalized. */
  override async mine(blocks = 1): Promise<void> {
    const slot = (commitment: 'processed' | 'finalized') => this.rpc.getSlot({ commitment }).send();
    const until = (await slot('processed')) + BigInt(blocks);
    for (const end = Date.now() + mostMs; (await slot('finalized')) < until && Date.now() < end;) await delay(slotMs);
  }
}
