import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BitcoinDevNode, isBitcoinReady } from '../../dev/bitcoin';
import { btcdCommand, btcdUrl, findBtcd, findInstalledBtcd } from '../../dev/btcd';
import { KeptBlocks } from '../../dev/kept-blocks';
import { freePort } from '../../dev/ports';
import { endProcess, logTail, processIdentity, spawnLogged, until } from '../../dev/processes';
import { Reaper } from '../../dev/reaper';

export interface TestBtcd {
  url: string;
  node: BitcoinDevNode;
  /** Where other nodes find this one. */
  peer: string;
  /** With the same blocks and an empty pool. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A separate chain for one test file, which mines only when it is told to; it ends with the test process. */
export async function startTestBtcd(): Promise<TestBtcd> {
  const binary = await findBtcd(() => undefined);
  const folder = mkdtempSync(path.join(tmpdir(), 'custody-gateway-btcd-'));
  const logFile = path.join(folder, 'btcd.log');
  const options = { rpcPort: await freePort(), peerPort: await freePort(), password: 'test', folder };
  const reaper = new Reaper();
  reaper.removeAtEnd(folder);
  const url = btcdUrl(options);
  const start = async () => {
    const child = spawnLogged(btcdCommand(binary, options), logFile);
    child.unref();
    const pid = child.pid ?? 0;
    reaper.watch(pid, 'SIGTERM');
    if (!(await until(() => isBitcoinReady(url), 15_000, 50))) throw new Error(`btcd did not start:\n${logTail(logFile)}`);
    return { pid, identity: processIdentity(pid) ?? '' };
  };
  const end = async ({ pid, identity }: Awaited<ReturnType<typeof start>>) => {
    await endProcess(pid, identity, 'SIGTERM', 5_000);
    reaper.forget(pid);
  };
  let running = await start();
  const node = new BitcoinDevNode(url);
  const kept = new KeptBlocks(node, path.join(folder, 'blocks'));
  await node.prepare();
  const restart = async () => {
    await kept.keep();
    await end(running);
    running = await start();
    await kept.restore();
  };
  const stop = async () => {
    await end(running);
    rmSync(folder, { recursive: true, force: true });
    reaper.dismiss();
  };
  return { url, node, peer: `127.0.0.1:${options.peerPort}`, restart, stop };
}

/** `describe` where there is a btcd; elsewhere its tests count as skipped. The set-up of the tests builds one where it can (prepare-btcd.ts). */
export const describeWithBtcd: jest.Describe = findInstalledBtcd() ? describe : describe.skip;
