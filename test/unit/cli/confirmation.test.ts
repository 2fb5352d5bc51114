import { Command } from 'commander';
import { askFor, cannotBeUndone, confirm, withReason } from '../../../src/cli/confirmation';

test.each([
  ['yes', true],
  ['YES', true],
  ['y', false],
  ['no', false],
  ['', false],
])('%j on the terminal: goes on is %s', async (answer, goesOn) => {
  const asked: string[] = [];
  const done = askFor('abandon transfer 1', (question) => {
    asked.push(question);
    return Promise.resolve(answer);
  });
  if (goesOn) await done;
  else await expect(done).rejects.toThrow('nothing was done');
  expect(asked).toEqual(['This will abandon transfer 1, which cannot be undone. Type yes to go on: ']);
});

test('without a terminal nothing is done unless --yes is given', async () => {
  const wasTerminal = process.stdin.isTTY;
  process.stdin.isTTY = false;
  try {
    await expect(confirm('abandon transfer 1', {})).rejects.toThrow(
      'to abandon transfer 1 cannot be undone: repeat the command with --yes',
    );
    await confirm('abandon transfer 1', { yes: true });
  } finally {
    process.stdin.isTTY = wasTerminal;
  }
});

test('a reason is trimmed, has a limit, and goes into the detail of the audit row only if there is one', () => {
  const read = (reason: string) => {
    const command = cannotBeUndone(new Command('act'))
      .exitOverride()
      .configureOutput({ writeErr: () => undefined });
    return command.parse(['--reason', reason], { from: 'user' }).opts();
  };
  expect(read('  asked for by its client ')).toEqual({ reason: 'asked for by its client' });
  expect(read('x'.repeat(500))).toEqual({ reason: 'x'.repeat(500) });
  for (const wrong of [' ', 'x'.repeat(501)]) expect(() => read(wrong)).toThrow('must have 1 to 500 characters');
  expect([withReason(undefined), withReason('why')]).toEqual([{}, { stated_reason: 'why' }]);
});
