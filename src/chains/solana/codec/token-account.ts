import { createHash } from 'node:crypto';
import { isOnCurve } from './address';
import { toBase58 } from './base58';
import { programs, type TokenProgram, tokenPrograms } from './programs';

/** Appended to the seeds of every derived address (solana-address: PDA_MARKER). */
const marker = Buffer.from('ProgramDerivedAddress');

/**
 * The one token account of a wallet for a mint: derived with the seeds owner, token program and mint, and the highest last byte whose
 * result is no point of the curve (Associated Token Account Program: get_associated_token_address_with_program_id). `owner`, `mint`: 32 bytes.
 */
export function associatedTokenAccount(owner: Buffer, mint: Buffer, program: TokenProgram): Buffer {
  const seeds = [owner, tokenPrograms[program], mint];
  for (let bump = 255; bump >= 0; bump -= 1) {
    const hash = createHash('sha256');
    for (const part of [...seeds, Buffer.from([bump]), programs.associatedToken, marker]) hash.update(part);
    const derived = hash.digest();
    if (!isOnCurve(derived)) return derived;
  }
  // one of two addresses is a point: this takes 256 of them in a row
  throw new Error('no token account can be derived');
}

/** Whether an address, in Base58, is the associated token account of this owner under one of the token programs. */
export const isAssociatedAccount = (address: string, owner: Buffer, mint: Buffer): boolean =>
  (Object.keys(tokenPrograms) as TokenProgram[]).some(
    (program) => toBase58(associatedTokenAccount(owner, mint, program)) === address,
  );
