import { randomBytes } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { HDKey } from '@scure/bip32';
import { generateSecret, generateSync } from 'otplib';
import type { DataSource } from 'typeorm';
import type { Hex } from '../src/chains/types';
import { AccountAttestationEntity } from '../src/accounts/attestation-entity';
import { AccountEntity } from '../src/accounts/entity';
import { AssetEntity } from '../src/assets/entity';
import { ClientEntity, UserEntity } from '../src/auth/entity';
import { encodeLevels } from '../src/chains/evm/fees';
import { getFamily as productFamily } from '../src/chains/families';
import type { GetFamily } from '../src/chains/family';
import { tokenBySymbol } from '../src/chains/registry';
import { hasChildren } from '../src/chains/key-protocols';
import { attestKey } from '../src/mpc/key-attestation';
import { keyOf } from './node-refusals';
import type { ChainDefinition, DepositFound } from '../src/chains/types';
import { confirmDeposits } from '../src/deposits/confirm';
import { recordDeposits } from '../src/deposits/record';
import { ensureLedgerAccounts } from '../src/ledger/accounts';
import { LedgerAccountEntity } from '../src/ledger/entity';
import { totpOwner } from '../src/mfa/totp';
import type { ActivateWallet, KeyAttestation } from '../src/messages/key-generation';
import { nodeIndexes } from '../src/messages/nodes';
import { newId } from '../src/platform/ids';
import type { SecretBox } from '../src/platform/secret-box';
import type { TransferRequest } from '../src/transfers/accept/request';
import { AttestationEntity } from '../src/wallets/attestation-entity';
import { WalletEntity } from '../src/wallets/entity';
import { attestationsOf } from './attestations';
import { signAnew } from './ed25519';

/** Builds rows like those of production. Every builder stores what it returns. */

export async function buildClient(database: DataSource, { name = `client ${newId()}` } = {}): Promise<ClientEntity> {
  const clientId = newId();
  await database.manager.insert(ClientEntity, { clientId, name, status: 'ACTIVE' });
  return database.manager.findOneByOrFail(ClientEntity, { clientId });
}

export async function buildUser(
  database: DataSource,
  client: Pick<ClientEntity, 'clientId'>,
  { name = `user ${newId()}` } = {},
): Promise<UserEntity> {
  const userId = newId();
  await database.manager.insert(UserEntity, { userId, clientId: client.clientId, name, status: 'ACTIVE' });
  return database.manager.findOneByOrFail(UserEntity, { userId });
}

/** A confirmed second factor. Returns its secret (Base32), for `totpCode`. */
export async function buildTotp(database: DataSource, box: SecretBox, { userId }: { userId: string }): Promise<string> {
  const secret = generateSecret();
  await database.query('insert into user_totp (user_id, secret, confirmed_at) values ($1, $2, now())', [
    userId,
    box.seal(secret, totpOwner(userId)),
  ]);
  return secret;
}

/** The current code, or one of another step of 30 s: -1, 0 and 1 are accepted, each once. */
export const totpCode = (secret: string, steps = 0): string =>
  generateSync({ secret, epoch: Math.floor(Date.now() / 1000) + steps * 30 });

export interface BuiltWallet extends WalletEntity {
  /** The complete private key, which never exists in production: it signs in tests instead of the nodes. */
  key: HDKey;
  keyId: string;
  publicKey: Buffer;
  chainCode: Buffer;
}

/** In place of those of nodes 1, 2 and 3, whatever they say. */
async function insertAttestations(database: DataSource, walletId: string, attestations: KeyAttestation[]): Promise<void> {
  await database.manager.insert(
    AttestationEntity,
    attestations.map(({ text, signature }, index) => ({ walletId, node: nodeIndexes[index], statement: text, signature })),
  );
}

/** An ACTIVE wallet with a real secp256k1 key that all nodes have attested. */
export async function buildWallet(
  database: DataSource,
  client: ClientEntity,
  { name = 'wallet', attest = attestationsOf, key = HDKey.fromMasterSeed(randomBytes(32)) } = {},
): Promise<BuiltWallet> {
  const walletId = newId();
  await database.manager.insert(WalletEntity, {
    walletId,
    clientId: client.clientId,
    walletName: name,
    status: 'ACTIVE',
    keyStatus: 'ACTIVE',
    keyId: newId(),
    publicKey: Buffer.from(key.publicKey as Uint8Array),
    chainCode: Buffer.from(key.chainCode as Uint8Array),
  });
  const wallet = await database.manager.findOneByOrFail(WalletEntity, { walletId });
  await insertAttestations(database, walletId, attest(wallet));
  return Object.assign(wallet as WalletEntity & Pick<BuiltWallet, 'keyId' | 'publicKey' | 'chainCode'>, { key });
}

