import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { anvilCommand } from '../../dev/anvil';
import { type DevChain, devChain, prepareChain } from '../../dev/chain';
import { freePort } from '../../dev/ports';
import { endProcess, logTail, processIdentity, spawnLogged, until } from '../../dev/processes';
import { Reaper } from '../../dev/reaper';

export interface TestAnvil {
  rpc: string;
  chain: DevChain;
  stop(): Promise<void>;
}

/** A separate chain for one test file, with the test tokens; it ends with the test process. */
export async function startTestAnvil({ chainId = 1, chargesForData = false, blockTimeSeconds = 1 } = {}): Promise<TestAnvil> {
  const folder = mkdtempSync(path.join(tmpdir(), 'custody-gateway-anvil-'));
  const logFile = path.join(folder, 'anvil.log');
  const port = await freePort();
  const reaper = new Reaper();
  reaper.removeAtEnd(folder);
  const child = spawnLogged(anvilCommand({ chainId, port, blockTimeSeconds }), logFile);
  child.unref();
  const pid = child.pid ?? 0;
  const identity = processIdentity(pid) ?? '';
  reaper.watch(pid, 'SIGTERM');
  const rpc = `http://127.0.0.1:${port}`;
  const chain = devChain(rpc);
  if (!(await until(async () => (await chain.getChainId()) === chainId, 15_000, 50)))
    throw new Error(`Anvil did not start:\n${logTail(logFile)}`);
  await prepareChain(chain, { chargesForData });
  const stop = async () => {
    await endProcess(pid, identity, 'SIGTERM', 5_000);
    rmSync(folder, { recursive: true, force: true });
    reaper.dismiss();
  };
  return { rpc, chain, stop };
}
