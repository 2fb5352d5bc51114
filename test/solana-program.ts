import { AccountRole, type AccountMeta, address, type Address, generateKeyPairSigner, type Instruction } from '@solana/kit';
import { loader } from '../dev/solana/parameters';
import type { TestChain } from './solana-chain';
import { align, callFunction, toElf, u64 } from './solana-elf';

/**
 * Programs that do one thing: they call another program. Sources: layout of a program's input and of what sol_invoke_signed_c takes, agave
 * (program-runtime/src/serialization.rs, syscalls/src/cpi.rs); instructions, github.com/anza-xyz/sbpf (ebpf.rs).
 */

const inputAt = 0x4_0000_0000n;
const heapAt = 0x3_0000_0000n;
/** Bytes by which an account may grow. */
const growth = 10_240;

/** Where a program finds an account in its input. */
interface Place {
  key: bigint;
  owner: bigint;
  lamports: bigint;
  data: bigint;
  dataLength: number;
}

/** Of accounts that are all different, by the lengths of their data; with what comes after them. */
function placeAccounts(lengths: number[]): { places: Place[]; dataAt: bigint } {
  let at = inputAt + 8n;
  const places = lengths.map((dataLength) => {
    const place = { key: at + 8n, owner: at + 40n, lamports: at + 72n, data: at + 88n, dataLength };
    at += 88n + BigInt(align(dataLength) + growth + 8);
    return place;
  });
  return { places, dataAt: at + 8n };
}

const isSigner = ({ role }: AccountMeta): boolean => role >= AccountRole.READONLY_SIGNER;
const isWritable = ({ role }: AccountMeta): boolean => [AccountRole.WRITABLE, AccountRole.WRITABLE_SIGNER].includes(role);
const flags = (...bits: boolean[]): Buffer => Buffer.from([...bits.map(Number), ...Array<number>(8 - bits.length).fill(0)]);

/**
 * An instruction to a new program, which calls that of `inner` with all that it is given. Everything that the call needs is in the data of
 * the instruction; the program copies it to its heap, since what a call may change has to be there. The accounts are all different.
 */
export async function throughProgram(chain: TestChain, inner: Instruction): Promise<Instruction> {
  const metas = (inner.accounts ?? []) as AccountMeta[];
  const accounts: AccountMeta[] = [...metas, { address: inner.programAddress, role: AccountRole.READONLY }];
  const lengths = await Promise.all(accounts.map((meta) => dataLength(chain, meta.address)));
  const { places, dataAt } = placeAccounts(lengths);
  const metasAt = heapAt + 40n;
  const infosAt = metasAt + BigInt(16 * metas.length);
  const bytesAt = infosAt + BigInt(56 * accounts.length);
  const bytes = Buffer.from(inner.data ?? []);
  const called = [places.at(-1)?.key ?? 0n, metasAt, metas.length, bytesAt, bytes.length].map(u64);
  const metaParts = metas.flatMap((meta, index) => [u64(places[index]?.key ?? 0n), flags(isWritable(meta), isSigner(meta))]);
  const infoParts = accounts.flatMap((meta, index) => {
    const { key, lamports, dataLength: length, data, owner } = places[index] as Place;
    const isProgram = index === metas.length;
    return [...[key, lamports, length, data, owner, 2n ** 64n - 1n].map(u64), flags(isSigner(meta), isWritable(meta), isProgram)];
  });
  const padding = Buffer.alloc(align(bytes.length) - bytes.length);
  const data = Buffer.concat([...called, ...metaParts, ...infoParts, bytes, padding]);
  const code = toCode({ dataAt, words: data.length / 8, infosAt, count: accounts.length });
  return { programAddress: await deploy(chain, code), accounts, data: new Uint8Array(data) };
}

async function dataLength({ rpc }: TestChain, key: Address): Promise<number> {
  const { value } = await rpc.getAccountInfo(key, { commitment: 'processed', encoding: 'base64' }).send();
  return value ? Buffer.from(value.data[0], 'base64').length : 0;
}

async function deploy(chain: TestChain, code: Buffer): Promise<Address> {
  const key = (await generateKeyPairSigner()).address;
  const data = toElf(code, 'sol_invoke_signed_c').toString('base64');
  await chain.client.call('account', { address: key, lamports: '1000000000', data, owner: address(loader), executable: true });
  return key;
}

interface Call {
  /** Of the data of the instruction, and how many words of 8 bytes it has. */
  dataAt: bigint;
  words: number;
  /** Of the accounts on the heap, and their number. */
  infosAt: bigint;
  count: number;
}

const move = (register: number, value: number): Buffer => Buffer.from([0xb7, register, 0, 0, value, 0, 0, 0]);
const moveWide = (register: number, value: bigint): Buffer => {
  const [low, high] = [u64(value).subarray(0, 4), u64(value).subarray(4)];
  return Buffer.concat([Buffer.from([0x18, register, 0, 0]), low, Buffer.alloc(4), high]);
};
const exit = Buffer.from([0x95, 0, 0, 0, 0, 0, 0, 0]);

/** From the address in register 6 to that in register 7, as many as register 8 says. */
const copyWords = Buffer.from([
  ...[0x79, 0x60, 0, 0, 0, 0, 0, 0], // r0 = *r6
  ...[0x7b, 0x07, 0, 0, 0, 0, 0, 0], // *r7 = r0
  ...[0x07, 0x06, 0, 0, 8, 0, 0, 0], // r6 += 8
  ...[0x07, 0x07, 0, 0, 8, 0, 0, 0], // r7 += 8
  ...[0x17, 0x08, 0, 0, 1, 0, 0, 0], // r8 -= 1
  ...[0x55, 0x08, 0xfa, 0xff, 0, 0, 0, 0], // again, unless r8 = 0
]);

/** Copies the data to the heap, and calls sol_invoke_signed_c with the instruction that is there, the accounts and no seeds. */
const toCode = ({ dataAt, words, infosAt, count }: Call): Buffer =>
  Buffer.concat([
    ...[moveWide(6, dataAt), moveWide(7, heapAt), move(8, words), copyWords],
    ...[moveWide(1, heapAt), moveWide(2, infosAt), move(3, count), move(4, 0), move(5, 0), callFunction, exit],
  ]);
