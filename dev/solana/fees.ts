/** Fees: 5,000 lamports a signature, and the price a compute unit (micro-lamports) times the limit (solana-compute-budget-instruction, solana-fee). */
import { lamportsPerSignature, programs } from './parameters';
import type { Message } from './transactions';

const maxUnits = 1_400_000n;
const unitsOfInstruction = 200_000n;
const unitsOfBuiltin = 3_000n;
const microLamports = 1_000_000n;

const builtins = new Set<string>([
  ...[programs.system, programs.computeBudget, 'Vote111111111111111111111111111111111111111'],
  ...['BPFLoader1111111111111111111111111111111111', 'BPFLoader2111111111111111111111111111111111'],
  ...['BPFLoaderUpgradeab1e11111111111111111111111', 'LoaderV411111111111111111111111111111111111'],
]);
/** Precompiles, whose signatures are paid for; they need no units. */
const precompiles = new Set([
  ...['Ed25519SigVerify111111111111111111111111111', 'KeccakSecp256k11111111111111111111111111111'],
  'Secp256r1SigVerify1111111111111111111111111',
]);

export interface Fee {
  /** Lamports. */
  total: bigint;
  /** Micro-lamports a compute unit. */
  unitPrice: bigint;
  unitLimit: bigint;
}

/** What the transaction with this message pays, also when it fails. */
export function feeOf({ header, keys, instructions }: Message): Fee {
  let unitPrice = 0n;
  let given: bigint | undefined;
  let usual = 0n;
  let signatures = BigInt(header.numSignerAccounts);
  for (const { program, data } of instructions) {
    const key = keys[program] as string;
    const bytes = Buffer.from(data);
    if (precompiles.has(key)) signatures += BigInt(bytes[0] ?? 0);
    else usual += builtins.has(key) ? unitsOfBuiltin : unitsOfInstruction;
    if (key !== programs.computeBudget) continue;
    if (bytes[0] === 2 && bytes.length >= 5) given = BigInt(bytes.readUInt32LE(1));
    if (bytes[0] === 3 && bytes.length >= 9) unitPrice = bytes.readBigUInt64LE(1);
  }
  const wanted = given ?? usual;
  const unitLimit = wanted < maxUnits ? wanted : maxUnits;
  const priority = (unitPrice * unitLimit + microLamports - 1n) / microLamports;
  return { total: signatures * lamportsPerSignature + priority, unitPrice, unitLimit };
}
