import { readFileSync } from 'node:fs';
import type { DataSource } from 'typeorm';
import { accountKeyGenerationOn } from '../src/accounts/key-generation';
import { OwnAddresses } from '../src/accounts/own-addresses';
import { OwnKeys } from '../src/accounts/own-keys';
import { getFamily } from '../src/chains/families';
import { schemesOf } from '../src/chains/payment-methods';
import type { ChainRegistry } from '../src/chains/registry';
import { SettlerOperations } from '../src/cli/settler-operations';
import { entities } from '../src/entities';
import { readNodeKeys } from '../src/mpc/identity';
import { createDatabase } from '../src/platform/database';
import { createTemporalClient } from '../src/platform/temporal-client';
import { reportSettlers, type SettlerReport } from '../src/settlers/report';
import { AttestedKeys } from '../src/wallets/attested-keys';
import { nodeCredentials } from './credentials';
import { fund } from './fund';
import { until } from './processes';
import type { StackFile } from './stack-file';

/** The first settler of a stack waits for the key of the house, which is generated while clients generate theirs. */
const keyWaitMs = 300_000;
/** Until the gateway has seen the coins that were sent, and credited them. */
const creditWaitMs = 120_000;
/** Of the native coin, in display units. */
const sentCoins = '100';
const isFunded = ({ chain, balance }: SettlerReport, registry: ChainRegistry): boolean =>
  balance >= 10n ** BigInt(registry.get(chain).native.decimals);

export interface SettlerSetup {
  stack: Pick<StackFile, 'postgres' | 'temporal' | 'chains'>;
  secrets: string;
  registry: ChainRegistry;
}

/** A settler with credited coins on every local chain that has payments to be settled, created once, ready to settle; their addresses by chain name. */
export async function setUpSettlers({ stack, secrets, registry }: SettlerSetup): Promise<Record<string, string>> {
  const { peerCerts } = (await nodeCredentials(secrets))[1];
  const silent = { error: () => undefined };
  const keys = new AttestedKeys(readNodeKeys(readFileSync(peerCerts, 'utf8')), silent);
  const { address, namespace } = stack.temporal;
  const temporal = createTemporalClient({ ...process.env, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace });
  const { operator_url: url } = stack.postgres;
  const database = createDatabase({ url, poolSize: 1, applicationName: 'gateway-dev', entities });
  try {
    await database.initialize();
    const addresses = new OwnAddresses(keys, getFamily, silent);
    const ownKeys = new OwnKeys(database, accountKeyGenerationOn(temporal), addresses.accountKeys);
    const operations = new SettlerOperations({ database, registry, getFamily, addresses, ownKeys, keyWaitMs });
    const created: Record<string, string> = {};
    const accountIds: string[] = [];
    for (const [name, { faucet }] of Object.entries(stack.chains)) {
      if (!faucet || schemesOf(registry.get(name).family).length === 0) continue;
      const settler = await primarySettler(operations, name);
      created[name] = settler.address;
      accountIds.push(settler.accountId);
      const [report] = (await reportSettlers(database.manager, getFamily, name)).filter(
        ({ accountId }) => accountId === settler.accountId,
      );
      if (!report || !isFunded(report, registry))
        await fund(stack, name, registry.get(name).native.symbol, settler.address, sentCoins);
    }
    if (!(await until(() => areCredited(database, registry, accountIds), creditWaitMs, 500)))
      throw new Error(`their coins were not credited within ${creditWaitMs / 1000} s`);
    return created;
  } finally {
    if (database.isInitialized) await database.destroy();
    await temporal.connection.close();
  }
}

async function primarySettler(operations: SettlerOperations, chain: string): Promise<{ accountId: string; address: string }> {
  const primary = (await operations.list(chain)).find(({ settler }) => settler.isPrimary);
  const { settler, address } = primary ?? (await operations.create(chain, { isPrimary: true }));
  if (address === null) throw new Error(`the signing nodes do not attest the settler of ${chain}`);
  return { accountId: settler.accountId, address };
}

async function areCredited(database: DataSource, registry: ChainRegistry, accountIds: string[]): Promise<boolean> {
  const credited = (await reportSettlers(database.manager, getFamily)).filter((report) => isFunded(report, registry));
  return accountIds.every((id) => credited.some(({ accountId }) => accountId === id));
}
