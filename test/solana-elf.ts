/** The smallest file that holds a program of Solana: github.com/anza-xyz/sbpf, elf.rs and elf_parser (SBPF version 0), and the ELF format. */

export const align = (bytes: number): number => Math.ceil(bytes / 8) * 8;

export const u64 = (value: bigint | number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const u32 = (value: number): Buffer => u64(value).subarray(0, 4);
const u16 = (value: number): Buffer => u64(value).subarray(0, 2);

/** Of a function whose hash the loader writes in place of -1. */
export const callFunction = Buffer.from([0x85, 0x10, 0, 0, 0xff, 0xff, 0xff, 0xff]);

interface Section {
  name: string;
  type: number;
  /** In the file and in memory. */
  at: number;
  content: Buffer;
  /** Number of the section that has its names or symbols. */
  link?: number;
  entryBytes?: number;
}

/** SHT_PROGBITS, SHT_STRTAB, SHT_DYNAMIC, SHT_REL, SHT_DYNSYM */
const types = { code: 1, names: 3, dynamic: 6, relocations: 9, symbols: 11 };
const names = Buffer.from('\0.text\0.dynsym\0.dynstr\0.rel.dyn\0.dynamic\0.shstrtab\0');
const headerBytes = 64;

/** A shared object with one call (`callFunction`) to a function of the machine. */
export function toElf(code: Buffer, functionName: string): Buffer {
  const symbolNames = Buffer.from(`\0${functionName}\0`);
  const symbols = Buffer.concat([Buffer.alloc(24), u32(1), Buffer.from([0x10]), Buffer.alloc(19)]);
  const [codeAt, symbolsAt, symbolNamesAt, relocationsAt, dynamicAt, namesAt, end] = placesOf(
    [code, symbols, symbolNames].map(({ length }) => length).concat(16, 6 * 16, names.length),
  );
  // R_BPF_64_32 of symbol 1, at the call
  const relocations = [codeAt + code.indexOf(callFunction), (1n << 32n) | 10n];
  // DT_SYMTAB, DT_STRTAB, DT_REL, DT_RELSZ, DT_RELENT
  const dynamic = [6, symbolsAt, 5, symbolNamesAt, 17, relocationsAt, 18, 16, 19, 16, 0, 0];
  const sections: Section[] = [
    { name: '.text', type: types.code, at: codeAt, content: code },
    { name: '.dynsym', type: types.symbols, at: symbolsAt, content: symbols, link: 3, entryBytes: 24 },
    { name: '.dynstr', type: types.names, at: symbolNamesAt, content: symbolNames },
    {
      name: '.rel.dyn',
      type: types.relocations,
      at: relocationsAt,
      content: Buffer.concat(relocations.map(u64)),
      link: 2,
      entryBytes: 16,
    },
    { name: '.dynamic', type: types.dynamic, at: dynamicAt, content: Buffer.concat(dynamic.map(u64)), link: 3, entryBytes: 16 },
    { name: '.shstrtab', type: types.names, at: namesAt, content: names },
  ];
  const file = Buffer.alloc(end);
  toHeader(codeAt, end, sections.length + 1).copy(file);
  for (const { at, content } of sections) content.copy(file, at);
  return Buffer.concat([file, Buffer.alloc(64), ...sections.map(toSectionHeader)]);
}

/** One behind the other, the first behind the header; the last place is that behind all of them. */
function placesOf(lengths: number[]): [number, number, number, number, number, number, number] {
  const places = [headerBytes];
  for (const length of lengths) places.push(align((places.at(-1) ?? 0) + length));
  return places as ReturnType<typeof placesOf>;
}

/** ET_DYN for EM_BPF. */
const toHeader = (entry: number, sectionsAt: number, sections: number): Buffer =>
  Buffer.concat([
    ...[Buffer.from('\x7fELF\x02\x01\x01', 'latin1'), Buffer.alloc(9), u16(3), u16(247), u32(1)],
    ...[u64(entry), u64(headerBytes), u64(sectionsAt), u32(0)],
    ...[headerBytes, 56, 0, 64, sections, sections - 1].map(u16),
  ]);

function toSectionHeader({ name, type, at, content, link = 0, entryBytes = 0 }: Section): Buffer {
  // SHF_ALLOC, and SHF_EXECINSTR of code
  const flags = type === types.code ? 6 : 2;
  return Buffer.concat([
    ...[u32(names.indexOf(`${name}\0`)), u32(type)],
    ...[flags, at, at, content.length].map(u64),
    ...[u32(link), u32(0), u64(8), u64(entryBytes)],
  ]);
}
