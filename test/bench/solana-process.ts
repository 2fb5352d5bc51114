import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSolanaRpc } from '@solana/kit';
import { freePort } from '../../dev/ports';
import { LocalChainClient, localChainCommand } from '../../dev/solana/stack';

const maxStartMs = 30_000;
/** A block hash is good for a minute. */
const freshMs = 10_000;

/** A local chain in a process of its own, whose blocks the clock makes: what it does is no work of whoever is measured. */
export class SolanaProcess {
  readonly client: LocalChainClient;
  private latest: { at: number; blockhash: Promise<string> } | undefined;

  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {
    this.client = new LocalChainClient(url);
  }

  /** @throws Error for one that does not answer in time */
  static async start(): Promise<SolanaProcess> {
    const folder = mkdtempSync(path.join(tmpdir(), 'solana-bench-'));
    const port = await freePort();
    const stateFile = path.join(folder, 'state.json');
    const { command, args, env } = localChainCommand({ port, slotMs: 400, confirmed: 1, finalized: 2, stateFile });
    const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    const started = new SolanaProcess(`http://127.0.0.1:${port}`, child, folder);
    for (const end = Date.now() + maxStartMs; Date.now() < end; await delay(100))
      if (await started.client.status().catch(() => null)) return started;
    await started.stop();
    throw new Error('the local chain does not answer');
  }

  /** Of a confirmed block of the last seconds. */
  blockhash(): Promise<string> {
    const now = Date.now();
    if (!this.latest || now - this.latest.at > freshMs) this.latest = { at: now, blockhash: this.ask() };
    return this.latest.blockhash;
  }

  /** Until what was done so far is confirmed. */
  async settle(): Promise<void> {
    const { head } = await this.client.status();
    for (const end = Date.now() + maxStartMs; Date.now() < end; await delay(100))
      if ((await this.client.status()).confirmed >= head) return;
    throw new Error('the local chain makes no blocks');
  }

  private async ask(): Promise<string> {
    const { value } = await createSolanaRpc(this.url).getLatestBlockhash({ commitment: 'confirmed' }).send();
    return value.blockhash;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill();
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
