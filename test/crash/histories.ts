import { execFileSync } from 'node:child_process';
import path from 'node:path';

/** With RECORD_HISTORIES=1 the run's history is stored for the replay tests, which renews them after a deliberate change. */
export function recordHistory(workflowId: string, name: string): void {
  if (process.env.RECORD_HISTORIES !== '1') return;
  execFileSync('node', [path.resolve(__dirname, '../../scripts/replay-add.mjs'), workflowId, name], { stdio: 'inherit' });
}
