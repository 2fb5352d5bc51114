import { parseAddress } from '../../src/chains/solana/codec/address';
import { loadRegistry } from '../../src/chains/registry';
import { ConfigError } from '../../src/platform/config';
import type { LiveSolanaOptions } from './solana-scenario';

/**
 * From LIVE_SOLANA_*; CONTRIBUTING.md says what each is. Null where neither endpoints nor a key are given: nobody has asked for it.
 * @throws ConfigError naming what is missing; no value is repeated.
 */
export function readLiveSolanaOptions(env: NodeJS.ProcessEnv = process.env): LiveSolanaOptions | null {
  const { LIVE_SOLANA_RPC_URLS: urls, LIVE_SOLANA_KEY: key, LIVE_SOLANA_TOKEN: mint = '' } = env;
  if (!urls && !key) return null;
  if (!urls) throw new ConfigError('LIVE_SOLANA_RPC_URLS is required: see CONTRIBUTING.md, "Live networks"');
  if (!key || !/^[0-9a-f]{64}$/.test(key))
    throw new ConfigError('LIVE_SOLANA_KEY is required: 64 hex digits of a key of your own');
  const token = mint === '' ? null : (parseAddress(mint)?.address ?? undefined);
  if (token === undefined) throw new ConfigError('LIVE_SOLANA_TOKEN is no address of a mint');
  // never mainnet: the sandbox has devnet
  const chain = loadRegistry('sandbox', ['solana']).get('solana');
  const isKnown = token === null || chain.tokens.some(({ contract }) => contract === token);
  const test = { symbol: 'TEST', name: 'Test', decimals: 6, assetType: 'SPL' as const, contract: token };
  return {
    chain: isKnown ? chain : { ...chain, tokens: [...chain.tokens, test] },
    urls: urls.split(','),
    key: Uint8Array.from(Buffer.from(key, 'hex')),
    token,
  };
}
