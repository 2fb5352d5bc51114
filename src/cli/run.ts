import type { Session } from './session';

/** Wraps the work of a command, `(session, ...arguments, options)`, as its action. */
export type Run = <A extends unknown[]>(
  work: (session: Session, ...args: A) => Promise<void>,
) => (...args: [...A, ...unknown[]]) => Promise<void>;
