import type { Account } from './answers';
import { toBytes } from './codec/address';
import { toBase58 } from './codec/base58';
import { type TokenProgram, tokenPrograms } from './codec/programs';
import { associatedTokenAccount } from './codec/token-account';
import type { SolanaNode } from './node';

/** Layout of a token account (spl-token-interface, state.rs: Account). */
const mintAt = { start: 0, end: 32 };
const ownerAt = { start: 32, end: 64 };
const amountAt = 64;

/**
 * By the finalized blocks, lamports or atomic units. `token`: a mint, of which associated token accounts count alone, since the gateway credits
 * and pays from no other; null: SOL.
 */
export async function fetchBalance(node: SolanaNode, address: string, token: string | null): Promise<bigint> {
  if (token === null) return (await node.accounts([address]))[0]?.lamports ?? 0n;
  const [owner, mint] = [toBytes(address), toBytes(token)];
  const held = (Object.keys(tokenPrograms) as TokenProgram[]).map((program) => ({
    program: toBase58(tokenPrograms[program]),
    address: toBase58(associatedTokenAccount(owner, mint, program)),
  }));
  const accounts = await node.accounts(held.map((it) => it.address));
  const isHeld = (account: Account, program: string | undefined): boolean =>
    account.program === program &&
    account.data.length >= amountAt + 8 &&
    account.data.subarray(mintAt.start, mintAt.end).equals(mint) &&
    account.data.subarray(ownerAt.start, ownerAt.end).equals(owner);
  return accounts.reduce(
    (sum, account, index) =>
      account && isHeld(account, held[index]?.program) ? sum + account.data.readBigUInt64LE(amountAt) : sum,
    0n,
  );
}
