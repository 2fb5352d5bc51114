import { loadRegistry } from '../../src/chains/registry';
import { parseAddress } from '../../src/chains/tron/codec/address';
import { ConfigError } from '../../src/platform/config';
import type { LiveTronOptions } from './tron-scenario';

/** From LIVE_TRON_*; CONTRIBUTING.md says what each is. @throws ConfigError naming what is missing; no value is repeated. */
export function readLiveTronOptions(env: NodeJS.ProcessEnv = process.env): LiveTronOptions {
  const { LIVE_TRON_RPC_URLS: urls, LIVE_TRON_KEY: key, LIVE_TRON_TOKEN: contract = '' } = env;
  if (!urls) throw new ConfigError('LIVE_TRON_RPC_URLS is required: see CONTRIBUTING.md, "Live networks"');
  if (!key || !/^[0-9a-f]{64}$/.test(key)) throw new ConfigError('LIVE_TRON_KEY is required: 64 hex digits of a key of your own');
  const token = contract === '' ? null : (parseAddress(contract)?.address ?? undefined);
  if (token === undefined) throw new ConfigError('LIVE_TRON_TOKEN is no address of a contract');
  // never mainnet: the sandbox has Nile
  const chain = loadRegistry('sandbox', ['tron']).get('tron');
  const tokens =
    token === null ? [] : [{ symbol: 'TEST', name: 'Test', decimals: 6, assetType: 'TRC20' as const, contract: token }];
  return { chain: { ...chain, tokens }, urls: urls.split(','), key: Uint8Array.from(Buffer.from(key, 'hex')), token };
}
