import { Address, OutScript, p2wpkh } from '@scure/btc-signer';
import type { ParsedAddress } from '../../family';
import { type AddressFormat, type BitcoinNetwork, networks } from '../network';

/** Canonical form of an address: its output script in hex, the same in every spelling. */
export const toKey = (script: Uint8Array): string => Buffer.from(script).toString('hex');
export const toScript = (key: string): Uint8Array => Uint8Array.from(Buffer.from(key, 'hex'));

/** P2PKH, P2SH (Base58Check), P2WPKH, P2WSH (BIP-173) and P2TR (BIP-350); null for anything else. */
export function parseAddress({ format, accepted }: BitcoinNetwork, text: string): ParsedAddress | null {
  for (const candidate of accepted) {
    const script = decode(candidate, text);
    if (script) return { address: toAddress(format, script), key: toKey(script) };
  }
  return null;
}

/** Who uses an address that this network does not take; null for text that is an address nowhere. */
export function findForeignUsers({ accepted }: BitcoinNetwork, text: string): string | null {
  const isTaken = accepted.some((format) => decode(format, text) !== null);
  return isTaken ? null : (networks.find(({ format }) => decode(format, text) !== null)?.users ?? null);
}

/** The P2WPKH address of a compressed public key (BIP-141). @throws Error for any other key. */
export function address({ format }: BitcoinNetwork, publicKey: Uint8Array): ParsedAddress {
  if (publicKey.length !== 33) throw new Error('a compressed public key has 33 bytes');
  const { script } = p2wpkh(publicKey);
  return { address: toAddress(format, script), key: toKey(script) };
}

/** The output script of an address. @throws Error for text that is no address of the network. */
export function toOutputScript(network: BitcoinNetwork, text: string): Uint8Array {
  const parsed = parseAddress(network, text);
  if (!parsed) throw new Error(`${text} is no address of this network`);
  return toScript(parsed.key);
}

/** @throws Error for a script that has no address. */
export const toAddress = (format: AddressFormat, script: Uint8Array): string => Address(format).encode(assertPaid(script));

/** @throws Error for a script that no address of these networks stands for. */
export function assertPaid(script: Uint8Array) {
  const output = OutScript.decode(script);
  switch (output.type) {
    case 'pkh':
    case 'sh':
    case 'wpkh':
    case 'wsh':
    case 'tr':
      return output;
    default:
      throw new Error(`a script of type ${output.type} is not paid`);
  }
}

/** Anybody may spend what is paid to a P2A address: nobody asks for that. */
function decode(format: AddressFormat, text: string): Uint8Array | null {
  try {
    const output = Address(format).decode(text);
    return output.type === 'p2a' ? null : OutScript.encode(output);
  } catch {
    return null;
  }
}
