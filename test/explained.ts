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

/** Where `gateway explain` reads from; what a test does not name is not there. */
export function explainFrom({ client, ...sources }: Explained): ExplainSources {
  const getClient = () => {
    if (!client) throw new ConfigError('no endpoint is configured');
    return client;
  };
  return { temporal: knowsNone, chains: getChains('local'), getClient, uiUrl: undefined, ...sources };
}

/** The report of `gateway explain`, from the same. */
export async function explain(sources: Explained, txId: string): Promise<TransactionReport> {
  const tx = await sources.database.manager.findOneByOrFail(TransactionEntity, { txId });
  return explainTransaction(explainFrom(sources), tx);
}
