import { ed25519 } from '@noble/curves/ed25519.js';
import { getFamily } from '../../../src/chains/families';
import { groupPath } from '../../../src/chains/key-protocols';
import { ChainRegistry } from '../../../src/chains/registry';
import type { SolanaDetails } from '../../../src/chains/solana/details';
import type { Hex, TransactionIntent } from '../../../src/chains/types';
import type { SigningClaims } from '../../../src/messages/order';
import { verifyIntent } from '../../../src/mpc/verify-intent';
import { orderHead } from '../../orders';
import { buildSolana, solanaChain, solanaCodec, usdcMint } from '../../solana';

/** What a node signs on Solana: one payment, exactly as ordered. */

const registry = new ChainRegistry([solanaChain]);
const publicKey = ed25519.getPublicKey(Buffer.alloc(32, 7));
const key = { publicKey, chainCode: new Uint8Array() };
const { address: from } = solanaCodec.address(publicKey);
const walletOf = (seed: number) => solanaCodec.address(ed25519.getPublicKey(Buffer.alloc(32, seed))).address;
const [to, stranger] = [walletOf(8), walletOf(9)];

const sol: TransactionIntent = { from, outputs: [{ recipient: to, tokenContract: null, amount: 5_000_000n }] };
const usdc: TransactionIntent = { from, outputs: [{ recipient: to, tokenContract: usdcMint, amount: 7_000_000n }] };
const withoutCreation: Partial<SolanaDetails> = { token: { program: 'token', decimals: 6, creates: false } };

interface Order {
  claims: SigningClaims;
  unsigned: Hex;
}

/** The order of an honest authoriser: bytes and claims agree. */
function orderFor(intent: TransactionIntent, changes: object = {}, details: Partial<SolanaDetails> = {}): Order {
  const unsigned = buildSolana(intent, details);
  const digests = solanaCodec.signingPayloads(unsigned, intent.from).map(({ digest }) => digest);
  const claims = {
    ...orderHead(),
    ...{ tx_id: 't1', attempt: 1, client_id: 'c1', request: null, kind: 'transfer', chain: solanaChain.caip2, from },
    signers: [{ key_id: 'w.1', path: groupPath, protocol: 'frost-ed25519', digests }],
    recipients: intent.outputs.map(({ recipient: address, tokenContract: token, amount }) => ({
      address,
      token,
      amount: `${amount}`,
    })),
    max_fee: '3000000',
    ...(intent.memo !== undefined && { memo: intent.memo }),
    ...changes,
  } as SigningClaims;
  return { claims, unsigned };
}
const verify = ({ claims, unsigned }: Order) =>
  verifyIntent(claims, unsigned, { registry, getFamily, keys: new Map([['w.1', key]]) });

test.each([
  ['SOL', sol, {}, { token: null, amount: 5_000_000n, fee: 5_400n }],
  ['USDC', usdc, {}, { token: usdcMint, amount: 7_000_000n, fee: 2_044_680n }],
  ['USDC to an account that exists', usdc, withoutCreation, { token: usdcMint, amount: 7_000_000n, fee: 5_400n }],
])('a payment of %s', (_, intent, details, spent) => {
  const order = orderFor(intent, {}, details);
  const { payloads, resources, spends, messageKey } = verify(order);
  expect(payloads.map(({ digest }) => `0x${digest.toString('hex')}`)).toEqual(order.claims.signers[0]?.digests);
  expect(payloads.map(({ message }) => message && `0x${message.toString('hex')}`)).toEqual([order.unsigned]);
  expect(`0x${messageKey}`).toBe(order.claims.signers[0]?.digests[0]);
  expect(resources).toEqual([]);
  expect(spends).toMatchObject({ chain: 'solana', ...spent });
});

test('a memo that was ordered', () => {
  expect(() => verify(orderFor({ ...usdc, memo: 'invoice 42' }))).not.toThrow();
  expect(() => verify(orderFor({ ...sol, memo: 'ü' }))).not.toThrow();
});

test('a reissue after proof of expiry', () => {
  expect(() => verify(orderFor(usdc, { kind: 'reissue' }))).not.toThrow();
});

const instead = (other: TransactionIntent, details?: Partial<SolanaDetails>): Order => ({
  claims: orderFor(usdc).claims,
  unsigned: buildSolana(other, details),
});
const pay = (changes: Partial<TransactionIntent['outputs'][number]>): TransactionIntent => ({
  from,
  outputs: usdc.outputs.map((output) => ({ ...output, ...changes })),
});
const signerWith = (changes: object) => ({ signers: [{ ...orderFor(usdc).claims.signers[0], ...changes }] });

test.each<[string, Order]>([
  ['another recipient', instead(pay({ recipient: stranger }))],
  ['another recipient whose account exists', instead(pay({ recipient: stranger }), withoutCreation)],
  ['another amount', instead(pay({ amount: 7_000_001n }))],
  ['SOL in place of the token', instead(pay({ tokenContract: null }))],
  ['another token', instead(pay({ tokenContract: stranger }))],
  ['another sender', instead({ ...usdc, from: stranger })],
  ['another block hash than the digest says', instead(usdc, { blockhash: stranger })],
  ['a memo that was not ordered', instead({ ...usdc, memo: 'x' })],
  ['a memo of SOL that was not ordered', orderFor({ ...sol, memo: 'x' }, { memo: undefined })],
  ['another memo', orderFor({ ...usdc, memo: 'x' }, { memo: 'y' })],
  ['no memo in place of an ordered one', orderFor(usdc, { memo: 'x' })],
  ['a token that the registry does not have', orderFor(pay({ tokenContract: stranger }))],
  ['a token account that costs more than the order allows', orderFor(usdc, { max_fee: '2044679' })],
  ['a priority fee above the order', orderFor(sol, { max_fee: '5399' })],
  ['another cluster', orderFor(usdc, { chain: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' })],
  ['another digest', orderFor(usdc, signerWith({ digests: [`0x${'11'.repeat(32)}`] }))],
  ['a child of the key', orderFor(usdc, signerWith({ path: 'm/501/0' }))],
  ['another protocol', orderFor(usdc, signerWith({ protocol: 'ecdsa-secp256k1' }))],
  ['an unknown key', orderFor(usdc, signerWith({ key_id: 'w.2' }))],
  ['a cancellation', orderFor(sol, { kind: 'cancellation' })],
])('%s is not signed', (_, order) => {
  expect(() => verify(order)).toThrow();
});

test('a key of somebody else does not sign', () => {
  const { claims, unsigned } = orderFor(usdc);
  const other = { ...key, publicKey: ed25519.getPublicKey(Buffer.alloc(32, 9)) };
  expect(() => verifyIntent(claims, unsigned, { registry, getFamily, keys: new Map([['w.1', other]]) })).toThrow();
});
