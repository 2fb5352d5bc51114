import { createHash, timingSafeEqual } from 'node:crypto';
import { generateSecret } from 'otplib';

const codesPerUser = 10;
/** 80 bits: too many to guess, even with the hashes. */
const codeBytes = 10;

/** Ten new recovery codes, such as ABCD-EFGH-IJKL-MNOP (Base32). */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: codesPerUser }, () => (generateSecret({ length: codeBytes }).match(/.{4}/g) ?? []).join('-'));

/** SHA-256 of a code; letter case, white space and dashes are ignored. */
export const hashRecoveryCode = (code: string): Buffer =>
  createHash('sha256').update(code.replace(/[\s-]/g, '').toUpperCase()).digest();

/** The hash among `hashes` that belongs to a code. Compares all of them, so that the time does not depend on the position. */
export function findRecoveryHash(code: string, hashes: Buffer[]): Buffer | null {
  const hash = hashRecoveryCode(code);
  return hashes.filter((candidate) => timingSafeEqual(candidate, hash))[0] ?? null;
}
