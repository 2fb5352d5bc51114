import { stack } from '../stack/client';
import { type Result, runGateway } from '../stack/gateway-command';

/** The operators' command line on the running stack, each command a process of its own. */
export function gateway(args: string[], env: Record<string, string> = {}): Promise<Result> {
  const { postgres, temporal } = stack();
  return runGateway(args, {
    DATABASE_URL: postgres.operator_url,
    DATABASE_OWNER_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    ...env,
  });
}

/** Output of a command with --json. @throws Error when it failed. */
export async function json(...args: string[]) {
  const { code, out, err } = await gateway([...args, '--json']);
  if (code !== 0) throw new Error(`gateway ${args.join(' ')} ended with ${code}: ${err}`);
  return JSON.parse(out);
}
