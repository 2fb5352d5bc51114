import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../dev/paths';
import { sleep } from '../../dev/processes';
import type { Containers } from './containers';

const pollMs = 2_000;
const stepTimeoutMs = 3 * 60_000;
const recipient = '0x000000000000000000000000000000000000dEaD';

type Answer = Record<string, unknown>;

/** The commands of README.md's first transfer, run by a shell that reaches the API at 127.0.0.1, until the transfer is CONFIRMED. */
export async function makeFirstTransfer(containers: Containers, shellImage: string): Promise<string> {
  const lines = readCommands();
  const find = (start: string): string => {
    const line = lines.find((it) => it.startsWith(start));
    if (line === undefined) throw new Error(`README.md has no line that begins with ${start}`);
    return line;
  };
  const credentials = await containers.runToEnd('first-client');
  const preamble = [credentials, find('token='), find('post() ')].join('\n');
  const ask = async (start: string, ...values: string[]): Promise<Answer> => {
    const script = `${preamble}\n${fill(find(start), values)}`;
    return JSON.parse(await containers.shell('api', shellImage, script)) as Answer;
  };
  const readWith = (what: string): string => find('curl ').replace('/transactions/…', what);
  const read = async (what: string): Promise<Answer> =>
    JSON.parse(await containers.shell('api', shellImage, `${preamble}\n${readWith(what)}`)) as Answer;

  const wallet = toText((await ask('post /wallets')).wallet_id);
  await waitFor('the wallet', () => read(`/wallets/${wallet}`), { status: 'ACTIVE', key_status: 'ACTIVE' });
  const account = await ask('post /accounts', wallet);
  const address = toText(account.address);
  await ask('post /assets', toText(account.account_id));
  for (const payment of find('npm run faucet').split(' && ')) {
    const [, words = ''] = /^npm run faucet -- (.*)$/.exec(payment) ?? [];
    await containers.runToEnd('faucet', fill(words, [address]).split(' '));
  }
  // refused until the deposits are credited
  const accepted = await waitFor('the transfer', () => ask('post /transfer', address, recipient), { status: 'PENDING' });
  const transfer = `/transactions/${toText(accepted.tx_id)}`;
  await waitFor('the transfer', () => read(transfer), { status: 'CONFIRMED' });
  return transfer;
}

/** Lines of the section's code, without the comments behind them. */
function readCommands(): string[] {
  const readme = readFileSync(path.join(projectRoot, 'README.md'), 'utf8');
  const [, code = ''] = /## The first transfer\n+```sh\n([\s\S]*?)```/.exec(readme) ?? [];
  return code.split('\n').map((line) => line.replace(/\s{2,}#.*$/, ''));
}

/** Replaces the placeholders, one after the other. */
function fill(line: string, values: readonly string[]): string {
  const left = [...values];
  const filled = line.replace(/(?:0x)?…/g, () => left.shift() ?? '…');
  if (filled.includes('…') || left.length > 0) throw new Error(`other placeholders in README.md than the test knows: ${line}`);
  return filled;
}

const toText = (value: unknown): string => {
  if (typeof value !== 'string') throw new Error(`the API did not answer as README.md says: ${JSON.stringify(value)}`);
  return value;
};

async function waitFor(what: string, ask: () => Promise<Answer>, wanted: Answer): Promise<Answer> {
  const deadline = Date.now() + stepTimeoutMs;
  for (;;) {
    const answer = await ask();
    if (Object.entries(wanted).every(([name, value]) => answer[name] === value)) return answer;
    if (Date.now() >= deadline)
      throw new Error(`${what} was not ${JSON.stringify(wanted)} after ${stepTimeoutMs / 1000} s, but ${JSON.stringify(answer)}`);
    await sleep(pollMs);
  }
}
