import { createHash } from 'node:crypto';
import { type Address, getBase58Encoder, getProgramDerivedAddress, address, getAddressEncoder, isAddress } from '@solana/kit';
import type { Json } from './json';
import { programs } from './parameters';
import { invalidParams } from './rpc-error';

const signatureBytes = 64;

export function isSignature(text: string): boolean {
  try {
    return text.length <= 88 && getBase58Encoder().encode(text).length === signatureBytes;
  } catch {
    return false;
  }
}

/** @throws RpcError */
export function readAddress(value: Json | undefined): string {
  if (typeof value !== 'string' || !isAddress(value)) throw invalidParams('Invalid param: Invalid');
  return value;
}

/** The associated token account of an owner (associated-token-account-interface: seeds owner, token program, mint). */
export async function associatedTokenAddress(owner: string, mint: string, program: string): Promise<Address> {
  const seeds = [owner, program, mint].map((key) => getAddressEncoder().encode(address(key)));
  return (await getProgramDerivedAddress({ programAddress: address(programs.associatedToken), seeds }))[0];
}

/** Of a key that everybody knows. */
export const knownSeed = (name: string): Uint8Array => new Uint8Array(createHash('sha256').update(name).digest());
