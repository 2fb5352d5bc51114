import { createKeyPairSignerFromPrivateKeyBytes, getAddressEncoder, address } from '@solana/kit';
import type { Account } from './accounts';
import { knownSeed } from './addresses';
import { type Entry, hashOf } from './history';
import { programs, tokenDecimals } from './parameters';
import type { Stored } from './store';
import type { Svm } from './svm';

/** The key of the faucet is known to everybody. */
export const faucetSigner = () => createKeyPairSignerFromPrivateKeyBytes(knownSeed('local Solana faucet'));

/** Slots and heights differ from the beginning, so that one is not taken for the other. */
const skippedBefore = 20_000_000;
const faucetLamports = 500_000_000_000_000_000n;
const mintBytes = 82;

/** A mint of the token program; whoever has the authority makes tokens. */
export function mintAccount(authority: string, lamports: bigint): Account {
  const data = Buffer.alloc(mintBytes);
  data.writeUInt32LE(1, 0);
  data.set(getAddressEncoder().encode(address(authority)), 4);
  data[44] = tokenDecimals;
  data[45] = 1;
  return { lamports, data, owner: programs.token, executable: false };
}

/** A first block; the faucet has SOL and may mint the tokens. @param tokens symbol to mint */
export async function genesis(svm: Svm, tokens: Record<string, string>): Promise<Stored> {
  const faucet = (await faucetSigner()).address;
  const account = { lamports: faucetLamports, data: Buffer.alloc(0), owner: programs.system, executable: false };
  const accounts = new Map<string, Account>([[faucet, account]]);
  for (const mint of Object.values(tokens)) accounts.set(mint, mintAccount(faucet, svm.rent(BigInt(mintBytes))));
  const slot = svm.firstSlot;
  const time = Math.floor(Date.now() / 1_000);
  const block = {
    ...{ slot, height: slot - skippedBefore, time, hash: hashOf('first block', time), transactions: [] },
    ...{ parentSlot: slot - 1, parentHash: hashOf('no block') },
  };
  const entries: Entry[] = [{ block, changes: [] }];
  return { entries, accounts };
}
