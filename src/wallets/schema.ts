import Joi from 'joi';
import {
  externalId,
  id,
  oneOf,
  pageFields,
  type PageQuery,
  pageSchema,
  text,
  timestamp,
  view,
  visibleText,
} from '../http/schemas';

export interface CreateWallet {
  wallet_name: string;
  description?: string | null;
  external_id?: string;
}

export const createWallet = Joi.object<CreateWallet, true>({
  wallet_name: visibleText(100).required(),
  description: text(500).allow(null, ''),
  external_id: externalId().description(
    'What you call the wallet: no other one of yours may have it (409 external_id_in_use). GET /wallets finds it by this',
  ),
});

export interface ListWallets extends PageQuery {
  external_id?: string;
}

export const listWallets = Joi.object<ListWallets, true>({
  ...pageFields,
  external_id: externalId().description('The wallet of yours that was given this external_id'),
});

export interface WalletView {
  wallet_id: string;
  client_id: string;
  wallet_name: string;
  description: string | null;
  external_id: string | null;
  status: string;
  key_status: string;
  created_at: string;
  updated_at: string;
}

export const walletView = view<WalletView>('Wallet', {
  wallet_id: id(),
  client_id: id(),
  wallet_name: Joi.string(),
  description: Joi.string().allow(null),
  external_id: Joi.string().allow(null).description('As given when it was created'),
  status: oneOf('WalletStatus', ['PROGRESSING', 'ACTIVE', 'SUSPENDED']),
  key_status: oneOf('KeyStatus', ['GENERATING', 'ACTIVE', 'UNVERIFIED']).description(
    'UNVERIFIED: the signing nodes do not attest the key; status is then SUSPENDED',
  ),
  created_at: timestamp(),
  updated_at: timestamp(),
});

/** What a node has signed about the key of a wallet or an account. */
export interface AttestationView {
  node: number;
  statement: string;
  signature: string;
  public_key: string;
}

export const attestationView = view<AttestationView>('KeyAttestation', {
  node: Joi.number().integer().min(1).max(3),
  statement: Joi.string().description(
    'JSON, exactly as signed: node, key_id, wallet_id, client_id, protocol, public_key, chain_code; account_id too for a key of a single account',
  ),
  signature: Joi.string().description(
    'Base64; ECDSA (P-256, SHA-256, IEEE P1363) over "custody-gateway/mpc/key/v1", a NUL byte and the statement',
  ),
  public_key: Joi.string().description("The node's identity as this gateway knows it, PEM (SPKI)"),
});

export interface AttestationsView {
  wallet_id: string;
  attestations: AttestationView[];
}

export const attestationsView = view<AttestationsView>('WalletAttestations', {
  wallet_id: id(),
  attestations: Joi.array()
    .items(attestationView)
    .max(3)
    .description('One of each signing node; none before the wallet has its key'),
});

export const walletPage = pageSchema(walletView, 'WalletPage');
