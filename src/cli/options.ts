import { InvalidArgumentError } from 'commander';

/** Parser of an integer. @throws InvalidArgumentError, which commander prints with the name of the argument or option. */
export const integer =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < min || value > max)
      throw new InvalidArgumentError(`must be a number from ${min} to ${max}`);
    return value;
  };

export const toLimit = integer(1, 1_000);
