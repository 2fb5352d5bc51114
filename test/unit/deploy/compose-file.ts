import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { projectRoot } from '../../../dev/paths';

export interface Service {
  image: string;
  build?: { context: string; target: string };
  user: string;
  restart: string;
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  networks?: string[];
  network_mode?: string;
  ports?: string[];
  /** `<name>=<address>` */
  extra_hosts?: string[];
  profiles?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[]; interval: string; retries: number; start_period: string };
  stop_grace_period?: string;
  tmpfs: string[];
  read_only: boolean;
  cap_drop: string[];
  cap_add?: string[];
  security_opt: string[];
  mem_limit: string;
  pids_limit: number;
}

export interface ComposeFile {
  services: Record<string, Service>;
  networks: Record<string, unknown>;
  volumes: Record<string, unknown>;
}

/** Our own file: it has more aliases than one that is not trusted may have. */
export const parsing = { merge: true, maxAliasCount: 10_000 };
export const composeText = readFileSync(path.join(projectRoot, 'docker-compose.yml'), 'utf8');
export const compose = parse(composeText, parsing) as ComposeFile;
export const services = Object.entries(compose.services);

/** `<volume>:<path>[:ro]` */
export function mounts({ volumes = [] }: Service): { volume: string; at: string; isReadOnly: boolean }[] {
  return volumes.map((text) => {
    const [volume = '', at = '', mode] = text.split(':');
    return { volume, at, isReadOnly: mode === 'ro' };
  });
}

/** All that a container is started with. */
export const words = ({ entrypoint = [], command = [] }: Service): string[] => [...entrypoint, ...command];

/** Paths below /run/secrets, as files of the folder that `gateway setup files` writes, such as api/database_url. */
export function secretFiles(service: Service): string[] {
  const texts = [...Object.values(service.environment ?? {}), ...words(service)];
  const paths = texts.flatMap((text) => String(text).match(/\/run\/secrets\/[\w./-]+/g) ?? []);
  return paths.map((file) => {
    const mount = mounts(service).find(({ at }) => file.startsWith(`${at}/`));
    if (!mount?.volume.startsWith('secrets-')) throw new Error(`${file} is in no volume of the service`);
    return `${mount.volume.slice('secrets-'.length)}/${file.slice(mount.at.length + 1)}`;
  });
}
