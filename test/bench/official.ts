import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Address, Hex } from 'viem';

export interface Official {
  /** Ends with its port. */
  url: string;
  close: () => void;
}

/** The official facilitator of EVM as a process; with an address alone it only verifies. */
export const startOfficial = (rpc: string, as: { privateKey: Hex } | { address: Address }): Promise<Official> =>
  start('official-facilitator.mjs', {
    RPC_URL: rpc,
    ...('privateKey' in as ? { PRIVATE_KEY: as.privateKey } : { ADDRESS: as.address }),
  });

/** The same for payments on Solana, which it verifies. `secret`: 32 bytes, of the one who would settle. */
export const startOfficialOnSolana = (rpc: string, caip2: string, secret: Uint8Array): Promise<Official> =>
  start('official-svm-facilitator.mjs', { RPC_URL: rpc, NETWORK: caip2, SECRET: Buffer.from(secret).toString('hex') });

async function start(program: string, env: Record<string, string>): Promise<Official> {
  const child = spawn(process.execPath, [path.join(__dirname, program)], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(child.stdout, 'data', { signal: AbortSignal.timeout(30_000) })) as [Buffer];
  return { url: `http://127.0.0.1:${String(port).trim()}`, close: () => child.kill() };
}

/** Answers of a facilitator over HTTP, as resource servers ask it. */
export async function post<T>(url: string, body: object, token?: string): Promise<T> {
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
  return (await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as T;
}

/** A process that asks about many payments at the same time. */
export interface Asker {
  /** How many were valid, and how long all of it took. */
  ask: (what: { url: string; token?: string; inFlight: number; bodies: object[] }) => Promise<{ ok: number; seconds: number }>;
  close: () => void;
}

export function startAsker(): Asker {
  const child = spawn(process.execPath, [path.join(__dirname, 'ask.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout);
  return {
    ask: async (what) => {
      const answered = once(lines, 'line', { signal: AbortSignal.timeout(60_000) });
      child.stdin.write(`${JSON.stringify(what)}\n`);
      const [line] = (await answered) as [string];
      return JSON.parse(line) as { ok: number; seconds: number };
    },
    close: () => child.kill(),
  };
}
