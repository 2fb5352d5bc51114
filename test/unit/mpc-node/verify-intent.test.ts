import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';
import { verifyIntent } from '../../../src/mpc/verify-intent';
import type { Hex } from '../../../src/chains/types';
import type { OrderRecipient, OrderSigner, SigningClaims } from '../../../src/messages/order';
import { deriveKey } from '../../../src/mpc/secp256k1';
import { buildEvm, digestOf, type EvmPlan } from '../../evm';
import { orderHead } from '../../orders';
import { evmAccount } from './evm-account';

const registry = loadRegistry('local', ['ethereum', 'base']);
const family = getFamily('evm');
const { key, path, from } = evmAccount(7, 5);
const to = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const stranger = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const ethereum = registry.get('ethereum');
const tokens = ethereum.tokens.map(({ contract }) => contract as string);
const usdc = tokens[0] as string;

const native: EvmPlan = {
  chainId: 1,
  kind: 'first',
  nonce: 3,
  from,
  to,
  tokenContract: null,
  amount: 10n ** 18n,
  gasLimit: 21_000n,
  maxFeePerGas: 50n,
  maxPriorityFeePerGas: 1n,
  gasPrice: null,
};
const token: EvmPlan = { ...native, tokenContract: usdc, amount: 2_500_000n, gasLimit: 80_000n };
const cancellation: EvmPlan = { ...native, kind: 'cancellation', to: from, amount: 0n };

interface Ordered {
  claims: SigningClaims;
  unsigned: Hex;
}

/** The order of an honest authoriser for a plan: bytes and claims agree. */
function orderFor(plan: EvmPlan): Ordered {
  const unsigned = buildEvm(plan);
  const claims: SigningClaims = {
    ...orderHead(),
    kind: plan.kind === 'cancellation' ? 'cancellation' : 'transfer',
    tx_id: 't1',
    attempt: 1,
    client_id: 'c1',
    request: null,
    signers: [{ key_id: 'w.1', path, protocol: 'ecdsa-secp256k1', digests: [digestOf(unsigned, from)] }],
    chain: ethereum.caip2,
    from,
    recipients: [{ address: plan.to, token: plan.tokenContract, amount: plan.amount.toString() }],
    max_fee: (plan.gasLimit * (plan.maxFeePerGas ?? plan.gasPrice ?? 0n)).toString(),
  };
  return { claims, unsigned };
}
const verify = ({ claims, unsigned }: Ordered) =>
  verifyIntent(claims, unsigned, { registry, getFamily, keys: new Map([['w.1', key]]) });

describe('signs', () => {
  test.each([
    ['a native transfer', native],
    ['a token transfer', token],
    ['a legacy transaction', { ...native, maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: 50n }],
    ['a cancellation', cancellation],
  ])('%s that is what the order says', (_what, plan) => {
    const ordered = orderFor(plan);
    const isCancellation = plan.kind === 'cancellation';
    const digest = Buffer.from(digestOf(ordered.unsigned, from).slice(2), 'hex');
    expect(verify(ordered)).toEqual({
      payloads: [{ digest, keyId: 'w.1', path, publicKey: deriveKey(key, path) }],
      messageKey: `${from.toLowerCase()}:0x${digest.toString('hex')}`,
      resources: [`ethereum/${from.toLowerCase()}/3`],
      spends: {
        chain: 'ethereum',
        token: plan.tokenContract,
        amount: plan.amount,
        fee: BigInt(ordered.claims.max_fee),
        recipients: isCancellation ? [] : [to.toLowerCase()],
      },
    });
  });

  test('addresses in any letter case', () => {
    const { claims, unsigned } = orderFor(token);
    const recipients = [{ address: to.toLowerCase(), token: usdc.toLowerCase(), amount: '2500000' }];
    expect(() => verify({ unsigned, claims: { ...claims, from: from.toLowerCase(), recipients } })).not.toThrow();
  });
});

