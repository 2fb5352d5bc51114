import path from 'node:path';

/** Root of the repository; this file is dist/dev/paths.js when compiled and dev/paths.ts under jest. */
export const projectRoot = __dirname.includes(`${path.sep}dist${path.sep}dev`)
  ? path.resolve(__dirname, '../..')
  : path.resolve(__dirname, '..');

/** Everything the stack keeps lies below one folder. */
export function devPaths(dataDir: string) {
  const at = (...parts: string[]) => path.join(dataDir, ...parts);
  return {
    dataDir,
    stackFile: at('stack.json'),
    /** Who runs the stack. */
    supervisorFile: at('supervisor.json'),
    /** What runs in it, with what identifies each process: to end leftovers of a stack that was killed. */
    processFile: at('processes.json'),
    logs: at('logs'),
    secrets: at('secrets'),
    postgres: at('postgres'),
    temporal: at('temporal', 'temporal.db'),
    chains: at('chains'),
  };
}

export type DevPaths = ReturnType<typeof devPaths>;

/** Data of `npm run dev`; GATEWAY_DEV_DIR moves it. */
export const defaultDataDir = (): string => path.resolve(process.env.GATEWAY_DEV_DIR ?? path.join(projectRoot, '.dev'));
