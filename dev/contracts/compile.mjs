// Compiles the test contracts with the npm package solc (nothing is downloaded) into one JSON file:
//   node dev/contracts/compile.mjs <output.json>
// A separate process, since the compiler blocks for a second.
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import solc from 'solc';

const folder = import.meta.dirname;

const [output] = process.argv.slice(2);
if (!output) throw new Error('usage: node dev/contracts/compile.mjs <output.json>');

const files = readdirSync(folder).filter((file) => file.endsWith('.sol'));
const result = JSON.parse(
  solc.compile(
    JSON.stringify({
      language: 'Solidity',
      sources: Object.fromEntries(files.map((file) => [file, { content: readFileSync(path.join(folder, file), 'utf8') }])),
      settings: {
        evmVersion: 'cancun',
        optimizer: { enabled: true, runs: 200 },
        outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
      },
    }),
  ),
);
const problems = (result.errors ?? []).filter((entry) => entry.severity === 'error');
if (problems.length > 0) throw new Error(problems.map((entry) => entry.formattedMessage).join('\n'));

const artifacts = {};
for (const contracts of Object.values(result.contracts)) {
  for (const [name, { abi, evm }] of Object.entries(contracts)) {
    if (evm.bytecode.object === '') continue;
    artifacts[name] = { abi, bytecode: `0x${evm.bytecode.object}`, deployedBytecode: `0x${evm.deployedBytecode.object}` };
  }
}
mkdirSync(path.dirname(output), { recursive: true });
writeFileSync(`${output}.${process.pid}`, JSON.stringify(artifacts));
renameSync(`${output}.${process.pid}`, output);
