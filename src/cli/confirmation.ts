import { type Command, InvalidArgumentError } from 'commander';
import { type Ask, withPrompt } from './prompt';
import { CommandFailed } from './session';

/** What an operator says beside a command that cannot be undone. */
export interface Confirmation {
  yes?: true;
  reason?: string;
}

const maxReasonLength = 500;

/** Parser of --reason. @throws InvalidArgumentError. */
function toReason(text: string): string {
  const reason = text.trim();
  if (reason === '' || reason.length > maxReasonLength)
    throw new InvalidArgumentError(`must have 1 to ${maxReasonLength} characters`);
  return reason;
}

/** Adds the option of a command that can be undone, and whose cause is asked for later. `record`: where it is kept. */
export const hasReason = (command: Command, record = 'the audit log'): Command =>
  command.option('--reason <text>', `why, for ${record}`, toReason);

/** Adds the options of a command that cannot be undone. `record`: where the reason is kept. */
export const cannotBeUndone = (command: Command, record?: string): Command =>
  hasReason(command.option('--yes', 'do not ask; needed where there is no terminal'), record);

/** Of a command that can be tried first. */
export interface Tried {
  dryRun?: true;
}

/** Adds the option of a command that can be tried without doing it. @param shows what it says then */
export const hasDryRun = (command: Command, shows: string): Command =>
  command.option('--dry-run', `only show ${shows}, and change nothing`);

/** Of `hasReason`. */
export type Reasoned = Pick<Confirmation, 'reason'>;

/** `stated_reason` in the detail of an audit row; nothing where none was given. */
export const withReason = (reason: string | undefined): { stated_reason?: string } =>
  reason === undefined ? {} : { stated_reason: reason };

/**
 * Asks the operator on the terminal before something is done that cannot be undone; with --yes nobody is asked.
 * @param act what the command does, as in "abandon transfer 1"
 * @throws CommandFailed unless the answer is yes, and where there is no terminal to ask on.
 */
export async function confirm(act: string, { yes }: Confirmation): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY) throw new CommandFailed(`to ${act} cannot be undone: repeat the command with --yes`);
  await withPrompt((ask) => askFor(act, ask));
}

/** @throws CommandFailed unless the answer is yes. */
export async function askFor(act: string, ask: Ask): Promise<void> {
  const answer = await ask(`This will ${act}, which cannot be undone. Type yes to go on: `);
  if (answer.toLowerCase() !== 'yes') throw new CommandFailed('nothing was done');
}
