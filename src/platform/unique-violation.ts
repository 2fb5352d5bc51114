import { QueryFailedError } from 'typeorm';

/** Another transaction has committed what only one may have. `index`: matches the name of the index or constraint. */
export function violates(error: unknown, index: RegExp): boolean {
  const { code, constraint } = (error instanceof QueryFailedError ? error.driverError : {}) as {
    code?: string;
    constraint?: string;
  };
  return code === '23505' && constraint !== undefined && index.test(constraint);
}
