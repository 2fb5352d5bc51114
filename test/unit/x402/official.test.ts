import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  authorizationTypes as officialAuthorizationTypes,
  DEFAULT_ASSETS,
  eip3009ABI,
  PERMIT2_ADDRESS,
  permit2WitnessTypes,
  uptoPermit2WitnessTypes,
  x402ExactPermit2ProxyABI,
  x402ExactPermit2ProxyAddress,
  x402UptoPermit2ProxyABI,
  x402UptoPermit2ProxyAddress,
} from '@x402/evm';
import { EVM_NETWORK_CHAIN_ID_MAP } from '@x402/evm/v1';
import { parsePaymentPayload, parsePaymentRequirements } from '@x402/core/schemas';
import { type Abi, type AbiFunction, hashTypedData, toFunctionSelector } from 'viem';
import { parseChainId } from '../../../src/chains/evm/chain-id';
import {
  eip3009Abi,
  exactProxyAbi,
  exactProxyAddress,
  permit2Address,
  uptoProxyAbi,
  uptoProxyAddress,
} from '../../../src/chains/evm/payments/contracts';
import {
  authorizationDigest,
  authorizationTypes,
  exactPermitTypes,
  permitDigest,
  uptoPermitTypes,
} from '../../../src/chains/evm/payments/typed-data';
import { getChains } from '../../../src/chains/registry/data';
import type { Hex, JsonObject } from '../../../src/chains/types';
import { networksV1 } from '../../../src/x402/networks';
import { reasons } from '../../../src/x402/reasons';
import { eip3009V1, eip3009V2, nonce32, payer, payTo, permit2Exact, permit2Upto, settler, usdc } from './bodies';

/** Selector → types of results, so that names of arguments do not count. */
const functionsOf = (abi: Abi | readonly unknown[]) =>
  Object.fromEntries(
    (abi as Abi)
      .filter((entry): entry is AbiFunction => entry.type === 'function')
      .map((entry) => [toFunctionSelector(entry), entry.outputs.map(({ type }) => type)]),
  );

describe('the official packages have the same', () => {
  it('addresses', () => {
    expect([permit2Address, exactProxyAddress, uptoProxyAddress]).toEqual([
      PERMIT2_ADDRESS,
      x402ExactPermit2ProxyAddress,
      x402UptoPermit2ProxyAddress,
    ]);
  });

  it.each([
    ['EIP-3009', eip3009Abi, eip3009ABI],
    ['exact proxy', exactProxyAbi, x402ExactPermit2ProxyABI],
    ['upto proxy', uptoProxyAbi, x402UptoPermit2ProxyABI],
  ])('functions: %s', (_, ours, theirs) => {
    expect(functionsOf(theirs)).toMatchObject(functionsOf(ours));
  });

  it('typed data', () => {
    expect(authorizationTypes).toEqual(officialAuthorizationTypes);
    expect(exactPermitTypes).toEqual(permit2WitnessTypes);
    expect(uptoPermitTypes).toEqual(uptoPermit2WitnessTypes);
  });

  it('names of networks in version 1', () => {
    const evm = Object.entries(networksV1).filter(([, caip2]) => caip2.startsWith('eip155:'));
    expect(Object.fromEntries(evm)).toEqual(
      Object.fromEntries(Object.entries(EVM_NETWORK_CHAIN_ID_MAP).map(([name, id]) => [name, `eip155:${id}`])),
    );
  });

  it('domains of tokens', () => {
    const chains = [...getChains('production'), ...getChains('sandbox')];
    const assets = Object.entries(DEFAULT_ASSETS).flatMap(([network, list]) => list.map((asset) => ({ network, ...asset })));
    const compared = chains.flatMap(({ caip2, tokens }) =>
      tokens.flatMap(({ contract, domain }) =>
        assets
          .filter(({ network, asset }) => network === caip2 && asset === contract)
          .map(({ name, version }) => ({ caip2, ours: domain, theirs: { name, version } })),
      ),
    );
    expect(compared.length).toBeGreaterThanOrEqual(7);
    for (const { ours, theirs } of compared) expect(ours).toEqual(theirs);
  });

  /** The package does not export its reasons: they are read in its facilitators' code. */
  const officialReasons = (): Set<string> => {
    const folder = path.dirname(require.resolve('@x402/evm'));
    const sources = ['exact', 'upto'].map((scheme) => readFileSync(path.join(folder, scheme, 'facilitator', 'index.js'), 'utf8'));
    return new Set([...sources.join('\n').matchAll(/"([a-z0-9]+(?:_[a-z0-9]+)+)"/g)].map(([, text]) => text as string));
  };

  it('reasons, but for those of the protocol itself', () => {
    const known = officialReasons();
    // those of payers who sign transactions are compared where that package is: solana-official.test.ts
    const ofTransactions = /^(invalid_exact_svm_|post_settlement_transfer_not_confirmed$)/;
    expect(reasons.filter((reason) => !known.has(reason) && !ofTransactions.test(reason))).toEqual([
      'invalid_x402_version',
      'invalid_network',
      'unsupported_scheme',
      'unexpected_verify_error',
      'duplicate_settlement',
      'payment_identifier_conflict',
      'unexpected_settle_error',
      'invalid_payload',
      'invalid_payment_requirements',
    ]);
    expect(new Set(reasons).size).toBe(reasons.length);
  });
});

