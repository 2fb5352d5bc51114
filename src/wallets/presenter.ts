import type { KeyObject } from 'node:crypto';
import type { NodeKeys } from '../mpc/identity';
import { attestingKey } from '../mpc/key-attestation';
import type { StoredStatement } from './attestation-entity';
import type { AttestationsView, AttestationView, WalletView } from './schema';
import type { ShownWallet, StoredAttestations } from './service';

export const presentWallet = ({ wallet, isAttested }: ShownWallet): WalletView => ({
  wallet_id: wallet.walletId,
  client_id: wallet.clientId,
  wallet_name: wallet.walletName,
  description: wallet.description,
  external_id: wallet.externalId,
  ...presentStatus({ wallet, isAttested }),
  created_at: wallet.createdAt.toISOString(),
  updated_at: wallet.updatedAt.toISOString(),
});

/** How a wallet is shown with a key that the nodes do not attest. */
export const unverifiedWallet = { status: 'SUSPENDED', key_status: 'UNVERIFIED' } as const;

/** A wallet is never shown as active with a key that the nodes do not attest. */
const presentStatus = ({ wallet, isAttested }: ShownWallet): Pick<WalletView, 'status' | 'key_status'> =>
  wallet.keyStatus === 'ACTIVE' && !isAttested ? unverifiedWallet : { status: wallet.status, key_status: wallet.keyStatus };

export const presentAttestations = ({ walletId, attestations }: StoredAttestations, nodeKeys: NodeKeys): AttestationsView => ({
  wallet_id: walletId,
  attestations: presentStatements(attestations, nodeKeys),
});

export const presentStatements = (statements: StoredStatement[], nodeKeys: NodeKeys): AttestationView[] =>
  statements.map(({ node, statement, signature }) => ({
    node,
    statement,
    signature,
    public_key: toPem(attestingKey({ text: statement, signature }, node, nodeKeys) ?? nodeKeys.get(node)?.[0]),
  }));

const toPem = (key: KeyObject | undefined): string => key?.export({ type: 'spki', format: 'pem' }).toString() ?? '';
