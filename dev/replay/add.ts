import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../paths';
import { fail } from './failure';
import { loadHistory } from './source';

/** npm run replay:add -- <tx-id | workflow-id | file> <name> [--run <run-id>]: commits a run's history to the replay tests. */

const usage =
  'usage: npm run replay:add -- <tx-id | workflow-id | file> <name> [--run <run-id>] [--folder <folder>]   (name: lower-case letters, digits, dashes)';

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      run: { type: 'string' },
      folder: { type: 'string', default: path.join(projectRoot, 'test/replay/histories') },
    },
  });
  const [source, name] = positionals;
  if (source === undefined || name === undefined || !/^[a-z0-9-]+$/.test(name)) throw new Error(usage);
  const history = await loadHistory(source, values.run);
  const file = path.join(values.folder, `${name}.json`);
  writeFileSync(file, `${JSON.stringify(history, null, 2)}\n`);
  console.log(`wrote ${path.relative(process.cwd(), file)} (${history.events.length} events)`);
}

main().catch(fail);
