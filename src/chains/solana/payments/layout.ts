import type { PaymentReason } from '../../payment-reasons';
import { fromBase58 } from '../codec/base58';
import { programs, type TokenProgram, tokenPrograms } from '../codec/programs';
import { maxPaymentPrice, maxPaymentUnits } from './limits';
import type { OfferedInstruction } from './offered';

/** Checks that a wallet adds for its user (Lighthouse, lighthouse.voyage); they move nothing. */
const lighthouse = fromBase58('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95', 32) as Buffer;
/** Of compute-budget-interface: SetComputeUnitLimit, SetComputeUnitPrice; of both token programs: TransferChecked. */
const [limitTag, priceTag, transferCheckedTag] = [2, 3, 12];
const transferAt = 2;
/** Wallets of version 2 add one more check. */
const maxInstructions = { 1: 6, 2: 7 } as const;
const unknownReasons: readonly PaymentReason[] = [
  'invalid_exact_svm_payload_unknown_fourth_instruction',
  'invalid_exact_svm_payload_unknown_fifth_instruction',
  'invalid_exact_svm_payload_unknown_sixth_instruction',
  'invalid_exact_svm_payload_unknown_seventh_instruction',
];

/** What the payer pays. */
export interface OfferedTransfer {
  program: TokenProgram;
  source: Buffer;
  mint: Buffer;
  destination: Buffer;
  /** Owner of the source, or whom the owner allows to use it. */
  authority: Buffer;
  /** Atomic units. */
  amount: bigint;
  /** As its payer says; the program refuses others than those of the mint. */
  decimals: number;
}

export interface OfferedPayment {
  transfer: OfferedTransfer;
  /** Limit of compute units, and millionths of a lamport for each of it. */
  units: number;
  price: bigint;
}

/**
 * Limit and price of the compute units, the transfer, and then only memos and checks of a wallet: nothing else may move anything, and
 * nothing may be created at the settler's cost. What instructions have behind their fields is as meaningless here as to the programs.
 */
export function readLayout(
  instructions: readonly OfferedInstruction[],
  version: 1 | 2,
): OfferedPayment | { reason: PaymentReason } {
  if (instructions.length < 3 || instructions.length > maxInstructions[version])
    return { reason: 'invalid_exact_svm_payload_transaction_instructions_length' };
  const [limit, price] = instructions as [OfferedInstruction, OfferedInstruction];
  const refused = limitReason(limit) ?? priceReason(price);
  if (refused) return { reason: refused };
  const transfer = readTransfer(instructions[transferAt] as OfferedInstruction);
  if (!transfer) return { reason: 'invalid_exact_svm_payload_no_transfer_instruction' };
  return { transfer, units: limit.data.readUInt32LE(1), price: price.data.readBigUInt64LE(1) };
}

/** What follows the transfer. */
export const othersOf = (instructions: readonly OfferedInstruction[]): readonly OfferedInstruction[] =>
  instructions.slice(transferAt + 1);

const isBudget = ({ program, data }: OfferedInstruction, tag: number, size: number): boolean =>
  program.equals(programs.computeBudget) && data[0] === tag && data.length >= size;

function limitReason(limit: OfferedInstruction): PaymentReason | null {
  if (!isBudget(limit, limitTag, 5)) return 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction';
  return limit.data.readUInt32LE(1) > maxPaymentUnits
    ? 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high'
    : null;
}

function priceReason(price: OfferedInstruction): PaymentReason | null {
  if (!isBudget(price, priceTag, 9)) return 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction';
  return price.data.readBigUInt64LE(1) > maxPaymentPrice
    ? 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high'
    : null;
}

/** null: the instruction is another one. */
function readTransfer({ program, accounts, data }: OfferedInstruction): OfferedTransfer | null {
  const name = (Object.keys(tokenPrograms) as TokenProgram[]).find((it) => tokenPrograms[it].equals(program));
  const [source, mint, destination, authority] = accounts;
  if (!name || !source || !mint || !destination || !authority) return null;
  if (data[0] !== transferCheckedTag || data.length < 10) return null;
  return { program: name, source, mint, destination, authority, amount: data.readBigUInt64LE(1), decimals: data[9] as number };
}

/** Whether all that follows the transfer is harmless. @param memo that the resource server asks for */
export function otherReason(others: readonly OfferedInstruction[], memo: string | null): PaymentReason | null {
  const unknown = others.findIndex(({ program }) => !program.equals(lighthouse) && !program.equals(programs.memo));
  if (unknown >= 0) return unknownReasons[unknown] as PaymentReason;
  if (memo === null) return null;
  const [first, ...more] = others.filter(({ program }) => program.equals(programs.memo));
  if (!first || more.length > 0) return 'invalid_exact_svm_payload_memo_count';
  return first.data.equals(Buffer.from(memo)) ? null : 'invalid_exact_svm_payload_memo_mismatch';
}
