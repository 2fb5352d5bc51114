/* eslint-disable @typescript-eslint/no-require-imports -- jest loads reporters as plain CommonJS */
const { appendFileSync } = require('node:fs');

/**
 * Adds a run's counts, what failed or was skipped, and the slowest files, one JSON line, to the file that TEST_COUNTS_FILE names: how .ci/run sums up
 * several runs.
 */
module.exports = class CountsReporter {
  onRunComplete(_contexts, results) {
    const file = process.env.TEST_COUNTS_FILE;
    if (!file) return;
    const unloadable = results.testResults.filter((suite) => suite.testExecError);
    const line = {
      passed: results.numPassedTests,
      failed: results.numFailedTests + unloadable.length,
      skipped: results.numPendingTests + results.numTodoTests,
      slowest: slowestOf(results.testResults),
      notRun: notRunOf(results.testResults),
      failures: [
        ...results.testResults.flatMap(failuresOf),
        ...unloadable.map(({ testFilePath, testExecError }) => ({
          test: testFilePath,
          message: String(testExecError.message ?? testExecError).slice(0, maxMessage),
        })),
      ],
    };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  }
};

const maxSlowest = 25;

const shorten = (testFilePath) => testFilePath.replace(/^.*\/test\/|\.(test|bench)\.ts$/g, '');

/** Like `e2e/transfer 120`, in seconds. */
const slowestOf = (testResults) =>
  testResults
    .map(({ testFilePath, perfStats }) => ({ testFilePath, seconds: Math.round((perfStats.end - perfStats.start) / 1_000) }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, maxSlowest)
    .map(({ testFilePath, seconds }) => `${shorten(testFilePath)} ${seconds}`);

const maxNotRun = 40;

/** A sentence for each test that was skipped, such as for a program that the machine does not have: names of tests say which. */
function notRunOf(testResults) {
  const skipped = testResults.flatMap(({ testFilePath, testResults: tests }) =>
    tests
      .filter(({ status }) => status === 'pending' || status === 'todo')
      .map(({ fullName }) => `${shorten(testFilePath)}: ${fullName}`),
  );
  const more = skipped.length - maxNotRun;
  return more > 0 ? [...skipped.slice(0, maxNotRun), `and ${more} more tests`] : skipped;
}

/** The first failures of a file: with those of all others they have to fit at the end of a long log. */
const maxFailures = 5;
const maxMessage = 1_500;

const failuresOf = ({ testFilePath, testResults }) =>
  testResults
    .filter(({ status }) => status === 'failed')
    .slice(0, maxFailures)
    .map(({ fullName, failureMessages }) => ({
      test: `${testFilePath}: ${fullName}`,
      message: failureMessages.join('\n').slice(0, maxMessage),
    }));
