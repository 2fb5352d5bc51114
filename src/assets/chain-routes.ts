import type { DataSource } from 'typeorm';
import type { FamilyCodec, GetFamily } from '../chains/family';
import { readFeeLevels } from '../chains/fee-levels';
import type { ChainRegistry } from '../chains/registry';
import type { ChainDefinition, FeeLevels, TokenDefinition } from '../chains/types';
import type { DocumentedMiddleware, Route } from '../http/route';
import { noQuery } from '../http/validate';
import { CachedValue } from '../platform/cached-value';
import { GatewayError } from '../platform/errors';
import { formatAmount } from '../platform/money';
import { chainsView, type ChainView, type TokenView } from './chain-schema';

export interface ChainRoutes {
  database: DataSource;
  registry: ChainRegistry;
  getFamily: GetFamily;
  authenticate: DocumentedMiddleware;
}

/**
 * The enabled chains, as the registry has them, with what a transfer would cost now: the same for every client, and nothing about endpoints. No
 * chain is asked: the fees are those that the followers have stored.
 */
export function chainRoutes({ database, registry, getFamily, authenticate }: ChainRoutes): Route[] {
  const feeLevels = new CachedValue(readFeeLevels);
  return [
    {
      method: 'get',
      path: '/chains',
      id: 'listChains',
      tag: 'Assets',
      summary: 'List the enabled chains with their tokens, depths, limits and fees',
      middleware: [authenticate, noQuery],
      answer: { status: 200, description: 'All of them', schema: chainsView },
      fails: [],
      handle: async (ctx) => {
        const levels = await feeLevels.get(database.manager);
        ctx.body = { data: registry.all.map((chain) => presentChain(chain, getFamily(chain.family), levels.get(chain.name))) };
      },
    },
  ];
}

/** `levels`: undefined where they are not known now. */
function presentChain(chain: ChainDefinition, family: FamilyCodec, levels: FeeLevels | undefined): ChainView {
  const { name, network, caip2, native, tokens, confirmations, blockTimeMs, maxNetworkFee, explorerTx } = chain;
  const { smallestPayment, minimumBalance, carriesMemo = false, hasProgramAddresses = false, fees } = family;
  const coins = (amount: bigint) => ({ amount: formatAmount(amount, native.decimals), symbol: native.symbol });
  const present = (token: TokenDefinition): TokenView => ({
    ...presentToken(token),
    network_fee: levels ? showBound(() => fees.bound(chain, token, levels), native) : null,
  });
  return {
    chain: name,
    network,
    caip2,
    native: present(native),
    tokens: tokens.map(present),
    required_confirmations: confirmations,
    block_time_ms: blockTimeMs,
    max_network_fee: coins(maxNetworkFee),
    minimum_amount: smallestPayment === undefined ? null : coins(smallestPayment),
    minimum_balance: minimumBalance === undefined ? null : coins(minimumBalance),
    on_chain_memo: carriesMemo,
    allow_program_address: hasProgramAddresses,
    explorer_tx_url: explorerTx,
  };
}

/**
 * null: the levels were stored before the chain had the token, or by a release with others. One such token, or chain, must not keep all chains
 * from the list.
 */
function showBound(bound: () => bigint, { decimals }: TokenDefinition): string | null {
  try {
    return formatAmount(bound(), decimals);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'chain_unavailable') return null;
    throw error;
  }
}

const presentToken = ({ symbol, name, decimals, assetType, contract }: TokenDefinition): Omit<TokenView, 'network_fee'> => ({
  symbol,
  name,
  decimals,
  asset_type: assetType,
  contract_address: contract,
});
