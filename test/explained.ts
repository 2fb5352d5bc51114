import { WorkflowNotFoundError } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import type { ChainClient } from '../src/chains/chain-client';
import { getChains } from '../src/chains/registry/data';
import { type ExplainSources, explainTransaction, type TransactionReport } from '../src/cli/explain/transaction';
import { ConfigError } from '../src/platform/config';
import { TransactionEntity } from '../src/transactions/entity';

/** A workflow service that knows no workflow. */
const knowsNone = {
  options: { namespace: 'default' },
  connection: { withDeadline: (_deadline: number, call: () => Promise<unknown>) => call() },
  workflow: {
    getHandle: (workflowId: string) => ({
      describe: () => Promise.reject(new WorkflowNotFoundError('not found', workflowId, undefined)),
    }),
  },
} as unknown as ExplainSources['temporal'];

interface Explained extends Partial<ExplainSources> {
  database: DataSource;
  /** Of its chain; absent: no endpoint is configured. */
  client?: ChainClient;
}

/** The report of `gateway explain`; what a test does not name is not there. */
export async function explain({ client, ...sources }: Explained, txId: string): Promise<TransactionReport> {
  const getClient = () => {
    if (!client) throw new ConfigError('no endpoint is configured');
    return client;
  };
  const tx = await sources.database.manager.findOneByOrFail(TransactionEntity, { txId });
  return explainTransaction({ temporal: knowsNone, chains: getChains('local'), getClient, uiUrl: undefined, ...sources }, tx);
}
