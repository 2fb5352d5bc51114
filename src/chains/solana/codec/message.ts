import { createReader } from './reader';

/**
 * Solana's message format, version 0 (solana-message: versions/v0), without address lookup tables. What it reads, with the fee payer as the only
 * signer, is checked by encoding it again.
 */

interface AccountMeta {
  key: Buffer;
  isWritable: boolean;
}

export interface Instruction {
  program: Buffer;
  accounts: AccountMeta[];
  data: Buffer;
}

/** As its bytes say it. */
export interface Message {
  payer: Buffer;
  blockhash: Buffer;
  instructions: { program: Buffer; accounts: Buffer[]; data: Buffer }[];
}

const versionZero = 0x80;
const keyBytes = 32;
/** One packet of 1,280 bytes without the headers of IPv6 (PACKET_DATA_SIZE), and without the signatures and their number. */
const maxBytes = (signers: number): number => 1_232 - 1 - 64 * signers;

/**
 * The accounts are in the order of Solana's own compiler (CompiledKeys): the payer, the one who signs beside him, the writable ones and the others,
 * each group ordered by its bytes. @throws Error for more than a transaction can hold.
 * @param cosigner who signs as well, and to whose own account nothing is written
 */
export function writeMessage(payer: Buffer, blockhash: Buffer, instructions: readonly Instruction[], cosigner?: Buffer): Buffer {
  const signers = cosigner ? [payer, cosigner] : [payer];
  const keys = collectKeys(signers, instructions);
  const position = (key: Buffer): number => keys.all.findIndex((it) => it.equals(key));
  const bytes = Buffer.concat([
    Buffer.from([versionZero, signers.length, signers.length - 1, keys.readonlyCount]),
    writeLength(keys.all.length),
    ...keys.all,
    blockhash,
    writeLength(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => [
      Buffer.from([position(program)]),
      writeLength(accounts.length),
      Buffer.from(accounts.map(({ key }) => position(key))),
      writeLength(data.length),
      data,
    ]),
    // lookup tables
    writeLength(0),
  ]);
  if (bytes.length > maxBytes(signers.length)) throw new Error('the message does not fit into a transaction');
  return bytes;
}

function collectKeys(signers: readonly Buffer[], instructions: readonly Instruction[]): { all: Buffer[]; readonlyCount: number } {
  const writable = new Map<string, boolean>();
  const used = instructions.flatMap(({ program, accounts }) => [...accounts, { key: program, isWritable: false }]);
  for (const { key, isWritable } of used) {
    const hex = key.toString('hex');
    writable.set(hex, isWritable || writable.get(hex) === true);
  }
  for (const signer of signers) writable.delete(signer.toString('hex'));
  const ordered = (wanted: boolean): Buffer[] =>
    [...writable]
      .flatMap(([hex, isWritable]) => (isWritable === wanted ? [Buffer.from(hex, 'hex')] : []))
      .sort((a, b) => Buffer.compare(a, b));
  const readonly = ordered(false);
  return { all: [...signers, ...ordered(true), ...readonly], readonlyCount: readonly.length };
}

/** compact-u16: groups of seven bits, the lowest first. */
export function writeLength(length: number): Buffer {
  if (length > 0xffff) throw new Error('a length is out of range');
  const groups = [length & 127, (length >> 7) & 127, length >> 14];
  const last = length < 1 << 7 ? 0 : length < 1 << 14 ? 1 : 2;
  return Buffer.from(groups.slice(0, last + 1).map((group, index) => (index < last ? group | 128 : group)));
}

/** @throws Error for bytes that are no such message; there may be other bytes of the same message. */
export function readMessage(bytes: Buffer): Message {
  if (bytes.length > maxBytes(1)) throw new Error('the message does not fit into a transaction');
  const reader = createReader(bytes);
  const [version, signers] = reader.take(4);
  if (version !== versionZero) throw new Error('the message is not of version 0');
  if (signers !== 1) throw new Error('the fee payer is the only signer');
  const keys = reader.list(() => reader.take(keyBytes));
  const key = (index: number | undefined): Buffer => {
    const found = keys[index as number];
    if (!found) throw new Error('an instruction names no account of the message');
    return found;
  };
  const payer = key(0);
  const blockhash = reader.take(keyBytes);
  const instructions = reader.list(() => ({
    program: key(reader.take(1)[0]),
    accounts: reader.list(() => key(reader.take(1)[0])),
    data: reader.take(reader.length()),
  }));
  if (reader.length() !== 0) throw new Error('lookup tables are not used');
  if (!reader.isAtEnd()) throw new Error('bytes follow the message');
  return { payer, blockhash, instructions };
}
