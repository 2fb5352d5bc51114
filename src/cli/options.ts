import { InvalidArgumentError } from 'commander';

/** @throws InvalidArgumentError which commander shows with the option's name. */
export function toLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000) throw new InvalidArgumentError('a number from 1 to 1000 is needed');
  return limit;
}