describe('refuses', () => {
  const claim = (change: Partial<SigningClaims>, plan = token): Ordered => {
    const { claims, unsigned } = orderFor(plan);
    return { unsigned, claims: { ...claims, ...change } as SigningClaims };
  };
  const output = (change: Partial<OrderRecipient>, plan = token): Ordered =>
    claim({ recipients: orderFor(plan).claims.recipients.map((it) => ({ ...it, ...change })) }, plan);
  const signer = (...changes: Partial<OrderSigner>[]): Ordered => {
    const [own] = orderFor(token).claims.signers as [OrderSigner];
    return claim({ signers: changes.map((change) => ({ ...own, ...change })) });
  };
  const bytesOf = (change: Partial<EvmPlan>, plan = token): Ordered => ({
    ...orderFor(plan),
    unsigned: buildEvm({ ...plan, ...change }),
  });
  const dear = { maxFeePerGas: ethereum.maxNetworkFee / 80_000n + 1n };

  test.each<[string, string, Ordered]>([
    ['another recipient of tokens', 'recipients', bytesOf({ to: stranger })],
    ['another recipient of coins', 'recipients', bytesOf({ to: stranger }, native)],
    ['a recipient that is no address', 'recipients', output({ address: 'nobody' })],
    ['a higher amount', 'recipients', bytesOf({ amount: 2_500_001n })],
    ['a lower amount', 'recipients', bytesOf({ amount: 1n }, native)],
    ['another token', 'recipients', bytesOf({ tokenContract: tokens[1] ?? '' })],
    ['a token instead of the coin', 'recipients', output({ token: null })],
    ['the coin instead of a token', 'recipients', output({ token: usdc }, native)],
    ['a token that is not registered, claims alike', 'recipients', orderFor({ ...token, tokenContract: stranger })],
    ['a fee above the highest', 'max_fee', claim({ max_fee: (80_000n * 50n - 1n).toString() })],
    ['a fee above the cap of the chain, claims alike', 'max_fee', orderFor({ ...token, ...dear })],
    [
      'a cancellation above the cap of the chain, claims alike',
      'max_fee',
      orderFor({ ...cancellation, maxFeePerGas: ethereum.maxNetworkFee }),
    ],
    ['bytes for another chain id', 'chain', bytesOf({ chainId: 8453 })],
    ['an order for another chain', 'chain', claim({ chain: 'eip155:8453' })],
    ['a chain that is not enabled', 'chain', claim({ chain: 'eip155:137' })],
    ['a from address of another account', 'from', claim({ from: stranger })],
    ['the path of another account', 'from', signer({ path: family.accountPath(6) })],
    ['the group key itself', 'signers', signer({ path: 'm' })],
    ['a path beside the accounts', 'signers', signer({ path: 'm/0/5' })],
    ['a hardened index', 'signers', signer({ path: family.accountPath(0).replace(/0$/, '2147483648') })],
    ['digests of something else', 'signers', signer({ digests: [`0x${'11'.repeat(32)}`] })],
    ['other bytes that do the same', 'signers', bytesOf({ nonce: 4 })],
    ['a second signer that has nothing to sign', 'from', signer({}, { path: family.accountPath(6) })],
    ['a signer twice', 'signers', signer({}, {})],
    ['a key of which the node has no share', 'signers', signer({ key_id: 'w.2' })],
    [
      'an output that the bytes do not have',
      'recipients',
      claim({ recipients: [...orderFor(token).claims.recipients, ...orderFor(token).claims.recipients] }),
    ],
    ['bytes that do not decode', 'unsigned', { ...orderFor(token), unsigned: '0x02c0' }],
    ['a cancellation to another address', 'recipients', claim({ kind: 'cancellation' }, { ...native, amount: 0n })],
    ['a cancellation that moves coins', 'recipients', claim({ kind: 'cancellation' }, { ...native, to: from })],
    ['a cancellation that moves tokens', 'recipients', claim({ kind: 'cancellation' }, token)],
    [
      'bytes that move coins for a cancellation',
      'recipients',
      { ...orderFor(cancellation), unsigned: buildEvm({ ...native, to: from }) },
    ],
    ['a reissue, where attempts do not expire', 'kind', claim({ kind: 'reissue', attempt: 2 })],
    ['a cancellation beyond the highest fee', 'max_fee', claim({ max_fee: '1' }, cancellation)],
  ])('%s', (_what, field, ordered) => {
    let refusal: unknown;
    try {
      verify(ordered);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({ code: 'intent_mismatch', message: expect.stringContaining(`${field}: `) });
  });
});
