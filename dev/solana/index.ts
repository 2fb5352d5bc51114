// The local chain as a program: node dist/dev/solana/index.js --port 8899 [--state FILE] [--slot-ms 400] [--confirmed-lag 2] [--finalized-lag 31] [--skip-every 20]
import { parseArgs } from 'node:util';
import { defaults, type LocalChainOptions, startLocalChain } from './local-chain';

const text = { type: 'string' } as const;
const known = {
  ...{ port: text, state: text, 'slot-ms': text, 'confirmed-lag': text, 'finalized-lag': text, 'skip-every': text },
  'genesis-hash': text,
};

function readOptions(): Partial<LocalChainOptions> {
  const { values } = parseArgs({ options: known });
  const number = (
    name: Exclude<keyof typeof known, 'state' | 'genesis-hash'>,
    otherwise: number,
    least: number,
    most: number,
  ) => {
    const value = Number(values[name] ?? otherwise);
    if (!Number.isInteger(value) || value < least || value > most) throw new Error(`--${name} is between ${least} and ${most}`);
    return value;
  };
  return {
    port: number('port', 8_899, 0, 65_535),
    slotMs: number('slot-ms', defaults.slotMs, 10, 3_600_000),
    confirmed: number('confirmed-lag', defaults.confirmed, 0, 1_000),
    finalized: number('finalized-lag', defaults.finalized, 0, 1_000),
    skipEvery: number('skip-every', defaults.skipEvery, 0, 1_000_000),
    genesisHash: values['genesis-hash'] ?? defaults.genesisHash,
    stateFile: values.state,
  };
}

async function main(): Promise<void> {
  const local = await startLocalChain(readOptions());
  console.log(`local Solana chain (an SVM behind JSON-RPC) on ${local.url}`);
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    void local.stop().then(() => process.exit(0));
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

main().catch((error: unknown) => {
  console.error((error as Error).message);
  process.exit(1);
});
