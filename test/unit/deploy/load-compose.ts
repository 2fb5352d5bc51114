import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** As the loader of Docker Compose shows a service (dev/compose-loader); what we do not use is left out. */
export interface Loaded {
  image: string;
  user: string;
  restart: string;
  command: string[] | null;
  entrypoint: string[] | null;
  environment?: Record<string, string>;
  networks?: Record<string, unknown>;
  depends_on?: Record<string, { condition: string; required: boolean }>;
  volumes?: { type: string; source: string; target: string; read_only?: boolean; bind?: { create_host_path?: boolean } }[];
  ports?: { host_ip: string; published: string; target: number; protocol: string }[];
  extra_hosts?: string[];
  profiles?: string[];
  mem_limit: string;
  stop_grace_period?: string;
  healthcheck?: { test: string[]; interval: string; timeout: string; retries: number; start_period: string };
  build?: { context: string; target: string };
  tmpfs?: string[];
  cap_add?: string[];
}
export interface Project {
  services: Record<string, Loaded>;
  networks: Record<string, { internal?: boolean }>;
  volumes: Record<string, { driver_opts?: Record<string, string> }>;
}

/**
 * Loads compose files with the library that Docker Compose loads them with.
 * @param program the built loader
 * @param files each is merged into the ones before
 * @param env variables, and no others of whoever runs the tests
 * @throws Error with the sentence of the loader
 */
export async function loadCompose(
  program: string,
  files: readonly string[],
  { cwd, env = {}, envFile }: { cwd: string; env?: Readonly<Record<string, string>>; envFile?: string | null | undefined },
): Promise<Project> {
  const { stdout } = await promisify(execFile)(program, [...(envFile ? ['--env-file', envFile] : []), ...files], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    timeout: 30_000,
    maxBuffer: 16 * 1024 * 1024,
  });
  return JSON.parse(stdout) as Project;
}
