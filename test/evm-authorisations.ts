import { toPreparedAuthorisation } from '../src/chains/evm/authorise/details';
import { evmFamily } from '../src/chains/evm/family';
import { getChains } from '../src/chains/registry/data';
import type { ChainDefinition, Hex } from '../src/chains/types';

/** A payment that an account authorises, as one object, of which tests change single fields. */
export interface AuthorisationPlan {
  chainId: number;
  method: string;
  domain: { name: string; version: string } | null;
  token: string;
  from: string;
  payTo: string;
  /** Atomic units. */
  amount: bigint;
  validAfter: bigint;
  validBefore: bigint;
  nonce: string;
  facilitator: string | null;
  permitNonce: bigint | null;
}

const [ethereum] = getChains('local') as [ChainDefinition];

/** Seconds since the epoch. */
export const authorisedAt = 1_800_000_000;

export const authorisedByToken: AuthorisationPlan = {
  chainId: 1,
  method: 'eip3009',
  domain: { name: 'USD Coin', version: '2' },
  token: ethereum.tokens.find(({ symbol }) => symbol === 'USDC')?.contract as string,
  from: '0x9f3A1cE4b27D5068Fb1c93Ed4A7e2B60d58C7fA1'.toLowerCase(),
  payTo: '0x5Bc2e97D04a8F61e3C7B90fD2A6548eC1f73d0E9'.toLowerCase(),
  amount: 1_000n,
  validAfter: BigInt(authorisedAt - 600),
  validBefore: BigInt(authorisedAt + 60),
  nonce: `0x${'a5'.repeat(32)}`,
  facilitator: null,
  permitNonce: null,
};
export const authorisedExact: AuthorisationPlan = {
  ...authorisedByToken,
  method: 'permit2_exact',
  nonce: '12345678901234567890',
};
export const authorisedUpto: AuthorisationPlan = {
  ...authorisedExact,
  method: 'permit2_upto',
  facilitator: '0xD7a4C0b95E1f82637Ac94De05F3b186Cd279E8A4'.toLowerCase(),
};

/** The bytes, as the authoriser has them built. */
export function buildAuthorised(plan: AuthorisationPlan): Hex {
  const { chainId, method, domain, token, from, payTo, amount, validAfter, validBefore, nonce, facilitator, permitNonce } = plan;
  const resources = method === 'eip3009' ? [] : [`permit2/${token.toLowerCase()}/${BigInt(nonce)}`];
  return evmFamily.build({
    chain: { ...ethereum, caip2: `eip155:${chainId}` },
    intent: {
      from,
      outputs: [{ recipient: payTo, tokenContract: token, amount }],
      action: { type: 'authorisation', method, nonce, seconds: 60, facilitator, domain, withAllowance: permitNonce !== null },
    },
    kind: 'first',
    prepared: toPreparedAuthorisation({ validAfter, validBefore, permitNonce }),
    resources,
  });
}