/** A random key for a wallet without one, as its workflow activates it. */
export async function buildKey(database: DataSource, walletId: string): Promise<ActivateWallet> {
  const { clientId } = await database.manager.findOneByOrFail(WalletEntity, { walletId });
  const [keyId, publicKey, chainCode] = [`${walletId}.1`, Buffer.from(secp256k1.keygen().publicKey), randomBytes(32)];
  return {
    walletId,
    keyId,
    publicKey: `0x${publicKey.toString('hex')}`,
    chainCode: `0x${chainCode.toString('hex')}`,
    attestations: attestationsOf({ walletId, clientId, keyId, publicKey, chainCode }),
  };
}

/** Of the accounts that have keys of their own, by key id; a test signs with them instead of the nodes. */
const ownKeys = new Map<string, { secretKey: Uint8Array; publicKey: Buffer }>();

/** By key id: the wallet's key, and those that accounts have of their own. */
export const keysOf = (
  { keyId, publicKey, chainCode }: Pick<BuiltWallet, 'keyId' | 'publicKey' | 'chainCode'>,
  accounts: AccountEntity[],
): Map<string, { publicKey: Buffer; chainCode: Buffer }> =>
  new Map([
    [keyId, { publicKey, chainCode }],
    ...accounts.flatMap((account) => {
      const own = ownKeys.get(account.keyId);
      return own ? [[account.keyId, { publicKey: own.publicKey, chainCode: Buffer.alloc(0) }] as const] : [];
    }),
  ]);

/** The next account of a wallet, at the address its key gives, or a random key of its own. */
export async function buildAccount(
  database: DataSource,
  wallet: BuiltWallet,
  chain: ChainDefinition,
  getFamily: GetFamily = productFamily,
): Promise<AccountEntity> {
  const addressIndex = await database.manager.countBy(AccountEntity, { walletId: wallet.walletId });
  const family = getFamily(chain.family);
  const derivationPath = family.accountPath(addressIndex);
  const ownKey = hasChildren(family.keyProtocol) ? null : ed25519.keygen();
  const own = ownKey && Buffer.from(ownKey.publicKey);
  const { address, key } = family.address(own ?? (wallet.key.derive(derivationPath).publicKey as Uint8Array));
  const accountId = newId();
  const keyId = own ? `${accountId}.1` : wallet.keyId;
  if (ownKey && own) ownKeys.set(keyId, { secretKey: ownKey.secretKey, publicKey: own });
  const row = {
    accountId,
    walletId: wallet.walletId,
    clientId: wallet.clientId,
    family: chain.family,
    chain: chain.name,
    network: chain.network,
    address,
    addressKey: key,
    keyId,
    keyProtocol: family.keyProtocol,
    derivationPath,
    addressIndex,
  };
  await database.transaction(async (manager) => {
    await manager.insert(AccountEntity, row);
    const bound = { ...{ keyId, walletId: wallet.walletId, clientId: wallet.clientId, accountId }, chainCode: Buffer.alloc(0) };
    for (const node of own ? nodeIndexes : []) {
      const { text, signature } = attestKey(node, { ...bound, protocol: family.keyProtocol, publicKey: own! }, keyOf(node));
      await manager.insert(AccountAttestationEntity, { accountId, node, statement: text, signature });
    }
  });
  return database.manager.findOneByOrFail(AccountEntity, { accountId });
}

/** Adds a token to an account as POST /assets does; returns its ledger account (asset_id = ledgerAccountId). */
export async function buildAsset(
  database: DataSource,
  account: AccountEntity,
  chain: ChainDefinition,
  symbol: string,
): Promise<LedgerAccountEntity> {
  const token = tokenBySymbol(chain, symbol);
  if (!token) throw new Error(`${chain.name} has no ${symbol}`);
  const { accountId, walletId, clientId } = account;
  await ensureLedgerAccounts(database.manager, [{ owner: account, chain: chain.name, token }]);
  const ledgerAccount = await ledgerAccountOf(database, account, chain, symbol);
  await database.manager.insert(AssetEntity, { assetId: ledgerAccount.ledgerAccountId, accountId, walletId, clientId });
  return ledgerAccount;
}

/** The current ledger account. */
export function ledgerAccountOf(
  database: DataSource,
  { accountId }: AccountEntity,
  chain: ChainDefinition,
  symbol: string,
): Promise<LedgerAccountEntity> {
  return database.manager.findOneByOrFail(LedgerAccountEntity, { accountId, chain: chain.name, symbol });
}

export const randomHash = (): Hex => `0x${randomBytes(32).toString('hex')}`;
export const randomAddress = (): string => productFamily('evm').address(secp256k1.keygen().publicKey).address;
/** An EVM address with the case of one letter changed. */
export const wrongChecksum = (address: string): string =>
  address.replace(/[a-f]/i, (digit) => (digit === digit.toLowerCase() ? digit.toUpperCase() : digit.toLowerCase()));

