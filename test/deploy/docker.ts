import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { parse } from 'yaml';
import { run } from './commands';
import type { Containers, Overrides } from './containers';

/** What a command line of `docker compose` asks for. */
export type Asked =
  | { act: 'run' | 'exec'; service: string; words: string[]; entrypoint: string[] | null; binds: string[] }
  | { act: 'stop'; services: string[] }
  | { act: 'restart'; services: string[] }
  | { act: 'up'; services: string[]; waits: boolean }
  | { act: 'build' };

const withoutMeaningHere = ['--rm', '--no-deps', '-T', '-d', '--wait', '--force-recreate'];

/** A shell with `docker` as the documents have it. @throws Error for exit codes other than 0 */
export type RunShell = (code: string) => Promise<string>;

/** The variables that the services of this run have. */
const withTry = ['--env-file', 'try.env'];
const timeoutMs = 10 * 60_000;

/** @throws Error for what the documents do not use */
export function parseDocker([program, ...given]: readonly string[]): Asked {
  if (program !== 'compose') throw new Error(`docker ${program} is not known here`);
  const [act = '', ...args] = withTry.every((word, index) => given[index] === word) ? given.slice(withTry.length) : given;
  const binds: string[] = [];
  let entrypoint: string[] | null = null;
  const rest = [...args];
  while (rest[0]?.startsWith('-')) {
    const option = rest.shift() ?? '';
    if (option === '-v') binds.push(rest.shift() ?? '');
    else if (option === '--entrypoint') entrypoint = [rest.shift() ?? ''];
    else if (!withoutMeaningHere.includes(option)) throw new Error(`docker compose ${act} ${option} is not known here`);
  }
  if (act === 'build') return { act };
  const [service, ...words] = rest;
  // of all services at once, which the text advises against
  if (service === undefined) throw new Error(`docker compose ${act} names no service`);
  if (act === 'run' || act === 'exec') return { act, service, words, entrypoint, binds };
  if (act === 'stop' || act === 'restart') return { act, services: rest };
  // without --no-deps `up` carries out the jobs that a service depends on; `start`, which is refused, always does, and fails where their containers were removed
  const isAlone = args.includes('-d') && args.includes('--no-deps');
  if (act === 'up' && isAlone) return { act, services: rest, waits: args.includes('--wait') };
  throw new Error(`docker compose ${act} is not known here`);
}

const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/**
 * A program `docker` for code of the documents: it carries out `docker compose` with the containers of this run. A command in a container has
 * the input and output of the caller.
 * @param folder gets the program
 * @param cwd folder of the deployment
 * @returns a function that ends it
 */
async function serveDocker(containers: Containers, folder: string, cwd: string): Promise<() => void> {
  const carryOut = async (asked: Asked): Promise<string> => {
    containers.override(readOverrides(cwd));
    if (asked.act === 'build') return 'true';
    if ('words' in asked) {
      const { service, binds } = asked;
      // `exec` runs the words alone, `run` after what the image or the service begins with
      const entrypoint = asked.act === 'exec' ? [] : asked.entrypoint;
      const words = asked.words.length > 0 ? asked.words : undefined;
      return (await containers.commandLine(service, { words, entrypoint, binds })).map(quote).join(' ');
    }
    const { services } = asked;
    for (const name of [...services].reverse()) if (containers.isRunning(name)) await containers.stopWell(name);
    if (asked.act === 'stop') return 'true';
    // at once: some are healthy only when others are
    const waits = asked.act === 'restart' || asked.waits;
    await Promise.all(services.map((name) => (waits ? containers.startHealthy(name) : containers.start(name))));
    return 'true';
  };
  mkdirSync(folder, { recursive: true });
  const socket = path.join(folder, 'docker.socket');
  const server = createServer((request, response) => {
    readAll(request)
      .then((body) => carryOut(parseDocker(body.split('\0').slice(0, -1))))
      .then(
        (line) => response.end(line),
        (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
      );
  });
  // a restart takes longer than a request of a browser
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const program = path.join(folder, 'docker');
  const request = `curl -sS --fail-with-body --max-time 600 --unix-socket ${quote(socket)} --data-binary @- http://docker/`;
  writeFileSync(
    program,
    `#!/usr/bin/env bash\nset -euo pipefail\nline=$(printf '%s\\0' "$@" | ${request}) || { echo "$line" >&2; exit 1; }\neval "exec $line"\n`,
  );
  chmodSync(program, 0o755);
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

/** The file that Docker Compose merges by itself, if it is there. */
function readOverrides(folder: string): Overrides {
  const file = path.join(folder, 'docker-compose.override.yml');
  return { folder, services: existsSync(file) ? (parse(readFileSync(file, 'utf8')) as Overrides).services : {} };
}

/** A shell of this machine whose `docker` is the program above. */
export async function openDockerShell(
  containers: Containers,
  { folder, cwd, logFile }: { folder: string; cwd: string; logFile: string },
): Promise<{ run: RunShell; end: () => void }> {
  const programs = path.join(folder, 'docker');
  const end = await serveDocker(containers, programs, cwd);
  const env = { ...process.env, PATH: `${programs}${path.delimiter}${process.env.PATH ?? ''}` };
  return { run: (code) => run(['bash', '-euo', 'pipefail', '-c', code], { timeoutMs, logFile, cwd, env }), end };
}

async function readAll(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
