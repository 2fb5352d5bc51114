import { HDKey } from '@scure/bip32';
import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';
import { verifyIntent } from '../../../src/mpc/verify-intent';
import type { IntendedOutput, Signer, SignTransactionRequest } from '../../../src/messages/signing';
import { deriveKey } from '../../../src/mpc/secp256k1';
import { buildEvm, digestOf, type EvmPlan } from '../../evm';

const registry = loadRegistry('local', ['ethereum', 'base']);
const family = getFamily('evm');
const root = HDKey.fromMasterSeed(new Uint8Array(32).fill(7));
const key = { publicKey: root.publicKey as Uint8Array, chainCode: root.chainCode as Uint8Array };
const path = family.accountPath(5);
const from = family.address(deriveKey(key, path)).address;
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
const noop: EvmPlan = { ...native, kind: 'cancellation', to: from, amount: 0n };

/** The request of an honest worker for a plan: bytes and intent agree. */
function requestFor(plan: EvmPlan): SignTransactionRequest {
  const unsigned = buildEvm(plan);
  return {
    signers: [{ keyId: 'w.1', path, protocol: 'ecdsa-secp256k1', digests: [digestOf(unsigned, from)] }],
    family: 'evm',
    kind: plan.kind,
    attempt: 1,
    unsigned,
    intent: {
      txId: 't1',
      chain: 'ethereum',
      fromAddress: from,
      outputs: [{ to: plan.to, tokenContract: plan.tokenContract, amount: plan.amount.toString() }],
      feeBound: (plan.gasLimit * (plan.maxFeePerGas ?? 0n)).toString(),
    },
    peer: 2,
  };
}
const verify = (request: SignTransactionRequest) => verifyIntent(request, { registry, getFamily, keys: new Map([['w.1', key]]) });

describe('signs', () => {
  test.each([
    ['a native transfer', native],
    ['a token transfer', token],
    ['a replacement', { ...token, kind: 'replacement' as const }],
    ['a legacy transaction', { ...native, maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: 50n }],
    ['a cancellation', noop],
  ])('%s that is what the intent says', (_what, plan) => {
    const request = requestFor(plan);
    request.intent.feeBound = (plan.gasLimit * 50n).toString();
    const verified = verify(request);
    const digest = Buffer.from(digestOf(request.unsigned, from).slice(2), 'hex');
    expect(verified.payloads).toEqual([{ digest, keyId: 'w.1', path, publicKey: deriveKey(key, path) }]);
    expect(verified.recipientKeys).toEqual(plan.kind === 'cancellation' ? [] : [to.toLowerCase()]);
  });

  test('addresses in any letter case', () => {
    const request = requestFor(token);
    request.intent = {
      ...request.intent,
      fromAddress: from.toLowerCase(),
      outputs: [{ to: to.toLowerCase(), tokenContract: usdc.toLowerCase(), amount: '2500000' }],
    };
    expect(() => verify(request)).not.toThrow();
  });

  test('a cancellation of any transfer', () => {
    const request = requestFor(noop);
    request.intent = { ...request.intent, outputs: [{ to, tokenContract: usdc, amount: '999' }] };
    expect(() => verify(request)).not.toThrow();
  });
});

describe('refuses', () => {
  const intent = (change: Partial<SignTransactionRequest['intent']>, plan = token): SignTransactionRequest => {
    const request = requestFor(plan);
    return { ...request, intent: { ...request.intent, ...change } };
  };
  const output = (change: Partial<IntendedOutput>, plan = token): SignTransactionRequest => {
    const { outputs } = requestFor(plan).intent;
    return intent({ outputs: outputs.map((it) => ({ ...it, ...change })) }, plan);
  };
  const signer = (...changes: Partial<Signer>[]): SignTransactionRequest => {
    const [own] = requestFor(token).signers as [Signer];
    return { ...requestFor(token), signers: changes.map((change) => ({ ...own, ...change })) };
  };
  const bytesOf = (change: Partial<EvmPlan>, plan = token): SignTransactionRequest => ({
    ...requestFor(plan),
    unsigned: buildEvm({ ...plan, ...change }),
  });
  const other = (change: Partial<SignTransactionRequest>, plan = token): SignTransactionRequest => ({
    ...requestFor(plan),
    ...change,
  });

  test.each<[string, string, SignTransactionRequest]>([
    ['another recipient of tokens', 'recipient', bytesOf({ to: stranger })],
    ['another recipient of coins', 'recipient', bytesOf({ to: stranger }, native)],
    ['a recipient that is no address', 'recipient', output({ to: 'nobody' })],
    ['a higher amount', 'amount', bytesOf({ amount: 2_500_001n })],
    ['a lower amount', 'amount', bytesOf({ amount: 1n }, native)],
    ['another token', 'token', bytesOf({ tokenContract: tokens[1] ?? '' })],
    ['a token instead of the coin', 'token', output({ tokenContract: null })],
    ['the coin instead of a token', 'token', output({ tokenContract: usdc }, native)],
    [
      'a token that is not registered, intent alike',
      'token',
      { ...bytesOf({ tokenContract: stranger }), intent: output({ tokenContract: stranger }).intent },
    ],
    ['a fee above the bound', 'network fee', intent({ feeBound: (80_000n * 50n - 1n).toString() })],
    ['bytes for another chain id', 'chain id', bytesOf({ chainId: 8453 })],
    ['an intent for another chain', 'chain id', intent({ chain: 'base' })],
    ['a chain that is not enabled', 'chain', intent({ chain: 'polygon' })],
    ['another family', 'chain', other({ family: 'bitcoin' })],
    ['a from address of another account', 'from address', intent({ fromAddress: stranger })],
    ['the path of another account', 'from address', signer({ path: family.accountPath(6) })],
    ['the group key itself', 'derivation path', signer({ path: 'm' })],
    ['a path beside the accounts', 'derivation path', signer({ path: 'm/0/5' })],
    ['a hardened index', 'derivation path', signer({ path: family.accountPath(0).replace(/0$/, '2147483648') })],
    ['digests of something else', 'digests', signer({ digests: [`0x${'11'.repeat(32)}`] })],
    ['a second signer that has nothing to sign', 'from address', signer({}, { path: family.accountPath(6) })],
    ['a signer twice', 'signers', signer({}, {})],
    ['a key of which the node has no share', 'key', signer({ keyId: 'w.2' })],
    [
      'an output that the bytes do not have',
      'outputs',
      intent({ outputs: [...requestFor(token).intent.outputs, ...requestFor(token).intent.outputs] }),
    ],
    ['bytes that do not decode', 'unsigned', other({ unsigned: '0x02c0' })],
    ['a cancellation to another address', 'recipient', { ...requestFor(noop), unsigned: buildEvm({ ...native, amount: 0n }) }],
    ['a cancellation that moves coins', 'amount', { ...requestFor(noop), unsigned: buildEvm({ ...native, to: from }) }],
    [
      'a cancellation that moves tokens',
      'token',
      { ...requestFor(noop), unsigned: requestFor(token).unsigned, intent: requestFor(token).intent },
    ],
    ['a transfer called cancellation', 'amount', other({ kind: 'cancellation' }, native)],
    ['a cancellation beyond the fee bound', 'network fee', intent({ feeBound: '1' }, noop)],
  ])('%s', (_what, field, request) => {
    let refusal: unknown;
    try {
      verify(request);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({ code: 'intent_mismatch', message: expect.stringContaining(`${field}: `) });
  });
});
