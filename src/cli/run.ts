import type { Session } from './session';

/** Turns a command's work into its action: `(session, ...arguments, options)`. */
export type Run = <A extends unknown[]>(
  work: (session: Session, ...args: A) => Promise<void>,
) => (...args: [...A, ...unknown[]]) => Promise<void>;
