import { randomUUID } from 'node:crypto';
import { until } from '../../dev/processes';
import type { Containers } from './containers';
import type { RunShell } from './docker';
import { newToken } from './payments';

/** How long a rebuilt transfer has until everything is equal. */
const equalWithinMs = 5 * 60_000;
const isEqual = 'books, journals and chains are equal';

/** A payment that a dump does not have: what becomes of it, and of its repetition, once the dump was restored. */
export class PaidSince {
  private readonly key = randomUUID();
  private txId = '';

  /** @param state of the shell that has made the first transfer */
  constructor(
    private readonly containers: Containers,
    private readonly shellImage: string,
    private readonly state: string,
  ) {}

  /** @throws Error when it does not end as CONFIRMED */
  async pay(): Promise<void> {
    this.txId = await this.send();
  }

  /** @param shown what `reconcile` has printed of the restored database @throws Error unless it is rebuilt, is answered as before, and all is equal */
  async comesBack(runShell: RunShell, shown: string): Promise<void> {
    if (!shown.includes(this.txId)) throw new Error(`owner reconcile does not show ${this.txId}:\n${shown.slice(-1_000)}`);
    const applied = await runShell('docker compose run --rm owner reconcile --apply');
    if (!applied.includes('nothing is missing: the gateway is open'))
      throw new Error(`it is not open:\n${applied.slice(-1_000)}`);
    const again = await this.send();
    if (again !== this.txId) throw new Error(`the same Idempotency-Key makes ${again} after ${this.txId}`);
    let last = '';
    const compare = async () => {
      last = await runShell('docker compose run --rm owner reconcile').catch((error: unknown) => String(error));
      return last.includes(isEqual);
    };
    if (!(await until(compare, equalWithinMs, 5_000))) throw new Error(`they are not equal:\n${last.slice(-1_000)}`);
  }

  /** With the same key each time; as long as the gateway is closed it is repeated. @returns its id once it is CONFIRMED */
  private async send(): Promise<string> {
    const transfer = `'{"from_address":"'$address'","to_address":"0x000000000000000000000000000000000000dEaD","chain":"ethereum","token_symbol":"USDC","amount":"0.25"}'`;
    const lines = [
      newToken,
      `tx=$(again $base/transfer -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \\`,
      `  -H 'Idempotency-Key: ${this.key}' -d ${transfer} | field tx_id)`,
      `for i in $(seq 150); do if get /transactions/$tx | grep -q '"status":"CONFIRMED"'; then echo "tx=$tx"; exit 0; fi; sleep 2; done`,
      'exit 1',
    ];
    const output = await this.containers.shell('api', this.shellImage, [this.state, ...lines].join('\n'));
    const [, txId] = /^tx=(.+)$/m.exec(output) ?? [];
    if (!txId) throw new Error(`the transfer has no id:\n${output.slice(-1_000)}`);
    return txId;
  }
}
