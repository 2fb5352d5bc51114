import { isUsable } from './address';
import type { Instruction, Message } from './message';
import { programs, type TokenProgram, tokenPrograms } from './programs';
import { associatedTokenAccount } from './token-account';
import type { UnsignedTransaction } from './unsigned';

/** The instructions of a payment, in their one order: compute budget, token account, memo, transfer. */

/** Of compute-budget-interface: SetComputeUnitLimit, SetComputeUnitPrice. */
const limitTag = 2;
const priceTag = 3;
/** Of the System program: Transfer. */
const transferTag = 2;
/** Of the Associated Token Account Program: CreateIdempotent. */
const createIdempotentTag = 1;
/** Of both token programs: TransferChecked. */
const transferCheckedTag = 12;
/** The longest memo of a transfer has 100 characters. */
const maxMemoBytes = 400;

const writable = (key: Buffer) => ({ key, isWritable: true });
const readonly = (key: Buffer) => ({ key, isWritable: false });

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/**
 * The memo stands before the transfer: token accounts that demand memos look for it there (Token-2022, "Required memo on transfer").
 */
export function toInstructions(transaction: UnsignedTransaction): Instruction[] {
  const { owner, recipient, amount, token, memo } = transaction;
  return [
    ...toBudget(transaction),
    ...(token?.creates ? [createAccount(owner, recipient, token)] : []),
    ...toMemo(memo),
    token
      ? transferToken(transaction, token)
      : {
          program: programs.system,
          accounts: [writable(owner), writable(recipient)],
          data: Buffer.concat([u32(transferTag), u64(amount)]),
        },
  ];
}

/** Limit and price of the compute units. */
export const toBudget = ({ units, price }: Pick<UnsignedTransaction, 'units' | 'price'>): Instruction[] =>
  [Buffer.concat([Buffer.from([limitTag]), u32(units)]), Buffer.concat([Buffer.from([priceTag]), u64(price)])].map((data) => ({
    ...{ program: programs.computeBudget, accounts: [], data },
  }));

export const toMemo = (memo: string | null): Instruction[] =>
  memo === null ? [] : [{ program: programs.memo, accounts: [], data: Buffer.from(memo) }];

type Token = NonNullable<UnsignedTransaction['token']>;
type TransferredToken = Pick<Token, 'mint' | 'program' | 'decimals'>;

const createAccount = (owner: Buffer, recipient: Buffer, { mint, program }: Token): Instruction => ({
  program: programs.associatedToken,
  accounts: [
    writable(owner),
    writable(associatedTokenAccount(recipient, mint, program)),
    ...[recipient, mint, programs.system, tokenPrograms[program]].map(readonly),
  ],
  data: Buffer.from([createIdempotentTag]),
});

/**
 * Token programs look at no account behind the owner's, unless the owner is a multisig account. So the recipient stands there where nothing
 * else names him, as the references of Solana Pay do: token accounts are derived from his address, which cannot be had from theirs.
 */
function transferToken(transaction: UnsignedTransaction, token: Token): Instruction {
  const transfer = toTransferChecked(transaction, token);
  return token.creates ? transfer : { ...transfer, accounts: [...transfer.accounts, readonly(transaction.recipient)] };
}

/** Between the associated token accounts of two wallets. */
export const toTransferChecked = (
  { owner, recipient, amount }: Pick<UnsignedTransaction, 'owner' | 'recipient' | 'amount'>,
  { mint, program, decimals }: TransferredToken,
): Instruction => ({
  program: tokenPrograms[program],
  accounts: [
    writable(associatedTokenAccount(owner, mint, program)),
    readonly(mint),
    writable(associatedTokenAccount(recipient, mint, program)),
    readonly(owner),
  ],
  data: Buffer.concat([Buffer.from([transferCheckedTag]), u64(amount), Buffer.from([decimals])]),
});

/** What instructions seem to say; whether they are those of `toInstructions` is for the caller. @throws Error for any others. */
export function fromInstructions({ payer: owner, blockhash, instructions }: Message): UnsignedTransaction {
  const rest = [...instructions];
  const next = (program: Buffer): Message['instructions'][number] | undefined =>
    rest[0]?.program.equals(program) ? rest.shift() : undefined;
  const units = readBudget(next(programs.computeBudget), limitTag, 5).readUInt32LE(1);
  const price = readBudget(next(programs.computeBudget), priceTag, 9).readBigUInt64LE(1);
  const creation = next(programs.associatedToken);
  const memo = next(programs.memo);
  const [transfer, ...others] = rest;
  if (!transfer || others.length > 0) throw new Error('a transaction has one transfer');
  const payment = transfer.program.equals(programs.system)
    ? readTransfer(transfer, creation)
    : readTransferChecked(transfer, creation);
  return { owner, blockhash, units, price, memo: memo ? readMemo(memo.data) : null, ...payment };
}

type Payment = Pick<UnsignedTransaction, 'recipient' | 'amount' | 'token'>;
type Read = Message['instructions'][number];

function readBudget(instruction: Read | undefined, tag: number, size: number): Buffer {
  if (instruction?.data[0] !== tag || instruction.data.length !== size)
    throw new Error('limit and price of the compute units come first');
  return instruction.data;
}

function readTransfer({ accounts, data }: Read, creation: Read | undefined): Payment {
  if (creation) throw new Error('SOL needs no token account');
  if (data.length !== 12) throw new Error('the System program only transfers');
  return { recipient: readKey(accounts[1]), amount: data.readBigUInt64LE(4), token: null };
}

function readTransferChecked({ program, accounts, data }: Read, creation: Read | undefined): Payment {
  const found = (Object.keys(tokenPrograms) as TokenProgram[]).find((name) => tokenPrograms[name].equals(program));
  if (!found) throw new Error('only the System program and the token programs transfer');
  if (data.length !== 10) throw new Error('token programs only do transferChecked');
  return {
    recipient: readKey(creation ? creation.accounts[2] : accounts[4]),
    amount: data.readBigUInt64LE(1),
    token: { mint: readKey(accounts[1]), program: found, decimals: data[9] as number, creates: creation !== undefined },
  };
}

function readKey(key: Buffer | undefined): Buffer {
  if (!key || !isUsable(key)) throw new Error('the recipient or the token is no address');
  return key;
}

function readMemo(bytes: Buffer): string {
  if (bytes.length === 0 || bytes.length > maxMemoBytes) throw new Error('the memo is empty or too long');
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}
