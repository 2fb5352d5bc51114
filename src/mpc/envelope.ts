import { sign, verify, type KeyObject } from 'node:crypto';
import type { Party } from './protocols';

/** What a round message is bound to: replayed in another session, round or direction it does not verify. */
export interface EnvelopeHeader {
  /** 32 bytes. */
  sessionId: Uint8Array;
  /** From 1. */
  round: number;
  from: Party;
  to: Party;
}

const domain = Buffer.from('custody-gateway/mpc/round-message/v1\0');
/** IEEE P1363: r || s, 64 bytes for P-256. */
const dsaEncoding = 'ieee-p1363';

/** Every part but the body has a fixed size, so no two envelopes share an encoding. */
function signedBytes({ sessionId, round, from, to }: EnvelopeHeader, body: Uint8Array): Buffer {
  if (sessionId.length !== 32) throw new Error('a session id has 32 bytes');
  if (!Number.isInteger(round) || round < 1 || round > 255) throw new Error('round out of range');
  return Buffer.concat([domain, sessionId, Buffer.from([round, from, to]), body]);
}

/** ECDSA P-256 with SHA-256 by the node's TLS key, beside mutual TLS: it still holds where TLS ends before the node. */
export function signEnvelope(header: EnvelopeHeader, body: Uint8Array, key: KeyObject): Buffer {
  return sign('sha256', signedBytes(header, body), { key, dsaEncoding });
}

/** True only for a signature by the pinned certificate's key over exactly this header and body. */
export function verifyEnvelope(header: EnvelopeHeader, body: Uint8Array, signature: Uint8Array, key: KeyObject): boolean {
  return signature.length === 64 && verify('sha256', signedBytes(header, body), { key, dsaEncoding }, signature);
}
