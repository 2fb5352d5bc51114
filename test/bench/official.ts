import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Address, Hex } from 'viem';

/** The official facilitator as a process; with an address alone it only verifies. `url` ends with its port. */
export async function startOfficial(
  rpc: string,
  as: { privateKey: Hex } | { address: Address },
): Promise<{ url: string; close: () => void }> {
  const who = 'privateKey' in as ? { PRIVATE_KEY: as.privateKey } : { ADDRESS: as.address };
  const child = spawn(process.execPath, [path.join(__dirname, 'official-facilitator.mjs')], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', RPC_URL: rpc, ...who },
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
