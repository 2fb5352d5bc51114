import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { loadRegistry } from '../../src/chains/registry';
import { anvilCommand, keepStateCopy, restoreState } from '../anvil';
import { devChain, prepareChain } from '../chain';
import { until } from '../processes';

const port = 8545;
/** Of the container: gone when it starts again. */
const readyFile = '/tmp/ready';
const folder = '/var/lib/try';

/** `node dist/dev/try/chain.js <chain>`: a local EVM chain with the test contracts, for `docker compose --env-file try.env up`. */
async function main(name: string): Promise<void> {
  const chain = loadRegistry('local', [name]).get(name);
  const chainId = Number(chain.caip2.split(':')[1]);
  const stateFile = `${folder}/${name}.json`;
  restoreState(stateFile);
  const blockTimeSeconds = Math.max(1, chain.blockTimeMs / 1000);
  const { command, args, env } = anvilCommand({ chainId, host: '0.0.0.0', port, blockTimeSeconds, stateFile });
  const anvil = spawn(command, args, { env, stdio: 'inherit' });
  anvil.once('error', (error) => fail(error.message));
  anvil.once('exit', (code) => process.exit(code ?? 1));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => anvil.kill('SIGTERM'));
  keepStateCopy(stateFile);
  const node = devChain(`http://127.0.0.1:${port}`);
  if (!(await until(async () => (await node.getChainId()) === chainId, 30_000))) throw new Error('Anvil does not answer');
  await prepareChain(node, chain);
  writeFileSync(readyFile, '');
}

function fail(message: string): void {
  console.error(message);
  process.exit(1);
}

main(process.argv[2] ?? '').catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));
