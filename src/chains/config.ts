import { ConfigError, readVariable } from '../platform/config';

const maxUrls = 8;

export const rpcUrlsVariable = (chain: string): string => `CHAIN_${chain.toUpperCase().replaceAll('-', '_')}_RPC_URLS`;

/**
 * RPC endpoints of the enabled chains from CHAIN_<NAME>_RPC_URLS (separated by commas; the first that responds is used, two of several have
 * to show what is credited or settled). Urls often
 * contain an API key: NAME_FILE may name a file that holds the value, and no error contains a url.
 * @throws ConfigError naming all variables that are missing, or else the first that is wrong, and what is wrong with it.
 */
export function readRpcUrls(chains: readonly string[], env: NodeJS.ProcessEnv = process.env): Map<string, string[]> {
  const urls = new Map(chains.map((chain) => [chain, splitUrls(chain, env)]));
  const missing = chains.filter((chain) => urls.get(chain)?.length === 0);
  if (missing.length > 0)
    throw new ConfigError(
      `${missing.map(rpcUrlsVariable).join(' and ')} ${missing.length > 1 ? 'are' : 'is'} required: RPC urls of ${missing.join(' and ')}, separated by commas`,
    );
  for (const [chain, ofChain] of urls) assertUrls(rpcUrlsVariable(chain), ofChain);
  return urls;
}

/** Whether there is anything to be read, right or wrong. */
export const hasRpcUrls = (chain: string, env: NodeJS.ProcessEnv = process.env): boolean =>
  Boolean(readVariable(rpcUrlsVariable(chain), { secret: true }, env));

const splitUrls = (chain: string, env: NodeJS.ProcessEnv): string[] =>
  (readVariable(rpcUrlsVariable(chain), { secret: true }, env) ?? '')
    .split(',')
    .map((url) => url.trim())
    .filter(Boolean);

function assertUrls(name: string, urls: readonly string[]): void {
  if (urls.length > maxUrls) throw new ConfigError(`${name} names more than ${maxUrls} urls`);
  urls.forEach((url, index) => {
    if (!isHttpUrl(url)) throw new ConfigError(`${name} is wrong: entry ${index + 1} is not an http or https url`);
  });
  if (new Set(urls).size !== urls.length) throw new ConfigError(`${name} names a url twice`);
}

function isHttpUrl(text: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}
