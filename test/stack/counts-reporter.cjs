/* eslint-disable @typescript-eslint/no-require-imports -- jest loads reporters as plain CommonJS */
const { appendFileSync } = require('node:fs');

/** Adds a run's counts, one JSON line, to the file TEST_COUNTS_FILE names: how .ci/run sums up several runs. */
module.exports = class CountsReporter {
  onRunComplete(_contexts, results) {
    const file = process.env.TEST_COUNTS_FILE;
    if (!file) return;
    const unloadable = results.testResults.filter((suite) => suite.testExecError).length;
    const line = {
      passed: results.numPassedTests,
      failed: results.numFailedTests + unloadable,
      skipped: results.numPendingTests + results.numTodoTests,
    };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  }
};
