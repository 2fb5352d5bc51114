import Joi from 'joi';
import { type AttestationView, attestationView } from '../wallets/schema';
import {
  chainName,
  externalId,
  id,
  oneOf,
  pageFields,
  type PageQuery,
  pageSchema,
  reference,
  text,
  timestamp,
  view,
} from '../http/schemas';

export interface CreateAccount {
  wallet_id: string;
  chain: string;
  label?: string | null;
  external_id?: string;
}

export const createAccount = Joi.object<CreateAccount, true>({
  wallet_id: reference().required(),
  chain: chainName().required(),
  label: text(100).allow(null, ''),
  external_id: externalId().description(
    'What you call the account: no other one of yours may have it (409 external_id_in_use). GET /accounts finds it by this',
  ),
});

export interface ListAccounts extends PageQuery {
  wallet_id?: string;
  chain?: string;
  external_id?: string;
}

export const listAccounts = Joi.object<ListAccounts, true>({
  ...pageFields,
  wallet_id: Joi.string().description('Accounts of this wallet only'),
  chain: chainName().description('Accounts created for this chain only'),
  external_id: externalId().description('The account of yours that was given this external_id'),
});

export interface AccountView {
  account_id: string;
  wallet_id: string;
  client_id: string;
  address: string;
  chain: string;
  network: string;
  address_type: string;
  status: string;
  label: string | null;
  external_id: string | null;
  created_at: string;
}

const accountFields = {
  account_id: id(),
  wallet_id: id(),
  client_id: id(),
  address: Joi.string(),
  chain: Joi.string(),
  network: Joi.string(),
  address_type: Joi.string().valid('INBOUND'),
  status: oneOf('AccountStatus', ['ACTIVE', 'INACTIVE']),
  label: Joi.string().allow(null),
  external_id: Joi.string().allow(null).description('As given when it was created'),
  created_at: timestamp(),
};

export const accountView = view<AccountView>('Account', accountFields);

/** In a list: null where the stored address is not the one that the signing nodes attest. */
export interface ListedAccountView extends Omit<AccountView, 'address'> {
  address: string | null;
}

const listedAccountView = view<ListedAccountView>('ListedAccount', {
  ...accountFields,
  address: Joi.string()
    .allow(null)
    .description('null: the stored address is not the one that the signing nodes attest; do not use one'),
});

export const accountPage = pageSchema(listedAccountView, 'AccountPage');

export interface AccountAttestationsView {
  account_id: string;
  wallet_id: string;
  key_protocol: string;
  derivation_path: string;
  attestations: AttestationView[];
}

export const accountAttestationsView = view<AccountAttestationsView>('AccountAttestations', {
  account_id: id(),
  wallet_id: id(),
  key_protocol: Joi.string().description('Of the key, as in the statements'),
  derivation_path: Joi.string().description(
    "Non-hardened BIP-32 path below the wallet's key; `m` for a key of the account's own",
  ),
  attestations: Joi.array().items(attestationView).max(3).description('One of each signing node'),
});
