import { sign, verify, type KeyObject } from 'node:crypto';
import type { NodeIndex } from '../messages/nodes';

/** What the signature of a round message covers: the message does not verify in another session, round or direction. */
export interface EnvelopeHeader {
  /** 32 bytes. */
  sessionId: Uint8Array;
  /** From 1. */
  round: number;
  from: NodeIndex;
  to: NodeIndex;
}

const domain = Buffer.from('custody-gateway/mpc/round-message/v1\0');
/** IEEE P1363: r || s, 64 bytes for P-256. */
const dsaEncoding = 'ieee-p1363';

/** Every part except the body has a fixed size, so two different envelopes never have the same encoding. */
function signedBytes({ sessionId, round, from, to }: EnvelopeHeader, body: Uint8Array): Buffer {
  if (sessionId.length !== 32) throw new Error('a session id must have 32 bytes');
  if (!Number.isInteger(round) || round < 1 || round > 255) throw new Error('round out of range');
  return Buffer.concat([domain, sessionId, Buffer.from([round, from, to]), body]);
}

/** ECDSA P-256 with SHA-256 by the node's TLS key. In addition to mutual TLS: it also protects where TLS is terminated before the node. */
export function signEnvelope(header: EnvelopeHeader, body: Uint8Array, key: KeyObject): Buffer {
  return sign('sha256', signedBytes(header, body), { key, dsaEncoding });
}

/** True only for a signature over exactly this header and body by the key of the pinned certificate. */
export function verifyEnvelope(header: EnvelopeHeader, body: Uint8Array, signature: Uint8Array, key: KeyObject): boolean {
  return signature.length === 64 && verify('sha256', signedBytes(header, body), { key, dsaEncoding }, signature);
}
