import { execFile } from 'node:child_process';
import path from 'node:path';
import { projectRoot } from '../../dev/paths';
import { stack } from '../stack/client';

/** The operators' command line on the running stack, each command a process of its own. */

export interface Result {
  code: number;
  out: string;
  err: string;
}

export function gateway(args: string[], env: Record<string, string> = {}): Promise<Result> {
  const { postgres, temporal } = stack();
  const settings = {
    PATH: process.env.PATH ?? '',
    GATEWAY_ENV: 'local',
    DATABASE_URL: postgres.operator_url,
    DATABASE_OWNER_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    ...env,
  };
  return new Promise((resolve) =>
    execFile(process.execPath, [path.join(projectRoot, 'bin', 'gateway.js'), ...args], { env: settings }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  );
}

/** Output of a command with --json. @throws Error when it failed. */
export async function json(...args: string[]) {
  const { code, out, err } = await gateway([...args, '--json']);
  if (code !== 0) throw new Error(`gateway ${args.join(' ')} ended with ${code}: ${err}`);
  return JSON.parse(out);
}
