import { createHash } from 'node:crypto';
import { base58, bech32, bech32m, createBase58check } from '@scure/base';
import type { AddressFormat, BitcoinNetwork } from '../network';

const base58check = createBase58check((bytes: Uint8Array) => createHash('sha256').update(bytes).digest());

/** Length of every address in Base58Check (Bitcoin wiki, "Invoice address"). */
const base58Form = /^[1-9A-HJ-NP-Za-km-z]{26,35}$/;
/** Witness version, a program of 2 bytes or more, and 6 characters of checksum (BIP-173), in one letter case; 90 characters at most. */
const bech32Form = /^(?=.{1,90}$)([a-z]+)1([02-9ac-hj-np-z])[02-9ac-hj-np-z]{10,}$/;

/** Whether a text looks like an address of a network in one of its encodings, and only the checksum does not fit. */
export function hasWrongChecksum({ accepted }: BitcoinNetwork, text: string): boolean {
  if (base58Form.test(text) && accepted.some((format) => firstLetters(format).includes(text[0] ?? '')))
    return !isDecoded(() => base58check.decode(text));
  const [, prefix, version] = bech32Form.exec(text === text.toUpperCase() ? text.toLowerCase() : text) ?? [];
  if (!accepted.some((format) => format.bech32 === prefix)) return false;
  // version 0 has the checksum of BIP-173, all others have that of BIP-350
  return (version === 'q' ? bech32 : bech32m).decodeUnsafe(text) === undefined;
}

/** Those with which the addresses of both version bytes begin. */
const firstLetters = ({ pubKeyHash, scriptHash }: AddressFormat): string[] =>
  [pubKeyHash, scriptHash].flatMap((version) =>
    [0x00, 0xff].map((rest) => base58.encode(Uint8Array.of(version, ...Buffer.alloc(24, rest)))[0] ?? ''),
  );

function isDecoded(decode: () => unknown): boolean {
  try {
    decode();
    return true;
  } catch {
    return false;
  }
}
