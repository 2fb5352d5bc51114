import { execFile } from 'node:child_process';
import path from 'node:path';
import { projectRoot } from '../../dev/paths';

export interface Result {
  code: number;
  out: string;
  err: string;
}

/** The operators' command line with these settings and no others. */
export const runGateway = (args: string[], settings: Record<string, string>): Promise<Result> => {
  const env = { PATH: process.env.PATH ?? '', GATEWAY_ENV: 'local', ...settings };
  return new Promise((resolve) =>
    execFile(process.execPath, [path.join(projectRoot, 'bin', 'gateway.js'), ...args], { env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  );
};
