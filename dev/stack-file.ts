import { existsSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import type { DevClient } from './clients';
import { readJson } from './files';
import type { DevPaths } from './paths';
import { endProcess, processIdentity } from './processes';
import type { RunningProcess } from './supervisor';

/** `.dev/stack.json`, an interface for tests, benchmarks and external scripts. Fields may be added but not changed. */
export interface StackFile {
  base_url: string;
  /** Readiness of the API with its checks; /metrics is on the same listener. */
  health_url: string;
  clients: DevClient[];
  temporal: { address: string; namespace: string; ui: string | null };
  /** `url`: the owner of the schema. `operator_url`: the login of `gateway`. */
  postgres: { url: string; operator_url: string };
  chains: Record<string, StackChain>;
  /** Addresses that settle x402 payments, by chain name; empty until the key of the house is generated. */
  settlers: Record<string, string>;
  /** Pids by service; a killed process is restarted and listed with its new pid. */
  processes: Record<string, number[]>;
}

export interface StackChain {
  family: string;
  /** What an ordinary client of the chain takes; with user and password where the node asks for them. */
  rpc: string;
  /** What the gateway is given, where it is not the same. */
  gateway_rpc?: string;
  /** Of EVM chains. */
  chain_id?: number;
  /** Of other chains: the name that their own software has for it. */
  network?: string;
  faucet: boolean;
  tokens: Record<string, string>;
}

interface Owner {
  pid: number;
  identity: string;
}

/** The pid of the supervisor that runs on this data, if there is one. */
export function runningSupervisor(paths: DevPaths): number | null {
  const owner = readJson<Owner>(paths.supervisorFile);
  return owner && processIdentity(owner.pid) === owner.identity ? owner.pid : null;
}

/** Registers this process as the one that runs the stack on this data. Returns false when there is another one. */
export function claim(paths: DevPaths): boolean {
  mkdirSync(paths.dataDir, { recursive: true });
  const owner: Owner = { pid: process.pid, identity: processIdentity(process.pid) ?? '' };
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      writeFileSync(paths.supervisorFile, JSON.stringify(owner), { flag: 'wx' });
      return true;
    } catch {
      if (runningSupervisor(paths) !== null) return false;
      rmSync(paths.supervisorFile, { force: true });
    }
  }
  return false;
}

export function release(paths: DevPaths): void {
  for (const file of [paths.stackFile, paths.processFile, paths.supervisorFile]) rmSync(file, { force: true });
}

/**
 * Ends processes that a killed supervisor has left running, by recorded pid and identity. Returns their names.
 */
export async function endLeftovers(paths: DevPaths): Promise<string[]> {
  const recorded = readJson<RunningProcess[]>(paths.processFile) ?? [];
  const alive = recorded.filter(({ pid, identity }) => processIdentity(pid) === identity);
  await Promise.all(alive.map(({ pid, identity, stopSignal }) => endProcess(pid, identity, stopSignal, 10_000)));
  for (const file of [paths.stackFile, paths.processFile]) if (existsSync(file)) rmSync(file, { force: true });
  return alive.map(({ name }) => name);
}

export function groupPids(processes: RunningProcess[]): Record<string, number[]> {
  const groups: Record<string, number[]> = {};
  for (const { group, pid } of processes) (groups[group] ??= []).push(pid);
  return groups;
}
