import type { Containers } from './containers';

/** Of a shell with the state of the first transfer. Without the body of a refusal: only the last answer is printed. */
export const newToken = [
  'again() { curl -fsS --retry 60 --retry-delay 2 --retry-all-errors "$@"; }',
  'token=$(again -X POST $base/auth/token -H "X-API-Key: $key" -H "X-API-Secret: $secret" | field token)',
].join('\n');

/** Of a shell: sends from `$from`. */
export const transfer = (symbol: string, amount: string): string => {
  const to = '"to_address":"0x000000000000000000000000000000000000dEaD","chain":"ethereum"';
  return `tx=$(post /transfer '{"from_address":"'$from'",${to},"token_symbol":"${symbol}","amount":"${amount}"}' | field tx_id)`;
};
export const confirmed = [
  `for i in $(seq 150); do if get /transactions/$tx | grep -q '"status":"CONFIRMED"'; then exit 0; fi; sleep 1; done; exit 1`,
];

/** Further payments from the account of the first transfer. */
export class Payments {
  /** @param state of the shell that has made the first transfer */
  constructor(
    private readonly containers: Containers,
    private readonly shellImage: string,
    private readonly state: string,
  ) {}

  /** @returns its id, without waiting for it */
  async send(): Promise<string> {
    const output = await this.shell('from=$address', transfer('USDC', '0.25'), 'echo "tx=$tx"');
    const [, txId] = /^tx=(.+)$/m.exec(output) ?? [];
    if (!txId) throw new Error(`the transfer has no id:\n${output.slice(-1_000)}`);
    return txId;
  }

  /** @throws Error when it does not end as CONFIRMED */
  async confirm(txId: string): Promise<void> {
    await this.shell(`tx=${txId}`, ...confirmed);
  }

  /** @throws Error when it does not end as CONFIRMED */
  async pay(): Promise<void> {
    await this.confirm(await this.send());
  }

  /** A token of the key that signs them now. */
  async token(): Promise<string> {
    const [, token] = /^token=(.+)$/m.exec(await this.shell('echo "token=$token"')) ?? [];
    if (!token) throw new Error('the API has given no token');
    return token;
  }

  /** What a request with a token is answered. */
  async statusWith(token: string): Promise<number> {
    const request = `curl -sS -o /dev/null -w 'status=%{http_code}\\n' "$base/wallets/$wallet" -H 'Authorization: Bearer ${token}'`;
    return Number(/^status=(\d+)$/m.exec(await this.shell(request))?.[1]);
  }

  private shell(...lines: string[]): Promise<string> {
    return this.containers.shell('api', this.shellImage, [this.state, newToken, ...lines].join('\n'));
  }
}
