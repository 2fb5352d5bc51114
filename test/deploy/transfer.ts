import { shellBlocks } from '../unit/documents/shell-blocks';
import type { Containers } from './containers';

/** Of a shell: its variables in lower case, which are those of README.md, and its functions. */
const printState = 'declare -p $(compgen -v | grep "^[a-z]"); declare -f';

/**
 * The code of README.md's first transfer with Docker, run by a shell that reaches the API at 127.0.0.1; what pays deposits runs in a container of `faucet`.
 * @returns the transfer's id, and what a shell needs to go on with the same account @throws Error when it does not end as CONFIRMED
 */
export async function makeFirstTransfer(containers: Containers, shellImage: string): Promise<{ txId: string; state: string }> {
  const blocks = shellBlocks('README.md').filter(({ section }) => section === 'The first transfer');
  const start = blocks.find(({ who }) => who === 'docker')?.code ?? '';
  const lines = blocks.find(({ who }) => who === '')?.code.split('\n') ?? [];
  const [, client] = /^eval "\$\(docker compose --env-file try\.env run --rm -T ([\w-]+) < \/dev\/null\)"$/m.exec(start) ?? [];
  const [, faucet] =
    /^faucet\(\) \{ docker compose --env-file try\.env run --rm -T ([\w-]+) "\$@" < \/dev\/null; \}$/m.exec(start) ?? [];
  if (!client || !faucet || start.trim().split('\n').length !== 2)
    throw new Error("README.md's first transfer begins with Docker otherwise than this test");
  const credentials = await containers.runToEnd(client);
  // the same client at the port that API_PORT has the machine publish; it is the third word of the service's command
  const other = await containers.runToEnd(client, ['node', 'dist/dev/try/client.js', '18080']);
  if (other !== credentials.replace(':8080/', ':18080/')) throw new Error(`${client} has not printed the port 18080`);
  const isPayment = (line: string): boolean => line.startsWith('faucet ');
  const payments = lines.filter(isPayment);
  const first = lines.findIndex(isPayment);
  if (first < 0) throw new Error("README.md's first transfer has no payment of the faucet");

  const before = ['exec 3>&1 >&2', credentials, ...lines.slice(0, first), `{ ${printState}; } >&3`];
  const state = await containers.shell('api', shellImage, before.join('\n'));
  const replace = (text: string): string =>
    text.replace(/\$(\w+)/g, (_all, name: string) => new RegExp(`^declare -- ${name}="(.*)"$`, 'm').exec(state)?.[1] ?? '');
  for (const payment of payments) await containers.runToEnd(faucet, replace(payment).split(' ').slice(1));

  const after = lines.slice(first).filter((line) => !isPayment(line));
  const output = await containers.shell('api', shellImage, [state, ...after, 'echo "tx=$tx"'].join('\n'));
  const [, tx] = /^tx=(.+)$/m.exec(output) ?? [];
  if (!tx || !output.includes('"status":"CONFIRMED"')) throw new Error(`README.md's first transfer has not ended:\n${output}`);
  return { txId: tx, state };
}
