/**
 * Compares the built module with the hashes that were committed with it (wasm/SHA256SUMS, as `sha256sum` writes them).
 * Usage: node verify.cjs [directory]. Exits non-zero if a file differs.
 */
/* eslint-disable @typescript-eslint/no-require-imports -- CommonJS, loaded without a compiler */
'use strict';

const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const path = require('node:path');

/** The module and the code that loads it. */
const files = ['threshold_bg.wasm', 'threshold.js'];

/**
 * @param {string} directory of the module
 * @throws Error naming the file that differs, or whose hash is missing
 */
function verifyModule(directory) {
  const lines = readFileSync(path.join(directory, 'SHA256SUMS'), 'utf8').trim().split('\n');
  const expected = new Map(lines.map((line) => line.split(/\s+/)).map(([hash, file]) => [file, hash]));
  for (const file of files) {
    const actual = createHash('sha256')
      .update(readFileSync(path.join(directory, file)))
      .digest('hex');
    if (actual !== expected.get(file))
      throw new Error(`${file} of the threshold-signing module is not the committed one: its SHA-256 is ${actual}`);
  }
}

module.exports = { verifyModule };
if (require.main === module) verifyModule(path.resolve(process.argv[2] ?? path.join(__dirname, 'wasm')));
