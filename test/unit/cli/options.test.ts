import { toBuild } from '../../../src/cli/options';

/** Arguments that a query of Temporal has in quotes. */

test.each(['1.4.0', 'unversioned', 'a'.repeat(100)])('%s is a build', (build) => {
  expect(toBuild(build)).toBe(build);
});

test.each(["1' or ExecutionStatus = 'Running", "o'clock", '', '-1', 'a'.repeat(101)])('%j is no build', (build) => {
  expect(() => toBuild(build)).toThrow('must be the build of a worker');
});
