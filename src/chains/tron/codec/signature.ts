import { secp256k1 } from '@noble/curves/secp256k1.js';
import { fromHex } from '../../../platform/hex';
import type { Hex } from '../../types';
import { address } from './address';

/** What is added to the recovery id (TransactionCapsule.checkWeight of java-tron reads both forms; tronweb writes this one). */
const recoveryOffset = 27;

/**
 * A signature of the nodes, r and s of 32 bytes each and the recovery id of one, as a transaction carries it.
 * @throws Error unless it is the signer's, over this digest, with a low s. `signer`: canonical form.
 */
export function toTronSignature(signature: Hex | undefined, digest: Buffer, signer: string): Buffer {
  if (!signature || !/^0x[0-9a-fA-F]{130}$/.test(signature)) throw new Error('one signature of 65 bytes is needed');
  const signed = fromHex(signature);
  const recovery = signed[64] as number;
  if (recovery > 1) throw new Error('the recovery id is 0 or 1');
  const ecdsa = secp256k1.Signature.fromBytes(signed.subarray(0, 64), 'compact');
  if (ecdsa.hasHighS()) throw new Error('s is above half the group order');
  const point = ecdsa.addRecoveryBit(recovery).recoverPublicKey(digest);
  if (address(point.toBytes(true)).key !== signer) throw new Error('the signature is not of the sender');
  return Buffer.concat([signed.subarray(0, 64), Buffer.from([recovery + recoveryOffset])]);
}
