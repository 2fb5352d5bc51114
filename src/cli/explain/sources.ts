import { getChains } from '../../chains/registry/data';
import { readConfig } from '../../platform/config';
import type { Session } from '../session';
import { clientsOfEnvironment } from './chain';
import type { ExplainSources } from './transaction';

/** Where `gateway explain` and `--dry-run` read from. */
export function explainSources({ database, temporal }: Pick<Session, 'database' | 'temporal'>): ExplainSources {
  const { GATEWAY_ENV, TEMPORAL_UI_URL: uiUrl } = readConfig(['GATEWAY_ENV', 'TEMPORAL_UI_URL']);
  const chains = getChains(GATEWAY_ENV);
  return { database, temporal, chains, getClient: clientsOfEnvironment(chains), uiUrl };
}
