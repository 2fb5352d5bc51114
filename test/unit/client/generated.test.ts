import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../../dev/paths';

const dist = path.join(projectRoot, 'dist');

/** Sources that were changed or removed after they were compiled, which is what the check runs. */
function staleSources(): string[] {
  const { files } = JSON.parse(readFileSync(path.join(dist, '.manifest.json'), 'utf8')) as { files: Record<string, string> };
  return Object.entries(files)
    .filter(([source, hash]) => {
      const file = path.join(projectRoot, source);
      return !existsSync(file) || createHash('sha256').update(readFileSync(file, 'utf8')).digest('hex') !== hash;
    })
    .map(([source]) => source);
}

test('client/src/generated.ts has the types of the document that is served: `npm run client:generate`', async () => {
  // else: `node scripts/build.mjs`
  expect(staleSources()).toEqual([]);
  const check = promisify(execFile)(process.execPath, [path.join(dist, 'dev/client-types.js'), '--check']);
  // the reason is in what it prints
  await expect(check).resolves.toMatchObject({ stderr: '' });
});
