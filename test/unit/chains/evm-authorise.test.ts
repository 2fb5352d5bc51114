import { authorizationTypes, permit2WitnessTypes, uptoPermit2WitnessTypes } from '@x402/evm';
import fc from 'fast-check';
import { concat, getAddress, hashTypedData, recoverAddress, slice } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { evmAuthoriser } from '../../../src/chains/evm/authorise/payload';
import { evmFamily } from '../../../src/chains/evm/family';
import { exactProxyAddress, permit2Address, uptoProxyAddress } from '../../../src/chains/evm/payments/contracts';
import type { Hex, TokenDefinition } from '../../../src/chains/types';
import {
  authorisedAt,
  authorisedByToken,
  authorisedExact,
  authorisedUpto,
  type AuthorisationPlan,
  buildAuthorised,
} from '../../evm-authorisations';

const signer = privateKeyToAccount(`0x${'17'.repeat(32)}`);
const own = (plan: AuthorisationPlan): AuthorisationPlan => ({ ...plan, from: signer.address });
const withPermit = { permitNonce: 7n };
const plans: [string, AuthorisationPlan][] = [
  ['eip3009', own(authorisedByToken)],
  ['permit2, exact', own(authorisedExact)],
  ['permit2, upto', own(authorisedUpto)],
  ['permit2 with an allowance', { ...own(authorisedExact), ...withPermit }],
];
const token = getAddress(authorisedByToken.token);
const payTo = getAddress(authorisedByToken.payTo);
const chainId = 1;
const nonce = authorisedByToken.nonce as Hex;
const [validAfter, validBefore] = [authorisedByToken.validAfter, authorisedByToken.validBefore];

/** r, s and the recovery id, as the nodes sign. */
async function signNodes(digest: Hex): Promise<Hex> {
  const signature = await signer.sign({ hash: digest });
  return concat([slice(signature, 0, 64), slice(signature, 64) === '0x1b' ? '0x00' : '0x01']);
}

/** The digests by the types of the official packages. */
const official: Record<string, Hex> = {
  eip3009: hashTypedData({
    domain: { name: 'USD Coin', version: '2', chainId, verifyingContract: token },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: { from: signer.address, to: payTo, value: 1_000n, validAfter, validBefore, nonce },
  }),
  'permit2, exact': hashTypedData({
    domain: { name: 'Permit2', chainId, verifyingContract: permit2Address },
    types: permit2WitnessTypes,
    primaryType: 'PermitWitnessTransferFrom',
    message: {
      permitted: { token, amount: 1_000n },
      ...{ spender: exactProxyAddress, nonce: BigInt(authorisedExact.nonce), deadline: validBefore },
      witness: { to: payTo, validAfter },
    },
  }),
  'permit2, upto': hashTypedData({
    domain: { name: 'Permit2', chainId, verifyingContract: permit2Address },
    types: uptoPermit2WitnessTypes,
    primaryType: 'PermitWitnessTransferFrom',
    message: {
      permitted: { token, amount: 1_000n },
      ...{ spender: uptoProxyAddress, nonce: BigInt(authorisedUpto.nonce), deadline: validBefore },
      witness: { to: payTo, facilitator: getAddress(authorisedUpto.facilitator as string), validAfter },
    },
  }),
};

