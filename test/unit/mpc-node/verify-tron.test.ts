import { randomUUID } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';
import type { Hex, TransactionIntent } from '../../../src/chains/types';
import type { SigningClaims } from '../../../src/messages/order';
import { deriveKey } from '../../../src/mpc/secp256k1';
import { claimsSchemas } from '../../../src/mpc/order-schema';
import { verifyIntent } from '../../../src/mpc/verify-intent';
import { orderHead } from '../../orders';
import { buildTron, tronCodec, usdtContract } from '../../tron';

/** What a node signs on Tron: one payment, exactly as ordered. */

const registry = loadRegistry('local', ['ethereum', 'tron']);
const root = HDKey.fromMasterSeed(Buffer.alloc(32, 7));
const key = { publicKey: root.publicKey as Uint8Array, chainCode: root.chainCode as Uint8Array };
const path = tronCodec.accountPath(5);
const { address: from } = tronCodec.address(deriveKey(key, path));
const to = 'TVjsyZ7fYF3qLF6BQgPmTEZy1xrNNyVAAA';
const stranger = 'TJzXt1sZautjqXnpjQT4xSCBHNSYgBkDr3';

const trx: TransactionIntent = { from, outputs: [{ recipient: to, tokenContract: null, amount: 5_000_000n }] };
const usdt: TransactionIntent = { from, outputs: [{ recipient: to, tokenContract: usdtContract, amount: 7_000_000n }] };

interface Order {
  claims: SigningClaims;
  unsigned: Hex;
}

/** The order of an honest authoriser: bytes and claims agree. */
function orderFor(intent: TransactionIntent, changes: object = {}): Order {
  const unsigned = buildTron(intent);
  const digests = tronCodec.signingPayloads(unsigned, intent.from).map(({ digest }) => digest);
  const claims = {
    ...orderHead(),
    ...{ tx_id: 't1', attempt: 1, client_id: 'c1', request: null, kind: 'transfer', chain: 'tron:local', from },
    signers: [{ key_id: 'w.1', path, protocol: 'ecdsa-secp256k1', digests }],
    recipients: intent.outputs.map(({ recipient: address, tokenContract: token, amount }) => ({
      address,
      token,
      amount: `${amount}`,
    })),
    max_fee: '30000000',
    ...(intent.memo !== undefined && { memo: intent.memo }),
    ...changes,
  } as SigningClaims;
  return { claims, unsigned };
}
const verify = ({ claims, unsigned }: Order) =>
  verifyIntent(claims, unsigned, { registry, getFamily, keys: new Map([['w.1', key]]) });

test.each([
  ['TRX', trx, { token: null, amount: 5_000_000n, fee: 0n }],
  ['USDT', usdt, { token: usdtContract, amount: 7_000_000n, fee: 20_000_000n }],
])('a payment of %s', (_, intent, spent) => {
  const order = orderFor(intent);
  const { payloads, resources, spends, messageKey } = verify(order);
  expect(payloads.map(({ digest }) => `0x${digest.toString('hex')}`)).toEqual(order.claims.signers[0]?.digests);
  expect(`0x${messageKey}`).toBe(order.claims.signers[0]?.digests[0]);
  expect(resources).toEqual([]);
  expect(spends).toMatchObject({ chain: 'tron', ...spent });
});

test('a memo that was ordered', () => {
  expect(() => verify(orderFor({ ...usdt, memo: 'invoice 42' }))).not.toThrow();
  expect(() => verify(orderFor({ ...trx, memo: 'ü' }))).not.toThrow();
});

test('bytes that could be executed for hours are not signed', () => {
  const at = (seconds: number) => {
    const { expiresAt = 0 } = tronCodec.describe(orderFor(usdt).unsigned);
    const { claims, unsigned } = orderFor(usdt);
    return () =>
      verifyIntent(claims, unsigned, {
        registry,
        getFamily,
        keys: new Map([['w.1', key]]),
        now: () => (expiresAt - seconds) * 1000,
      });
  };
  expect(at(3_600)).not.toThrow();
  expect(at(3_601)).toThrow('too long');
});

const uuids = { tx_id: randomUUID(), client_id: randomUUID() };

test.each([
  [100, true],
  [101, false],
])('an order with a memo of %d characters beyond the basic plane: %p', (length, isValid) => {
  const { claims } = orderFor(usdt, { ...uuids, memo: '😀'.repeat(length) });
  const { error } = claimsSchemas.get('transfer')?.validate(claims) ?? {};
  expect(error?.message).toEqual(isValid ? undefined : expect.stringContaining('memo'));
});

test('addresses in hex are the same addresses', () => {
  const [address, token] = [to, usdtContract].map((text) => tronCodec.parseAddress(text)?.key);
  expect(() => verify(orderFor(usdt, { recipients: [{ address, token, amount: '7000000' }] }))).not.toThrow();
});

test('a reissue after proof of expiry', () => {
  expect(() => verify(orderFor(usdt, { kind: 'reissue' }))).not.toThrow();
});

const instead = (other: TransactionIntent): Order => ({ claims: orderFor(usdt).claims, unsigned: buildTron(other) });
const pay = (changes: Partial<TransactionIntent['outputs'][number]>): TransactionIntent => ({
  from,
  outputs: usdt.outputs.map((output) => ({ ...output, ...changes })),
});

test.each<[string, Order]>([
  ['another recipient', instead(pay({ recipient: stranger }))],
  ['another amount', instead(pay({ amount: 7_000_001n }))],
  ['TRX in place of the token', instead(pay({ tokenContract: null }))],
  ['another token', instead(pay({ tokenContract: stranger }))],
  ['another sender', instead({ ...usdt, from: stranger })],
  ['a memo that was not ordered', instead({ ...usdt, memo: 'x' })],
  ['a memo of TRX that was not ordered', orderFor({ ...trx, memo: 'x' }, { memo: undefined })],
  ['another memo', orderFor({ ...usdt, memo: 'x' }, { memo: 'y' })],
  ['no memo in place of an ordered one', orderFor(usdt, { memo: 'x' })],
  ['a token that the registry does not have', orderFor(pay({ tokenContract: stranger }))],
  ['a fee limit above the order', orderFor(usdt, { max_fee: '19999999' })],
  ['another network', orderFor(usdt, { chain: 'tron:728126428' })],
  [
    'another digest',
    orderFor(usdt, { signers: [{ key_id: 'w.1', path, protocol: 'ecdsa-secp256k1', digests: [`0x${'11'.repeat(32)}`] }] }),
  ],
  ['another key', orderFor(usdt, { signers: [{ ...orderFor(usdt).claims.signers[0], path: tronCodec.accountPath(6) }] })],
  ['a cancellation', orderFor(trx, { kind: 'cancellation' })],
])('%s is not signed', (_, order) => {
  expect(() => verify(order)).toThrow();
});
