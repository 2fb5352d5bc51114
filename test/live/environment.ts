import { loadRegistry } from '../../src/chains/registry';
import { ConfigError } from '../../src/platform/config';
import type { LiveOptions } from './scenario';

/** From LIVE_BITCOIN_*; CONTRIBUTING.md says what each is. @throws ConfigError naming what is missing; no value is repeated. */
export function readLiveOptions(env: NodeJS.ProcessEnv = process.env): LiveOptions {
  const {
    LIVE_BITCOIN_CHAIN: name = 'bitcoin',
    LIVE_BITCOIN_RPC_URLS: urls,
    LIVE_BITCOIN_KEY: key,
    LIVE_BITCOIN_FROM_BLOCK: from,
  } = env;
  // never mainnet: the sandbox has test networks alone
  const chain = loadRegistry('sandbox', [name]).get(name);
  if (!urls) throw new ConfigError('LIVE_BITCOIN_RPC_URLS is required: see CONTRIBUTING.md, "Live networks"');
  if (!key || !/^[0-9a-f]{64}$/.test(key))
    throw new ConfigError('LIVE_BITCOIN_KEY is required: 64 hex digits of a key of your own');
  if (!from || !/^\d{1,7}$/.test(from))
    throw new ConfigError('LIVE_BITCOIN_FROM_BLOCK is required: a height below that of your coins');
  return { chain, urls: urls.split(','), key: Uint8Array.from(Buffer.from(key, 'hex')), fromBlock: Number(from) };
}
