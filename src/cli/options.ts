import { InvalidArgumentError } from 'commander';
import { buildId } from '../platform/variable';

/** Parser of an integer. @throws InvalidArgumentError, which commander prints with the name of the argument or option. */
export const integer =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < min || value > max)
      throw new InvalidArgumentError(`must be a number from ${min} to ${max}`);
    return value;
  };

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const longestMs = 30 * units.d;

/** Parser of a length of time such as 24h, in milliseconds. @throws InvalidArgumentError as integer. */
export function toDurationMs(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? [];
  const ms = Number(count) * units[unit as keyof typeof units];
  if (!(ms <= longestMs)) throw new InvalidArgumentError('must be a time such as 30m, 24h or 7d, and at most 30d');
  return ms;
}

/** Parser of the build of a worker, which has the form of TEMPORAL_WORKER_BUILD_ID. @throws InvalidArgumentError as integer. */
export function toBuild(text: string): string {
  if (buildId().validate(text).error)
    throw new InvalidArgumentError('must be the build of a worker: at most 100 letters, digits and the characters . _ -');
  return text;
}

export const toLimit = integer(1, 1_000);
