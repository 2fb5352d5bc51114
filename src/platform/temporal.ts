import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

/**
 * A lazily connected client from TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_TLS_* and TEMPORAL_API_KEY (the SDK's
 * environment configuration). A Temporal that is down does not keep a process from starting: calls fail until it is back.
 */
export function createTemporalClient(): Client {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  return new Client({ connection: Connection.lazy(connectionOptions), namespace: namespace ?? 'default' });
}
