import type { PayloadType, PaymentScheme } from '../../chains/payments';
import type { JsonObject } from '../../chains/types';
import type { Reason } from '../reasons';
import { isJsonObject } from '../../chains/json';

/** Schemes by version of the protocol. */
export const schemes: Record<1 | 2, readonly PaymentScheme[]> = { 1: ['exact'], 2: ['exact', 'upto'] };

export interface Kind {
  scheme: PaymentScheme;
  payloadType: PayloadType;
}

/** What the payload is, by the fields that it has; Permit2 is looked for first, as the official packages do. */
export function readKind(version: 1 | 2, scheme: string, payload: JsonObject): Kind | { reason: Reason } {
  const known = schemes[version].find((name) => name === scheme);
  if (!known) return { reason: 'unsupported_scheme' };
  if (typeof payload.transaction === 'string') return { scheme: known, payloadType: 'transaction' };
  if ('permit2Authorization' in payload)
    return version === 2 ? { scheme: known, payloadType: 'permit2' } : { reason: 'unsupported_payload_type' };
  if ('authorization' in payload) return { scheme: known, payloadType: 'eip3009' };
  const isEmpty = Object.keys(payload).every((field) => field === 'signature');
  return { reason: isEmpty ? 'invalid_payload' : 'unsupported_payload_type' };
}

/** Why a payment is refused whose chain has no method for it: where payers do not sign transactions, that is another scheme. */
export const unservedReason = ({ payloadType }: Kind): Reason =>
  payloadType === 'transaction' ? 'unsupported_scheme' : 'unsupported_payload_type';

/** The payer as the payload states it, for the answer; undefined where there is none that could be one. */
export function readPayer(payload: JsonObject): string | undefined {
  for (const part of [payload.permit2Authorization, payload.authorization]) {
    if (isJsonObject(part) && typeof part.from === 'string' && /^[0-9A-Za-z]{20,64}$/.test(part.from)) return part.from;
  }
  return undefined;
}

/** `info` of one extension of a payment payload. */
export function readExtension(extensions: unknown, name: string): JsonObject | undefined {
  const extension = isJsonObject(extensions) && Object.hasOwn(extensions, name) ? extensions[name] : undefined;
  const info = isJsonObject(extension) ? extension.info : undefined;
  return isJsonObject(info) ? info : undefined;
}

/** Of the extension payment-identifier. */
export function readPaymentId(extensions: unknown): string | null {
  const { id } = readExtension(extensions, 'payment-identifier') ?? {};
  return typeof id === 'string' && /^[A-Za-z0-9_-]{16,128}$/.test(id) ? id : null;
}

/** The network as the body states it, for the answer; empty where it states none that could be one. */
export function readNetwork(...parts: unknown[]): string {
  for (const part of parts) {
    if (isJsonObject(part) && typeof part.network === 'string' && /^[\w:-]{1,64}$/.test(part.network)) return part.network;
  }
  return '';
}

/** Of the requirements of version 1. */
export const readResource = (requirements: unknown): string | null =>
  isJsonObject(requirements) && typeof requirements.resource === 'string' ? requirements.resource : null;
