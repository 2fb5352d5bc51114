import { generateSecret, generateURI, verifySync } from 'otplib';

const periodSeconds = 30;
const issuer = 'custody-gateway';

/** Owner of a user's secret in the SecretBox. */
export const totpOwner = (userId: string): string => `totp:${userId}`;

/** A new secret: 160 bits, Base32 (the length RFC 4226 recommends). */
export const newTotpSecret = (): string => generateSecret();

/** The content of the QR code for authenticator apps. Colons are replaced, since a colon separates issuer and label. */
export const otpauthUri = (secret: string, label: string): string =>
  generateURI({ issuer, label: label.replaceAll(':', ' '), secret });

/**
 * The time step (RFC 6238: SHA-1, 6 digits, 30 s) a code is valid for, with a drift of one step in both directions; null for a wrong
 * code. The caller has to check whether the step was used before.
 */
export function toTimeStep(secret: string, code: string): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const epoch = Math.floor(Date.now() / 1000);
  const result = verifySync({ secret, token: code, epoch, epochTolerance: periodSeconds });
  return result.valid && 'timeStep' in result ? result.timeStep : null;
}
