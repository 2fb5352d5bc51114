import { generateSecret, generateURI, verifySync } from 'otplib';

const periodSeconds = 30;
const issuer = 'custody-gateway';

/** Names a user's secret to the SecretBox. */
export const totpOwner = (userId: string): string => `totp:${userId}`;

/** A new secret: 160 bits, Base32 (the length RFC 4226 recommends). */
export const newTotpSecret = (): string => generateSecret();

/** What authenticator apps read from a QR code. A colon would end the issuer's name within the label. */
export const otpauthUri = (secret: string, label: string): string =>
  generateURI({ issuer, label: label.replaceAll(':', ' '), secret });

/**
 * The time step (RFC 6238: SHA-1, 6 digits, 30 s) that a code is right for, one step of drift either way; null when it is wrong.
 * Whether the step was used before is for the caller to find out.
 */
export function toTimeStep(secret: string, code: string): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const epoch = Math.floor(Date.now() / 1000);
  const result = verifySync({ secret, token: code, epoch, epochTolerance: periodSeconds });
  return result.valid && 'timeStep' in result ? result.timeStep : null;
}
