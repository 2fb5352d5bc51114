import { readFileSync } from 'node:fs';
import type { DataSource } from 'typeorm';
import { type Address, parseEther } from 'viem';
import { OwnAddresses } from '../src/accounts/own-addresses';
import { getFamily } from '../src/chains/families';
import { schemesOf } from '../src/chains/payment-methods';
import type { ChainRegistry } from '../src/chains/registry';
import { SettlerOperations } from '../src/cli/settler-operations';
import { entities } from '../src/entities';
import { readNodeKeys } from '../src/mpc/identity';
import { createDatabase } from '../src/platform/database';
import { reportSettlers } from '../src/settlers/report';
import { AttestedKeys } from '../src/wallets/attested-keys';
import { devChain, sendNative } from './chain';
import { nodeCredentials } from './credentials';
import { until } from './processes';
import type { StackChain } from './stack-file';

/** The first settler of a stack waits for the key of the house, which is generated while clients generate theirs. */
const keyWaitMs = 300_000;
/** Until the gateway has seen the coins that were sent, and credited them. */
const creditWaitMs = 120_000;
const coins = { least: parseEther('1'), sent: parseEther('100') };

export interface SettlerSetup {
  /** Of the login of operators. */
  databaseUrl: string;
  secrets: string;
  registry: ChainRegistry;
  chains: Record<string, StackChain>;
}

/** A settler with credited coins on every local chain that has payments to be settled, created once, ready to settle; their addresses by chain name. */
export async function setUpSettlers({ databaseUrl, secrets, registry, chains }: SettlerSetup): Promise<Record<string, string>> {
  const { peerCerts } = (await nodeCredentials(secrets))[1];
  const silent = { error: () => undefined };
  const keys = new AttestedKeys(readNodeKeys(readFileSync(peerCerts, 'utf8')), silent);
  const database = createDatabase({ url: databaseUrl, poolSize: 1, applicationName: 'gateway-dev', entities });
  await database.initialize();
  try {
    const addresses = new OwnAddresses(keys, getFamily, silent);
    const operations = new SettlerOperations({ database, registry, getFamily, addresses, keyWaitMs });
    const created: Record<string, string> = {};
    const accountIds: string[] = [];
    for (const [name, { rpc, faucet }] of Object.entries(chains)) {
      if (!faucet || schemesOf(registry.get(name).family).length === 0) continue;
      const { accountId, address } = await fundedSettler(operations, name, rpc);
      created[name] = address;
      accountIds.push(accountId);
    }
    if (!(await until(() => areCredited(database, accountIds), creditWaitMs, 500)))
      throw new Error(`their coins were not credited within ${creditWaitMs / 1000} s`);
    return created;
  } finally {
    await database.destroy();
  }
}

interface FundedSettler {
  accountId: string;
  address: string;
}

async function fundedSettler(operations: SettlerOperations, chain: string, rpc: string): Promise<FundedSettler> {
  const primary = (await operations.list(chain)).find(({ settler }) => settler.isPrimary);
  const { settler, address } = primary ?? (await operations.create(chain, { isPrimary: true }));
  if (address === null) throw new Error(`the signing nodes do not attest the settler of ${chain}`);
  const node = devChain(rpc);
  if ((await node.getBalance({ address: address as Address })) < coins.least)
    await sendNative(node, address as Address, coins.sent);
  return { accountId: settler.accountId, address };
}

async function areCredited(database: DataSource, accountIds: string[]): Promise<boolean> {
  const reports = await reportSettlers(database.manager);
  const credited = reports.filter(({ balance }) => balance >= coins.least).map(({ accountId }) => accountId);
  return accountIds.every((accountId) => credited.includes(accountId));
}
