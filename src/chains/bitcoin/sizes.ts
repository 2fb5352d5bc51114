/** Sizes in virtual bytes (BIP-141) and what policy derives from them (Bitcoin Core, src/policy/policy.cpp). */

/** DER signature of 71 bytes at most (low S) with its type. */
const signatureBytes = 72;
const publicKeyBytes = 33;
/** Items and their lengths. */
const witnessBytes = 1 + 1 + signatureBytes + 1 + publicKeyBytes;
/** Outpoint, empty script, sequence. */
const inputBytes = 32 + 4 + 1 + 4;
/** Version, counts of inputs and outputs (below 253), lock time. */
const frameBytes = 4 + 1 + 1 + 4;
/** Marker and flag (BIP-144); counted once, like witnesses. */
const markerBytes = 2;

const outputBytes = (script: Uint8Array): number => 8 + 1 + script.length;

/** Virtual size of a signed transaction that spends P2WPKH outputs; its signatures may be a few bytes shorter. */
export function virtualSize(inputs: number, scripts: readonly Uint8Array[]): bigint {
  const base = frameBytes + inputs * inputBytes + scripts.reduce((sum, script) => sum + outputBytes(script), 0);
  return BigInt(Math.ceil((4 * base + markerBytes + inputs * witnessBytes) / 4));
}

/** Of one more input; virtual bytes. */
export const inputSize = virtualSize(2, []) - virtualSize(1, []);

/** Satoshis per virtual byte, of what spending an output would cost; nodes do not relay smaller outputs. */
const dustRate = 3;
const spendingBytes = { witness: 32 + 4 + 1 + Math.floor(107 / 4) + 4, other: 32 + 4 + 1 + 107 + 4 };

/** The smallest amount of an output that nodes relay, in satoshis. */
export function dustLimit(script: Uint8Array): bigint {
  const version = script[0];
  // OP_0, OP_1 to OP_16: the version of a witness program
  const isWitness = version === 0x00 || (version !== undefined && version >= 0x51 && version <= 0x60);
  return BigInt(dustRate * (outputBytes(script) + (isWitness ? spendingBytes.witness : spendingBytes.other)));
}

/** OP_DUP: a script that begins with it is no witness program. */
const dup = 0x76;
/** Of a P2PKH address, whose outputs are the dearest to spend of those that can be paid, in satoshis. */
export const highestDustLimit = dustLimit(new Uint8Array(25).fill(dup));
