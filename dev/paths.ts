import path from 'node:path';

/** Root of the repository; this file is dist/dev/paths.js when compiled and dev/paths.ts under jest. */
export const projectRoot = __dirname.includes(`${path.sep}dist${path.sep}dev`)
  ? path.resolve(__dirname, '../..')
  : path.resolve(__dirname, '..');

/** All data of the stack is below one folder. */
export function devPaths(dataDir: string) {
  const at = (...parts: string[]) => path.join(dataDir, ...parts);
  return {
    dataDir,
    stackFile: at('stack.json'),
    /** The process that runs the stack. */
    supervisorFile: at('supervisor.json'),
    /** The processes of the stack with their identities, to end them if the stack was killed. */
    processFile: at('processes.json'),
    logs: at('logs'),
    secrets: at('secrets'),
    /** What a signing node reads and writes beside its database. */
    nodes: at('nodes'),
    postgres: at('postgres'),
    temporal: at('temporal', 'temporal.db'),
    chains: at('chains'),
  };
}

export type DevPaths = ReturnType<typeof devPaths>;

/** Data folder of `npm run dev`; GATEWAY_DEV_DIR changes it. */
export const defaultDataDir = (): string => path.resolve(process.env.GATEWAY_DEV_DIR ?? path.join(projectRoot, '.dev'));
