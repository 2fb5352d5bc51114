import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Abi, Hex } from 'viem';
import { projectRoot } from './paths';

export interface ContractArtifact {
  abi: Abi;
  bytecode: Hex;
  deployedBytecode: Hex;
}

export type TestContract =
  | 'TestUSDC'
  | 'TestUSDT'
  | 'FeeOnTransferToken'
  | 'RevertingToken'
  | 'FalseReturningToken'
  | 'KeepingUSDC'
  | 'SilentUSDC'
  | 'TestGasPriceOracle'
  | 'TestPermit2'
  | 'TestExactProxy'
  | 'TestUptoProxy'
  | 'OddUptoProxy'
  | 'TestMulticall3'
  | 'TestWallet'
  | 'TestCreatedWallet'
  | 'TestWalletFactory';

type Artifacts = Record<TestContract, ContractArtifact>;

let artifacts: Promise<Artifacts> | undefined;

/** The compiled test contracts. Compiled when needed (about two seconds) and cached in dist/ until a source changes. */
export const contractArtifacts = (): Promise<Artifacts> => (artifacts ??= loadOrCompile());

async function loadOrCompile(): Promise<Artifacts> {
  const folder = path.join(projectRoot, 'dev', 'contracts');
  const hash = createHash('sha256');
  for (const file of readdirSync(folder).sort()) hash.update(file).update(readFileSync(path.join(folder, file)));
  const output = path.join(projectRoot, 'dist', 'contracts', `${hash.digest('hex').slice(0, 16)}.json`);
  if (!existsSync(output)) {
    await promisify(execFile)(process.execPath, [path.join(folder, 'compile.mjs'), output], { timeout: 60_000 });
  }
  return JSON.parse(readFileSync(output, 'utf8')) as Artifacts;
}
