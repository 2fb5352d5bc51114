import { hash160, sha256 } from '@scure/btc-signer/utils.js';
import { isCoinbase, type TransactionInput } from './block';

/**
 * The output script that an input spends, in hex, as far as the input itself shows it: P2WPKH, P2WSH, P2PKH and P2SH do; Taproot and
 * outputs without a hash do not (null). An input of a block is valid, so what it shows is what its output asks for, but for one case: a leaf
 * of Taproot with a version that has no meaning yet (BIP-341) may look like an input of a key whose owner knows nothing of it. What such a
 * transaction pays to that key counts as its change, and not as a deposit: its maker alone loses by it.
 */
export function findSpentScript(input: TransactionInput): string | null {
  const { scriptSig, witness } = input;
  if (isCoinbase(input)) return null;
  if (scriptSig.length > 0) return findInScriptSig(scriptSig, witness.length > 0);
  const last = witness.at(-1);
  if (!last) return null;
  if (witness.length === 2 && isPublicKey(last) && isSignature(witness[0])) return `0014${hex(hash160(last))}`;
  // of a Taproot input the last item is a control block, an annex or a signature
  return witness.length > 1 && !isControlBlock(last) && last[0] !== 0x50 ? `0020${hex(sha256(last))}` : null;
}

/** What is pushed last: the public key of P2PKH, or the script of P2SH. */
function findInScriptSig(scriptSig: Buffer, hasWitness: boolean): string | null {
  const pushes = readPushes(scriptSig);
  const last = pushes?.at(-1);
  if (!pushes || !last) return null;
  if (!hasWitness && pushes.length === 2 && isPublicKey(last) && isSignature(pushes[0])) return `76a914${hex(hash160(last))}88ac`;
  return `a914${hex(hash160(last))}87`;
}

/** null for a script that does anything but push. */
function readPushes(script: Buffer): Buffer[] | null {
  const pushes: Buffer[] = [];
  for (let at = 0; at < script.length;) {
    const code = script[at] as number;
    const [lengthBytes, length] = pushLength(script, at);
    if (length === null) return null;
    const start = at + 1 + lengthBytes;
    if (start + length > script.length) return null;
    pushes.push(code === 0 ? Buffer.alloc(0) : script.subarray(start, start + length));
    at = start + length;
  }
  return pushes;
}

/** How many bytes say how many are pushed, and how many these are; null for other operations. */
function pushLength(script: Buffer, at: number): [number, number | null] {
  const code = script[at] as number;
  if (code < 0x4c) return [0, code];
  if (code === 0x4c && at + 1 < script.length) return [1, script.readUInt8(at + 1)];
  if (code === 0x4d && at + 2 < script.length) return [2, script.readUInt16LE(at + 1)];
  return [0, null];
}

const isPublicKey = (bytes: Buffer): boolean =>
  (bytes.length === 33 && (bytes[0] === 2 || bytes[0] === 3)) || (bytes.length === 65 && bytes[0] === 4);
/** DER with the type of the signature. */
const isSignature = (bytes: Buffer | undefined): boolean => bytes !== undefined && bytes.length >= 9 && bytes[0] === 0x30;
/** BIP-341: 33 bytes and a path of 32 each, the lowest bit of the first byte aside a version from 0xc0 on. */
const isControlBlock = (bytes: Buffer): boolean =>
  bytes.length >= 33 && (bytes.length - 33) % 32 === 0 && (bytes[0] as number) >= 0xc0;
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
