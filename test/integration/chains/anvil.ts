import { type ChildProcess, spawn } from 'node:child_process';
import { createTestClient, createWalletClient, http, publicActions, type Hex } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { getChains } from '../../../src/chains/registry/data';
import type { ChainDefinition, TokenDefinition } from '../../../src/chains/types';
import { contractArtifacts, type TestContract } from '../../../dev/contracts';
import { freePort } from '../../../dev/ports';

const mnemonic = 'test test test test test test test test test test test junk';
/** Anvil's first accounts: funded, and unlocked in the node. */
export const rich = [richAccount(0), richAccount(1), richAccount(2), richAccount(3)] as const;

function richAccount(addressIndex: number) {
  return mnemonicToAccount(mnemonic, { addressIndex });
}

export interface Anvil {
  url: string;
  client: ReturnType<typeof clientFor>;
  stop(): Promise<void>;
  deploy(name: TestContract): Promise<Hex>;
}

const clientFor = (url: string) =>
  createTestClient({ mode: 'anvil', transport: http(url, { retryCount: 0 }) }).extend(publicActions);

/** A separate node: a block is mined for every transaction unless `noMining` leaves that to the test. */
export async function startAnvil({ chainId = 1, noMining = false, args = [] as string[] } = {}): Promise<Anvil> {
  const port = await freePort();
  const binary = process.env.ANVIL_BIN ?? require.resolve('@foundry-rs/anvil-linux-amd64/bin/anvil');
  const child = spawn(
    binary,
    ['--port', String(port), '--chain-id', String(chainId), '--quiet', ...(noMining ? ['--no-mining'] : []), ...args],
    { stdio: 'ignore' },
  );
  const url = `http://127.0.0.1:${port}`;
  const client = clientFor(url);
  for (let attempt = 0; ; attempt += 1) {
    if (
      await client.getChainId().then(
        () => true,
        () => false,
      )
    )
      break;
    if (attempt > 600 || child.exitCode !== null) throw new Error('anvil does not start');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url, client, stop: () => stopped(child), deploy: (name) => deploy(url, client, name) };
}

async function deploy(url: string, client: Anvil['client'], name: TestContract): Promise<Hex> {
  const { abi, bytecode } = (await contractArtifacts())[name];
  const wallet = createWalletClient({ account: rich[3], transport: http(url) });
  const hash = await wallet.deployContract({ abi, bytecode, chain: null });
  await client.mine({ blocks: 1 });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash, pollingInterval: 50 });
  if (!contractAddress) throw new Error(`${name} was not deployed`);
  return contractAddress;
}

/** The chain of the local profile with tokens of the test. */
export function localChain(
  name = 'ethereum',
  tokens: Record<string, Hex> = {},
  changes: Partial<ChainDefinition> = {},
): ChainDefinition {
  const chain = getChains('local').find((candidate) => candidate.name === name);
  if (!chain) throw new Error(`no chain ${name}`);
  const definitions = Object.entries(tokens).map(([symbol, contract]): TokenDefinition => ({
    symbol,
    name: symbol,
    decimals: 6,
    assetType: 'ERC20',
    contract,
  }));
  return { ...chain, tokens: definitions, ...changes };
}

function stopped(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
