import { isRunMissing, isTemporalDown } from '../../src/platform/temporal';

export const exitCodes = { replays: 0, diverges: 1, usage: 2, unavailable: 69 } as const;

/** Of a command that has failed: says why, and sets the exit code. */
export function fail(error: unknown): void {
  console.error(toSentence(error));
  process.exitCode = isTemporalDown(error) ? exitCodes.unavailable : exitCodes.usage;
}

function toSentence(error: unknown): string {
  if (isTemporalDown(error)) return 'Temporal is unreachable';
  if (isRunMissing(error)) return 'Temporal has no such run, or does not keep it any more';
  return error instanceof Error ? error.message : String(error);
}