describe.each(plans)('%s', (name, plan) => {
  const unsigned = buildAuthorised(plan);
  const payloads = evmFamily.signingPayloads(unsigned, plan.from);

  test('the bytes say what was asked for', () => {
    const { method, facilitator } = plan;
    const isOfToken = method === 'eip3009';
    expect(evmFamily.describe(unsigned)).toEqual({
      chain: 'eip155:1',
      action: 'authorisation',
      outputs: [{ recipient: payTo, tokenContract: token, amount: 1_000n }],
      authorisation: {
        method,
        identity: (isOfToken ? `${token}/${plan.from}/${nonce}` : `${plan.from}/${plan.nonce}`).toLowerCase(),
        facilitator: facilitator && getAddress(facilitator),
        contract: isOfToken ? token : permit2Address,
        action: expect.objectContaining({ type: 'authorisation', method, withAllowance: plan.permitNonce !== null }),
      },
      maxNetworkFee: 0n,
      expiresAt: authorisedAt + (isOfToken ? 59 : 60),
      resources: isOfToken ? [] : [`permit2/${token.toLowerCase()}/${BigInt(plan.nonce)}`],
    });
    expect(evmFamily.recover(unsigned, 0n)).toMatchObject({ feeBound: '0', expiry: { valid_before: String(plan.validBefore) } });
  });

  test('what is signed is what the official packages sign', async () => {
    expect(payloads.map(({ signer: key }) => key)).toEqual(payloads.map(() => signer.address.toLowerCase()));
    const [payment] = payloads;
    expect(payment?.digest).toBe(official[name] ?? official['permit2, exact']);
    const signatures = await Promise.all(payloads.map(({ digest }) => signNodes(digest)));
    const { id, bytes } = evmFamily.assemble(unsigned, signatures, plan.from);
    expect(id).toBe(payment?.digest);
    const { payload, permit } = evmAuthoriser.present(unsigned, bytes);
    expect(await recoverAddress({ hash: id as Hex, signature: payload.signature as Hex })).toBe(signer.address);
    if (plan.permitNonce === null) return expect(permit).toBeNull();
    const { signature, ...fields } = permit as { signature: Hex };
    expect(await recoverAddress({ hash: payloads[1]?.digest as Hex, signature })).toBe(signer.address);
    expect(fields).toEqual({
      ...{ from: signer.address, asset: token, spender: permit2Address, amount: '1000', nonce: '7' },
      ...{ deadline: String(plan.validBefore), version: '1' },
    });
  });

  test('no signature of somebody else, none too few and none too many', async () => {
    const signatures = await Promise.all(payloads.map(({ digest }) => signNodes(digest)));
    const others = await Promise.all(payloads.map(() => signNodes(`0x${'22'.repeat(32)}`)));
    const assemble = (given: Hex[], from = plan.from) => evmFamily.assemble(unsigned, given, from);
    expect(() => assemble(others)).toThrow(/not of the sender/);
    expect(() => assemble(signatures.slice(1))).toThrow(/signatures are needed/);
    expect(() => assemble([...signatures, ...signatures])).toThrow(/signatures are needed/);
    expect(() => assemble(signatures, payTo)).toThrow(/another account/);
  });

  test('changed bytes are refused, or say something else', () => {
    const key = evmFamily.messageKey(unsigned, plan.from);
    const before = JSON.stringify([evmFamily.describe(unsigned), payloads], (_name, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    );
    const bytes = Buffer.from(unsigned.slice(2), 'hex');
    fc.assert(
      fc.property(fc.integer({ min: 0, max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, by) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] as number) ^ by;
        const text: Hex = `0x${changed.toString('hex')}`;
        try {
          const seen = [evmFamily.describe(text), evmFamily.signingPayloads(text, plan.from)];
          const after = JSON.stringify(seen, (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
          return after !== before || evmFamily.messageKey(text, plan.from) !== key;
        } catch {
          return true;
        }
      }),
      { numRuns: 500 },
    );
    for (const longer of [`${unsigned}00`, unsigned.slice(0, -2)]) expect(() => evmFamily.describe(longer as Hex)).toThrow();
  });
});

test.each<[string, Partial<AuthorisationPlan>]>([
  ['nothing is paid', { amount: 0n }],
  ['pays itself', { payTo: signer.address }],
  ['zero address', { payTo: `0x${'00'.repeat(20)}` }],
  ['no time', { validBefore: authorisedByToken.validAfter + 1n }],
  ['facilitator', { facilitator: payTo }],
  ['domain', { domain: null }],
  ['allowance', withPermit],
  ['method', { method: 'erc7710' }],
])('%s: never built', (message, changes) => {
  expect(() => buildAuthorised({ ...own(authorisedByToken), ...changes })).toThrow(new RegExp(message));
});

describe('a resource server asks for it', () => {
  const usdc: TokenDefinition = {
    ...{ symbol: 'USDC', name: 'USD Coin', decimals: 6, assetType: 'ERC20', contract: token },
    ...{ takesAuthorisations: true, domain: { name: 'USD Coin', version: '2' } },
  };
  const asked = { version: 2, payer: '0x9f3A1cE4b27D5068Fb1c93Ed4A7e2B60d58C7fA1' } as const;
  const terms = { ...asked, scheme: 'exact', token: usdc, extra: {}, seconds: 60, takesPermit: true } as const;

  test.each([
    ['the token', terms, 'eip3009', 'eip3009', false],
    ['Permit2', { ...terms, extra: { assetTransferMethod: 'permit2' } }, 'permit2', 'permit2_exact', true],
    ['a highest amount', { ...terms, scheme: 'upto', extra: { facilitatorAddress: payTo } }, 'permit2', 'permit2_upto', true],
    ['no permit', { ...terms, takesPermit: false, extra: { assetTransferMethod: 'permit2' } }, 'permit2', 'permit2_exact', false],
  ] as const)('%s', (_what, wanted, payloadType, method, withAllowance) => {
    const plan = evmAuthoriser.plan(wanted);
    expect(plan).toMatchObject({ payloadType, action: { method, withAllowance, seconds: 60, domain: usdc.domain } });
    expect(evmAuthoriser.plan(wanted)).not.toEqual(plan);
  });

  const undocumented: TokenDefinition = { ...usdc };
  delete undocumented.domain;
  test.each([
    ['extra.assetTransferMethod', { ...terms, extra: { assetTransferMethod: 'erc7710' } }],
    ['extra.assetTransferMethod', { ...terms, token: { ...usdc, takesAuthorisations: false } }],
    ['extra', { ...terms, extra: { name: 'Other', version: '2' } }],
    ['extra', { ...terms, token: undocumented }],
    ['extra.facilitatorAddress', { ...terms, scheme: 'upto' }],
  ] as const)('%s is refused', (field, wanted) => {
    expect(evmAuthoriser.plan(wanted)).toMatchObject({ field });
  });
});
