import type { GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import type { ChainDefinition, TokenDefinition } from '../chains/types';
import type { DocumentedMiddleware, Route } from '../http/route';
import { noQuery } from '../http/validate';
import { formatAmount } from '../platform/money';
import { chainsView, type ChainView, type TokenView } from './chain-schema';

export interface ChainRoutes {
  registry: ChainRegistry;
  getFamily: GetFamily;
  authenticate: DocumentedMiddleware;
}

/** The enabled chains, as the registry has them: the same for every client, and nothing about endpoints. */
export function chainRoutes({ registry, getFamily, authenticate }: ChainRoutes): Route[] {
  const data = registry.all.map((chain) => presentChain(chain, getFamily));
  return [
    {
      method: 'get',
      path: '/chains',
      id: 'listChains',
      tag: 'Assets',
      summary: 'List the enabled chains with their tokens, depths and fee caps',
      middleware: [authenticate, noQuery],
      answer: { status: 200, description: 'All of them', schema: chainsView },
      fails: [],
      handle: (ctx) => {
        ctx.body = { data };
      },
    },
  ];
}

function presentChain(chain: ChainDefinition, getFamily: GetFamily): ChainView {
  const { name, network, caip2, native, tokens, confirmations, blockTimeMs, maxNetworkFee, explorerTx } = chain;
  const { minimumBalance, carriesMemo = false, hasProgramAddresses = false } = getFamily(chain.family);
  const coins = (amount: bigint) => ({ amount: formatAmount(amount, native.decimals), symbol: native.symbol });
  return {
    chain: name,
    network,
    caip2,
    native: presentToken(native),
    tokens: tokens.map(presentToken),
    required_confirmations: confirmations,
    block_time_ms: blockTimeMs,
    max_network_fee: coins(maxNetworkFee),
    minimum_balance: minimumBalance === undefined ? null : coins(minimumBalance),
    on_chain_memo: carriesMemo,
    allow_program_address: hasProgramAddresses,
    explorer_tx_url: explorerTx,
  };
}

const presentToken = ({ symbol, name, decimals, assetType, contract }: TokenDefinition): TokenView => ({
  symbol,
  name,
  decimals,
  asset_type: assetType,
  contract_address: contract,
});
