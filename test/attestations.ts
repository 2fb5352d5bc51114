import type { KeyAttestation } from '../src/messages/key-generation';
import { type NodeIndex, nodeIndexes } from '../src/messages/nodes';
import { type AttestedFields, attestKey } from '../src/mpc/key-attestation';
import { signStatement, toWire } from '../src/mpc/statement';
import type { KeyedWallet } from '../src/wallets/attested-keys';
import { keyOf } from './node-refusals';

/** What a node attests about a wallet's key; `changes` of a test that forges it. */
export function attestationOf(
  node: NodeIndex,
  { keyId, walletId, clientId, publicKey, chainCode }: KeyedWallet,
  { by = keyOf(node), ...changes }: Partial<AttestedFields> & { by?: ReturnType<typeof keyOf> } = {},
): KeyAttestation {
  if (!keyId || !publicKey || !chainCode) throw new Error(`wallet ${walletId} has no key`);
  const bound = { keyId, walletId, clientId, protocol: 'ecdsa-secp256k1', publicKey, chainCode } as const;
  const honest = attestKey(node, bound, by);
  if (Object.keys(changes).length === 0) return honest;
  return toWire(signStatement('key', { ...(JSON.parse(honest.text) as AttestedFields), ...changes }, by));
}

/** Those of all three nodes. */
export const attestationsOf = (wallet: KeyedWallet): KeyAttestation[] => nodeIndexes.map((node) => attestationOf(node, wallet));
