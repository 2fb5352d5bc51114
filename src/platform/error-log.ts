/** The fields of an error that are logged. Others are left out, since libraries attach queries, parameters and urls. */
export interface LoggedError {
  type: string;
  message: string;
  code?: string;
  /** Names from an error of Postgres. */
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
 * Describes any thrown value for the log. Details, parameters and statements of database errors are left out: they contain rows, and
 * rows can contain secrets.
 */
export function describeError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: error === undefined ? '' : 'no error object was thrown' };
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  const message = toMessage(error);
  return {
    type: error.name,
    message,
    ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {}),
    ...databaseNames(error),
    stack: `${error.name}: ${message}${toFrames(error)}`,
    ...(cause instanceof Error && depth < maxCauses ? { cause: describeError(cause, depth + 1) } : {}),
  };
}

/** The message, unless Postgres may have put values into it. */
function toMessage(error: Error): string {
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

/** The stack frames without the message that precedes them. */
function toFrames(error: Error): string {
  const first = error.stack?.search(/\n\s+at /) ?? -1;
  return first < 0 ? '' : (error.stack ?? '').slice(first);
}
