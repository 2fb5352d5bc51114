import { In, type EntityManager } from 'typeorm';
import type { ActivateWallet } from '../messages/key-generation';
import { nodeIndexes } from '../messages/nodes';
import { type AttestedFields, parseAttestation, verifyAttestation } from '../mpc/key-attestation';
import type { NodeKeys } from '../mpc/identity';
import { GatewayError } from '../platform/errors';
import { AttestationEntity, type StoredStatement } from './attestation-entity';

/**
 * That each node says of this key that it is the wallet's. The worker does not know the nodes' identities: whoever shows an address
 * verifies the signatures.
 * @throws GatewayError invalid_parameter
 */
export function assertAttested({ walletId, keyId, publicKey, chainCode, attestations }: ActivateWallet, clientId: string): void {
  const fields = attestations.map(parseAttestation);
  const wanted = { key_id: keyId, wallet_id: walletId, client_id: clientId, public_key: publicKey, chain_code: chainCode };
  const isWanted = fields.every((it) =>
    Object.entries(wanted).every(([name, value]) => it[name as keyof typeof wanted] === value),
  );
  if (!isWanted || !fields.every(isWallets) || fields.length !== nodeIndexes.length || !sayTheSame(fields))
    throw new GatewayError('invalid_parameter', 'attestations: each node has to attest the key of the wallet');
}

/** To be called in the database transaction that activates the wallet. @throws GatewayError as parseAttestation */
export async function storeAttestations(manager: EntityManager, { walletId, attestations }: ActivateWallet): Promise<void> {
  const rows = attestations.map((attestation) => ({
    walletId,
    node: parseAttestation(attestation).node,
    statement: attestation.text,
    signature: attestation.signature,
  }));
  await manager.insert(AttestationEntity, rows);
}

/** What is stored for a wallet, by node; nothing before it has its key. */
export function loadAttestations(manager: EntityManager, walletIds: string[]): Promise<AttestationEntity[]> {
  return manager.find(AttestationEntity, { where: { walletId: In(walletIds) }, order: { walletId: 'ASC', node: 'ASC' } });
}

/** The key that all nodes, by their own signatures, attest to be this wallet's; null without one attestation of each of them. */
export function attestedByAll(walletId: string, rows: AttestationEntity[], nodeKeys: NodeKeys): AttestedFields | null {
  const ofWallet = rows.filter((row) => row.walletId === walletId);
  const fields = saidByAll(ofWallet, nodeKeys);
  return fields?.wallet_id === walletId && isWallets(fields) ? fields : null;
}

/** What all nodes, by their own signatures, say of one key; null without one statement of each of them, or where they differ. */
export function saidByAll(rows: Pick<StoredStatement, 'statement' | 'signature'>[], nodeKeys: NodeKeys): AttestedFields | null {
  const fields = rows
    .map(({ statement: text, signature }) => verifyAttestation({ text, signature }, nodeKeys))
    .filter((it) => it !== null);
  return sayTheSame(fields) ? (fields[0] ?? null) : null;
}

/** A key of one account of the wallet is not the wallet's. */
const isWallets = ({ account_id: accountId }: AttestedFields): boolean => accountId === undefined;

/** One statement of each node, equal in everything but the node. */
function sayTheSame(fields: AttestedFields[]): boolean {
  const keys = new Set(fields.map(({ node: _, ...key }) => JSON.stringify(Object.entries(key).sort())));
  return keys.size === 1 && new Set(fields.map(({ node }) => node)).size === nodeIndexes.length;
}
