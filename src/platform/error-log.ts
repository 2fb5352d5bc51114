/** What is logged of an error: a list of what is known to be harmless, since libraries attach queries, parameters and urls. */
export interface LoggedError {
  type: string;
  message: string;
  code?: string;
  /** Of errors of Postgres: what the statement ran into, by name. */
  table?: string;
  column?: string;
  constraint?: string;
  stack?: string;
  cause?: LoggedError;
}

const maxCauses = 5;
/** SQLSTATE classes whose messages repeat values: data exceptions, such as `invalid input syntax for type uuid: "…"`. */
const repeatsValues = /^22/;

/**
 * Describes anything that was thrown. Details, positions, parameters and statements of database errors are left out: they hold rows
 * and thereby secrets.
 */
export function describeError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: error === undefined ? '' : 'no error object was thrown' };
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  const message = messageOf(error);
  return {
    type: error.name,
    message,
    ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {}),
    ...databaseNames(error),
    stack: `${error.name}: ${message}${framesOf(error)}`,
    ...(cause instanceof Error && depth < maxCauses ? { cause: describeError(cause, depth + 1) } : {}),
  };
}

/** The message of an error, without the values that Postgres may have put into it. */
function messageOf(error: Error): string {
  const state = databaseState(error);
  return state !== undefined && repeatsValues.test(state) ? 'data exception' : error.message;
}

function databaseNames(error: Error): Pick<LoggedError, 'table' | 'column' | 'constraint'> {
  if (databaseState(error) === undefined) return {};
  const named = error as { table?: unknown; column?: unknown; constraint?: unknown };
  const names = (['table', 'column', 'constraint'] as const).filter((name) => typeof named[name] === 'string');
  return Object.fromEntries(names.map((name) => [name, named[name]]));
}

/** The SQLSTATE; undefined when the error did not come from the Postgres server. TypeORM copies the driver's fields to its own error. */
function databaseState(error: Error): string | undefined {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined;
}

/** The frames alone: what comes before them is the message. */
function framesOf(error: Error): string {
  const first = error.stack?.search(/\n\s+at /) ?? -1;
  return first < 0 ? '' : (error.stack ?? '').slice(first);
}
