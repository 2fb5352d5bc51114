import { projectRoot } from '../../dev/paths';
import { shellBlocks } from '../unit/documents/shell-blocks';
import type { Containers } from './containers';
import { openDockerShell } from './docker';

/** What the first client prints. */
const shown = 'base key secret';
/** Of a shell: its variables in lower case, which are those of README.md, and its functions. */
const printState = 'declare -p $(compgen -v | grep "^[a-z]"); declare -f';

/**
 * The code of README.md's first transfer with Docker as it stands: what has `docker compose` by a shell of this machine, and what calls the API by one
 * that reaches it at 127.0.0.1.
 * @returns the ids of transfer and wallet, and what a shell needs to go on with the same account @throws Error when it does not end as CONFIRMED
 */
export async function makeFirstTransfer(
  containers: Containers,
  { folder, logFile, shellImage }: { folder: string; logFile: string; shellImage: string },
): Promise<{ txId: string; walletId: string; state: string }> {
  const blocks = shellBlocks('README.md').filter(({ section }) => section === 'The first transfer');
  const start = blocks.find(({ who }) => who === 'docker')?.code ?? '';
  const lines = blocks.find(({ who }) => who === '')?.code.split('\n') ?? [];
  const isPayment = (line: string): boolean => line.startsWith('faucet ');
  const payments = lines.filter(isPayment);
  const first = lines.findIndex(isPayment);
  if (first < 0) throw new Error("README.md's first transfer has no payment of the faucet");

  const machine = await openDockerShell(containers, { folder, cwd: projectRoot, logFile });
  try {
    // of the machine's own variables nothing reaches the other shell
    const begun = await machine.run(`exec 3>&1 >&2\n${start}\n{ declare -p ${shown}; declare -f faucet; } >&3`);
    // the same client at the port that API_PORT has the machine publish; it is the third word of the service's command
    const other = await containers.runToEnd('first-client', ['node', 'dist/dev/try/client.js', '18080']);
    const credentials = [...begun.matchAll(/^declare -- (\w+)="(.*)"$/gm)];
    if (credentials.map(([, name]) => name).join(' ') !== shown) throw new Error(`the shell has not shown ${shown}`);
    for (const [, name, value] of credentials)
      if (!other.includes(`${name}=${value?.replace(':8080/', ':18080/')}\n`))
        throw new Error(`first-client has printed another ${name} for the port 18080`);

    const before = ['exec 3>&1 >&2', begun, ...lines.slice(0, first), `{ ${printState}; } >&3`];
    const state = await containers.shell('api', shellImage, before.join('\n'));
    for (const payment of payments) await machine.run([state, payment].join('\n'));

    const after = lines.slice(first).filter((line) => !isPayment(line));
    const output = await containers.shell('api', shellImage, [state, ...after, 'echo "tx=$tx"'].join('\n'));
    const [, tx] = /^tx=(.+)$/m.exec(output) ?? [];
    if (!tx || !output.includes('"status":"CONFIRMED"')) throw new Error(`README.md's first transfer has not ended:\n${output}`);
    const [, walletId] = /^declare -- wallet="(.+)"$/m.exec(state) ?? [];
    if (!walletId) throw new Error("README.md's first transfer has no wallet");
    return { txId: tx, walletId, state };
  } finally {
    machine.end();
  }
}
