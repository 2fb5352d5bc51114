// Runs index.ts as it is: compiled in memory by swc, as jest compiles the tests.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import swc from '@swc/core';

const require = createRequire(import.meta.url);
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
require.extensions['.ts'] = (module, filename) => {
  const { code } = swc.transformSync(readFileSync(filename, 'utf8'), { filename, cwd: root, sourceMaps: 'inline' });
  module._compile(code, filename);
};
require('./index.ts');
