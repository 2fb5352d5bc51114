import path from 'node:path';
import { dataFolder, stack } from '../stack/client';
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

/** Setting of the commands that check what the signing nodes attest. */
export const nodeCerts = () => ({ MPC_NODE_PEER_CERTS_FILE: path.join(dataFolder(), 'secrets', 'mpc-all.cert.pem') });

/** Output of a command with --json. @throws Error when it failed. */
export async function json(...args: string[]) {
  const { code, out, err } = await gateway([...args, '--json']);
  if (code !== 0) throw new Error(`gateway ${args.join(' ')} ended with ${code}: ${err}`);
  return JSON.parse(out);
}
