import { createHash, timingSafeEqual } from 'node:crypto';
import { generateSecret } from 'otplib';

const codesOfAUser = 10;
/** 80 bits: beyond guessing, also for whoever has the hashes. */
const codeBytes = 10;

/** Ten new recovery codes, such as ABCD-EFGH-IJKL-MNOP (Base32). */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: codesOfAUser }, () => (generateSecret({ length: codeBytes }).match(/.{4}/g) ?? []).join('-'));

/** sha256 of a code, however it was typed: letter case, blanks and dashes do not matter. */
export const hashRecoveryCode = (code: string): Buffer =>
  createHash('sha256').update(code.replace(/[\s-]/g, '').toUpperCase()).digest();

/** Which of the hashes a code has; all are compared, whichever it is. */
export function findRecoveryHash(code: string, hashes: Buffer[]): Buffer | null {
  const hash = hashRecoveryCode(code);
  return hashes.filter((candidate) => timingSafeEqual(candidate, hash))[0] ?? null;
}
