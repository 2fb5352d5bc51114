import { randomBytes, randomUUID } from 'node:crypto';
import { nodeIndexes } from '../../../src/messages/nodes';
import type { AttestedFields } from '../../../src/mpc/key-attestation';
import { toHex } from '../../../src/platform/hex';
import { assertAttested, attestedByAll } from '../../../src/wallets/attestations';
import { attestationOf } from '../../attestations';
import { nodeKeys } from '../../node-refusals';

const walletId = randomUUID();
const clientId = randomUUID();
const wallet = { walletId, clientId, keyId: `${walletId}.1`, publicKey: randomBytes(33), chainCode: randomBytes(32) };
const ofWallet = { public_key: toHex(wallet.publicKey), chain_code: toHex(wallet.chainCode) };
const ofAccount = {
  protocol: 'frost-ed25519',
  account_id: randomUUID(),
  public_key: toHex(randomBytes(32)),
  chain_code: '0x',
} as const;

const attested = (changes: Partial<AttestedFields> = {}) => nodeIndexes.map((node) => attestationOf(node, wallet, changes));
const activate = (changes: Partial<AttestedFields> = {}) => {
  const { public_key: publicKey, chain_code: chainCode } = { ...ofWallet, ...changes };
  assertAttested({ walletId, keyId: wallet.keyId, publicKey, chainCode, attestations: attested(changes) }, clientId);
};
const show = (changes: Partial<AttestedFields> = {}) => {
  const rows = attested(changes).map(({ text, signature }, at) => ({
    walletId,
    node: nodeIndexes[at]!,
    statement: text,
    signature,
  }));
  return attestedByAll(walletId, rows, nodeKeys);
};

test('what all nodes attest of the wallet is its key', () => {
  expect(() => activate()).not.toThrow();
  expect(show()).toMatchObject({ key_id: wallet.keyId, ...ofWallet });
});

test('a key that all nodes attest of an account of the wallet is not the wallet’s', () => {
  expect(() => activate(ofAccount)).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
  expect(show(ofAccount)).toBeNull();
});

test.each<[string, Partial<AttestedFields>]>([
  ['an Ed25519 key without an account', { protocol: 'frost-ed25519', public_key: ofAccount.public_key, chain_code: '0x' }],
  ['an Ed25519 key with a chain code', { ...ofAccount, chain_code: ofWallet.chain_code }],
  ['an ECDSA key of an account', { account_id: ofAccount.account_id }],
  ['an ECDSA key of 32 bytes', { public_key: ofAccount.public_key }],
])('%s is no attestation', (_what, changes) => {
  expect(() => activate(changes)).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
  expect(show(changes)).toBeNull();
});
