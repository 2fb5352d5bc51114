import { InvalidArgumentError } from 'commander';

/** @throws InvalidArgumentError, which commander prints with the name of the option. */
export function toLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000) throw new InvalidArgumentError('must be a number from 1 to 1000');
  return limit;
}