/** A deposit as the follower finds it. */
export function buildDeposit(
  account: AccountEntity,
  chain: ChainDefinition,
  symbol: string,
  amount: bigint,
  at: Partial<DepositFound> = {},
): DepositFound {
  const token = tokenBySymbol(chain, symbol);
  if (!token) throw new Error(`${chain.name} has no ${symbol}`);
  return {
    txHash: randomHash(),
    position: token.contract === null ? '0' : '1',
    blockNumber: 1,
    blockHash: randomHash(),
    fromAddress: randomAddress(),
    toAddress: account.address,
    tokenContract: token.contract,
    amount,
    ...at,
  };
}

/** Credits atomic units by a deposit that is found and deep enough. */
export async function fundAccount(
  database: DataSource,
  account: AccountEntity,
  chain: ChainDefinition,
  symbol: string,
  amount: bigint,
): Promise<DepositFound> {
  const deposit = buildDeposit(account, chain, symbol, amount);
  await database.transaction((manager) => recordDeposits(manager, chain, [deposit]));
  await database.transaction((manager) => confirmDeposits(manager, chain, deposit.blockNumber + chain.confirmations - 1));
  return deposit;
}

/** Stores fee levels as the chain's follower does: without them there is no fee bound. Atomic units per gas. */
export async function setFeeLevels(
  database: DataSource,
  chain: ChainDefinition,
  { baseFee = 1_000_000_000n, priorityFee = 1_000_000_000n } = {},
): Promise<void> {
  const levels = encodeLevels({ baseFee, priorityFee, gasPrice: baseFee + priorityFee, l1DataFee: 0n });
  await database.query(
    `insert into chain_cursors (chain, caip2, next_block, head_block, fee_levels) values ($1, $2, 1, 0, $3::jsonb)
     on conflict (chain) do update set fee_levels = excluded.fee_levels, fee_levels_at = now()`,
    [chain.name, chain.caip2, JSON.stringify(levels)],
  );
}

/** A transfer request of an account; amounts in display units. */
export function buildTransferRequest(
  account: AccountEntity,
  chain: ChainDefinition,
  changes: Partial<TransferRequest> = {},
): TransferRequest {
  return {
    txId: newId(),
    clientId: account.clientId,
    userId: newId(),
    requestId: newId(),
    idempotencyKey: null,
    fromAddress: account.address,
    toAddress: randomAddress(),
    chain: chain.name,
    tokenSymbol: chain.native.symbol,
    amount: '1',
    externalId: null,
    retryOf: null,
    memo: null,
    memoOnChain: false,
    allowsProgram: false,
    ...changes,
  };
}

export interface SignOptions {
  getFamily?: GetFamily;
  /** Other accounts of the wallet that may have to sign too. */
  cosigners?: AccountEntity[];
  /** Other signatures at every call, as two signature sessions give them. */
  isRandom?: boolean;
}

/** Signs like two nodes would: for every payload of the unsigned bytes r || s || recovery id, or 64 bytes of Ed25519. */
export function signAs(
  wallet: BuiltWallet,
  account: AccountEntity,
  unsigned: Hex,
  { getFamily = productFamily, cosigners = [], isRandom = false }: SignOptions = {},
): Hex[] {
  return getFamily(account.family)
    .signingPayloads(unsigned, account.address)
    .map((payload) => {
      const signer = [account, ...cosigners].find(({ addressKey }) => addressKey === payload.signer);
      if (!signer) throw new Error(`no key for ${payload.signer}`);
      const own = ownKeys.get(signer.keyId);
      if (own) return signEd25519(payload.message, own.secretKey, isRandom);
      const { privateKey } = wallet.key.derive(signer.derivationPath);
      const digest = Buffer.from(payload.digest.slice(2), 'hex');
      const options = { prehash: false, format: 'recovered', ...(isRandom && { extraEntropy: randomBytes(32) }) } as const;
      const signature = secp256k1.sign(digest, privateKey as Uint8Array, options);
      // noble puts the recovery id first
      return `0x${Buffer.from(signature.subarray(1)).toString('hex')}${Buffer.from(signature.subarray(0, 1)).toString('hex')}` as Hex;
    });
}

function signEd25519(message: Hex | undefined, secretKey: Uint8Array, isRandom: boolean): Hex {
  if (message === undefined) throw new Error('Ed25519 signs messages');
  const bytes = Buffer.from(message.slice(2), 'hex');
  const signature = isRandom ? signAnew(bytes, secretKey) : ed25519.sign(bytes, secretKey);
  return `0x${Buffer.from(signature).toString('hex')}`;
}
