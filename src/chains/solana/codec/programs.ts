import { fromBase58 } from './base58';

/** Addresses of the programs that a transaction of the gateway calls, as Solana's documents name them. */
const read = (text: string): Buffer => {
  const bytes = fromBase58(text, 32);
  if (!bytes) throw new Error(`${text} is no address`);
  return bytes;
};

export const programs = {
  system: read('11111111111111111111111111111111'),
  computeBudget: read('ComputeBudget111111111111111111111111111111'),
  token: read('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'),
  token2022: read('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'),
  associatedToken: read('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'),
  memo: read('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
} as const;

/** Both have the same transferChecked; a mint belongs to one of them. */
export const tokenPrograms = { token: programs.token, 'token-2022': programs.token2022 } as const;
export type TokenProgram = keyof typeof tokenPrograms;

export const isTokenProgram = (name: unknown): name is TokenProgram => name === 'token' || name === 'token-2022';
