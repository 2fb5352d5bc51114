import { secp256k1 } from '@noble/curves/secp256k1.js';
import { OutScript, p2wpkh, SigHash } from '@scure/btc-signer';
import { fromHex, toHex } from '../../../platform/hex';
import type { Hex } from '../../types';
import { toKey } from './address';
import { decode, open } from './transaction';

/** What is signed for each input, in their order: 32 bytes (BIP-143, SIGHASH_ALL). @throws Error on bytes that `decode` refuses. */
export function getDigests(unsigned: Hex): Hex[] {
  const { coins, script } = decode(unsigned);
  const sender = OutScript.decode(script);
  if (sender.type !== 'wpkh') throw new Error('the sender has no P2WPKH address');
  const transaction = open(unsigned);
  // the script that BIP-143 has in place of the witness program
  const code = OutScript.encode({ type: 'pkh', hash: sender.hash });
  return coins.map(({ amount }, index) => toHex(transaction.preimageWitnessV0(index, code, SigHash.ALL, amount)));
}

/** @throws Error unless there is one signature of the sender for each input: r || s || recovery id, 65 bytes. */
export function assemble(unsigned: Hex, signatures: Hex[]): { id: string; bytes: Hex } {
  const { script } = decode(unsigned);
  const digests = getDigests(unsigned);
  if (signatures.length !== digests.length) throw new Error(`${digests.length} signatures are needed`);
  const transaction = open(unsigned);
  digests.forEach((digest, index) => {
    const { publicKey, signature } = readSignature(signatures[index] as Hex, digest);
    if (toKey(p2wpkh(publicKey).script) !== toKey(script)) throw new Error('a signature is not of the sender');
    transaction.updateInput(index, { partialSig: [[publicKey, signature]] });
  });
  transaction.finalize();
  return { id: transaction.id, bytes: toHex(transaction.extract()) };
}

function readSignature(signature: Hex, digest: Hex): { publicKey: Uint8Array; signature: Uint8Array } {
  if (!/^0x[0-9a-f]{130}$/.test(signature)) throw new Error('a signature has 65 bytes');
  const bytes = fromHex(signature);
  const recovery = bytes[64] as number;
  if (recovery > 1) throw new Error('the recovery id is 0 or 1');
  const ecdsa = secp256k1.Signature.fromBytes(bytes.subarray(0, 64), 'compact');
  if (ecdsa.hasHighS()) throw new Error('s is above half the group order (BIP-146)');
  const publicKey = ecdsa.addRecoveryBit(recovery).recoverPublicKey(fromHex(digest)).toBytes(true);
  return { publicKey, signature: Uint8Array.from([...ecdsa.toBytes('der'), SigHash.ALL]) };
}
