import { appendFileSync } from 'node:fs';

interface Outcome {
  result: 'passed' | 'failed' | 'skipped';
  seconds: number;
  /** Why it has failed, or was skipped. */
  message?: string;
}

/** Where TEST_COUNTS_FILE names a file: the line that test/stack/counts-reporter.cjs writes for a run of tests. .ci/run, which does not run this test, sums such lines up. */
export function recordCounts({ result, seconds, message = '' }: Outcome): void {
  const file = process.env.TEST_COUNTS_FILE;
  if (!file) return;
  const test = 'npm run test:deploy';
  const line = {
    ...{ passed: 0, failed: 0, skipped: 0, [result]: 1 },
    slowest: [`deploy ${Math.round(seconds)}`],
    failures: result === 'failed' ? [{ test, message: message.slice(0, 3_000) }] : [],
    notRun: result === 'skipped' ? [message] : [],
  };
  appendFileSync(file, `${JSON.stringify(line)}\n`);
}
