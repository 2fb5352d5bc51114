import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes } from 'viem';
import type { Hex } from '../../types';
import { address } from './address';

export interface KeySignature {
  r: Hex;
  s: Hex;
  /** 0 or 1. */
  yParity: number;
}

/**
 * A signature of the nodes, r and s of 32 bytes each and the recovery id of one, taken apart.
 * @throws Error unless it is the signer's, over this digest, with a low s (EIP-2)
 */
export function readKeySignature(signature: Hex | undefined, digest: Hex, signer: string): KeySignature {
  if (!signature || !/^0x[0-9a-fA-F]{130}$/.test(signature)) throw new Error('one signature of 65 bytes is needed');
  const signed = hexToBytes(signature);
  const recovery = signed[64] as number;
  if (recovery > 1) throw new Error('the recovery id is 0 or 1');
  const ecdsa = secp256k1.Signature.fromBytes(signed.subarray(0, 64), 'compact');
  if (ecdsa.hasHighS()) throw new Error('s is above half the group order (EIP-2)');
  const point = ecdsa.addRecoveryBit(recovery).recoverPublicKey(hexToBytes(digest));
  if (address(point.toBytes(true)).key !== signer.toLowerCase()) throw new Error('the signature is not of the sender');
  return { r: bytesToHex(signed.subarray(0, 32)), s: bytesToHex(signed.subarray(32, 64)), yParity: recovery };
}