describe('typed data', () => {
  const [from, to, token, facilitator] = [payer, payTo, usdc, settler] as Hex[] as [Hex, Hex, Hex, Hex];

  it('digest of an authorisation', () => {
    const domain = { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: token };
    const message = { from, to, value: 5n, validAfter: 1n, validBefore: 2n ** 255n, nonce: nonce32 as Hex };
    const primaryType = 'TransferWithAuthorization';
    expect(authorizationDigest(domain, message)).toBe(
      hashTypedData({ domain, types: officialAuthorizationTypes, primaryType, message }),
    );
    expect(authorizationDigest({ ...domain, chainId: 1 }, message)).not.toBe(authorizationDigest(domain, message));
  });

  it('digests of permits', () => {
    const domain = { name: 'Permit2', chainId: 8453, verifyingContract: PERMIT2_ADDRESS as Hex };
    const permit = { permitted: { token, amount: 5n }, spender: exactProxyAddress, nonce: 9n, deadline: 7n };
    const primaryType = 'PermitWitnessTransferFrom';
    const exact = { ...permit, witness: { to, validAfter: 3n } };
    expect(permitDigest(8453, { ...permit, witness: { to, facilitator: null, validAfter: 3n } })).toBe(
      hashTypedData({ domain, types: permit2WitnessTypes, primaryType, message: exact }),
    );
    const upto = { ...permit, witness: { to, facilitator, validAfter: 3n } };
    expect(permitDigest(8453, upto)).toBe(hashTypedData({ domain, types: uptoPermit2WitnessTypes, primaryType, message: upto }));
  });

  it('chain ids are those of CAIP-2', () => {
    const chains = getChains('production').filter(({ family }) => family === 'evm');
    expect(chains.length).toBeGreaterThan(6);
    for (const chain of chains) expect(chain.caip2).toBe(`eip155:${parseChainId(chain)}`);
  });
});

describe('the bodies of these tests', () => {
  it.each([
    ['eip3009 V1', eip3009V1],
    ['eip3009 V2', eip3009V2],
    ['exact permit2', permit2Exact],
    ['upto permit2', permit2Upto],
  ])('%s is one of the official packages', (_, body) => {
    const { paymentPayload, paymentRequirements } = body() as { paymentPayload: JsonObject; paymentRequirements: JsonObject };
    expect(parsePaymentPayload(paymentPayload).error).toBeUndefined();
    expect(parsePaymentRequirements(paymentRequirements).error).toBeUndefined();
  });
});
