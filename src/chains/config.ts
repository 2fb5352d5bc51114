import { ConfigError, readVariable } from '../platform/config';

const maxUrls = 8;

export const rpcUrlsVariable = (chain: string): string => `CHAIN_${chain.toUpperCase().replaceAll('-', '_')}_RPC_URLS`;

/**
 * RPC endpoints of the enabled chains from CHAIN_<NAME>_RPC_URLS (separated by commas; the first that responds is used, two of several have
 * to show what is credited or settled). Urls often
 * contain an API key: NAME_FILE may name a file that holds the value, and no error contains a url.
 * @throws ConfigError naming the variable and what is wrong with it.
 */
export function readRpcUrls(chains: readonly string[], env: NodeJS.ProcessEnv = process.env): Map<string, string[]> {
  return new Map(chains.map((chain) => [chain, parseUrls(chain, env)]));
}

/** Whether there is anything to be read, right or wrong. */
export const hasRpcUrls = (chain: string, env: NodeJS.ProcessEnv = process.env): boolean =>
  Boolean(readVariable(rpcUrlsVariable(chain), { secret: true }, env));

function parseUrls(chain: string, env: NodeJS.ProcessEnv): string[] {
  const name = rpcUrlsVariable(chain);
  const urls = (readVariable(name, { secret: true }, env) ?? '')
    .split(',')
    .map((url) => url.trim())
    .filter(Boolean);
  if (urls.length === 0) throw new ConfigError(`${name} is required: RPC urls of ${chain}, separated by commas`);
  if (urls.length > maxUrls) throw new ConfigError(`${name} names more than ${maxUrls} urls`);
  urls.forEach((url, index) => {
    if (!isHttpUrl(url)) throw new ConfigError(`${name} is wrong: entry ${index + 1} is not an http or https url`);
  });
  if (new Set(urls).size !== urls.length) throw new ConfigError(`${name} names a url twice`);
  return urls;
}

function isHttpUrl(text: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}
