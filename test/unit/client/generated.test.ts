import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../../dev/paths';

test('client/src/generated.ts has the types of the document that is served: `npm run client:generate`', async () => {
  const check = promisify(execFile)(process.execPath, [path.join(projectRoot, 'dist/dev/client-types.js'), '--check']);
  // the reason is in what it prints
  await expect(check).resolves.toMatchObject({ stderr: '' });
});
