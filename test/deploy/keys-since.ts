import { readFileSync } from 'node:fs';
import path from 'node:path';
import { until } from '../../dev/processes';
import { variables } from '../../src/platform/variables';
import type { Containers } from './containers';
import type { RunShell } from './docker';
import { confirmed, newToken, transfer } from './payments';

/** More than the pool had when the dump was made: one of them at least gets a key that was generated since. */
const wallets = Number((variables.KEY_POOL_SIZE.schema.validate(undefined) as { value: number }).value) + 1;
/** The node that docs/deployment.md restores, and the one that is away while only it and a third one can sign. */
const [restored, away] = ['mpc-node-2', 'mpc-node-3'];
const askedWithinMs = 60_000;
/** Some 11 s of processor time each, one after another, behind everything else on the machine. */
const keysWithinMs = 10 * 60_000;

interface Parts {
  folder: string;
  shellImage: string;
  /** Of the shell that has made the first transfer, with an older wallet. */
  state: string;
}

/** Wallets that the dump of a node's database does not have: what their keys can do once the dump was restored. */
export class KeysSince {
  private made: string[] = [];

  constructor(
    private readonly containers: Containers,
    private readonly parts: Parts,
  ) {}

  /** @throws Error unless all get their keys */
  async make(): Promise<void> {
    const output = await this.shell(
      `for i in $(seq ${wallets}); do echo "wallet=$(post /wallets '{"wallet_name":"since '$i'"}' | field wallet_id)"; done`,
    );
    this.made = this.findAll('wallet', output);
    if (this.made.length !== wallets) throw new Error(`not ${wallets} wallets:\n${output.slice(-1_000)}`);
    const haveKeys = async () => {
      const shown = await this.shell(...this.made.map((walletId) => `get /wallets/${walletId}; echo`));
      return shown.match(/"key_status":"ACTIVE"/g)?.length === wallets;
    };
    if (!(await until(haveKeys, keysWithinMs, 5_000))) throw new Error('not every wallet has got its key');
  }

  /** As docs/deployment.md says: each is bound again, and what is in one that cannot be is moved. @throws Error otherwise */
  async areMoved(runShell: RunShell): Promise<void> {
    const lost: string[] = [];
    for (const walletId of this.made) {
      // ends with another exit code than 0 where a node has not bound it
      const bound = await runShell(`docker compose run --rm gateway wallet bind ${walletId} || true`);
      if (!/^1 +bound[^]*^2 [^]*^3 +bound/m.test(bound)) throw new Error(`${walletId} is not bound elsewhere:\n${bound}`);
      if (/^2 +not bound +this node has no share of key/m.test(bound)) lost.push(walletId);
      else if (!/^2 +bound/m.test(bound)) throw new Error(`${walletId} is neither bound nor lost:\n${bound}`);
    }
    const [walletId] = lost;
    if (walletId === undefined) throw new Error('the dump of the node has the key of every wallet');

    const created = await this.shell(
      `answer=$(post /accounts '{"wallet_id":"${walletId}","chain":"ethereum"}')`,
      'echo "account=$(echo "$answer" | field account_id)"; echo "address=$(echo "$answer" | field address)"',
    );
    const [account = ''] = this.findAll('account', created);
    const [address = ''] = this.findAll('address', created);
    await runShell(`${this.parts.state}\nfaucet ethereum ETH ${address} 1`);
    await runShell(`docker compose stop ${away}`);
    await this.shell(`from=$address; ${transfer('USDC', '0.25')}`, ...confirmed);
    const asked = await this.shell(
      `wait_for "/assets?account_id=${account}" '"symbol":"ETH"[^}]*"balance":"1"'`,
      `from=${address}; ${transfer('ETH', '0.5')}`,
      'echo "tx=$tx"',
    );
    const [txId = ''] = this.findAll('tx', asked);
    const isNamed = () => this.log().includes('"alert":"share_missing"');
    if (!(await until(isNamed, askedWithinMs, 1_000))) throw new Error(`${restored} has not named the key that it lacks`);
    await runShell(`docker compose up -d --no-deps --wait ${away}`);
    await this.shell(`tx=${txId}`, ...confirmed);
  }

  private log(): string {
    return readFileSync(path.join(this.parts.folder, 'logs', `${restored}.log`), 'utf8');
  }

  private shell(...lines: string[]): Promise<string> {
    const { shellImage, state } = this.parts;
    return this.containers.shell('api', shellImage, [state, newToken, ...lines].join('\n'));
  }

  private findAll(name: string, output: string): string[] {
    return [...output.matchAll(new RegExp(`^${name}=(.+)$`, 'gm'))].map(([, value = '']) => value);
  }
}
