// The simulator as a program: node dist/dev/tron/index.js --port 9090 [--state FILE] [--block-ms 3000] [--solid-lag 19]
import { parseArgs } from 'node:util';
import { defaults, startSimulator } from './simulator';

function readOptions(): { port: number; blockMs: number; solidLag: number; stateFile: string | undefined } {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { port: text, state: text, 'block-ms': text, 'solid-lag': text } });
  const number = (name: 'port' | 'block-ms' | 'solid-lag', otherwise: number, least: number, most: number): number => {
    const value = Number(values[name] ?? otherwise);
    if (!Number.isInteger(value) || value < least || value > most) throw new Error(`--${name} is between ${least} and ${most}`);
    return value;
  };
  return {
    port: number('port', 9_090, 0, 65_535),
    blockMs: number('block-ms', defaults.blockMs, 10, 3_600_000),
    solidLag: number('solid-lag', defaults.solidLag, 0, 1_000),
    stateFile: values.state,
  };
}

async function main(): Promise<void> {
  const simulator = await startSimulator(readOptions());
  console.log(`simulated Tron chain on ${simulator.url}`);
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    void simulator.stop().then(() => process.exit(0));
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

main().catch((error: unknown) => {
  console.error((error as Error).message);
  process.exit(1);
});
