import pino, { type DestinationStream, type LogFn, type Logger } from 'pino';
import { isAlertName } from './alert-names';
import { describeError } from './error-log';
import { loggedAlerts } from './metrics';

export type { Logger };

/** Fields that are never logged, in the spellings of bodies, headers, rows and code. */
const secretFields = [
  'authorization',
  '["x-api-secret"]',
  '["x-api-key"]',
  'token',
  'secret',
  'previous_secret',
  'totp_secret',
  'totpSecret',
  'recovery_codes',
  'recoveryCodes',
  'api_key',
  'apiKey',
  'api_secret',
  'apiSecret',
  'mfa_code',
  'mfaCode',
  // `code` alone is a failure code
  'mfa.code',
  'share',
  'password',
  'private_key',
  'privateKey',
  // completely, since callers choose depth and names of what is inside
  'body',
  'headers',
];
/** Two levels only: every path with a `*` costs a microsecond per log line, and every further level three times as much. */
const redacted = secretFields.flatMap((field) => [field, field.startsWith('[') ? `*${field}` : `*.${field}`]);

const alertLevel = pino.levels.values.error ?? 50;

/** Logs JSON lines to stdout or to `destination`. One logger per process; every line has the field `process`. */
export function createLogger(process: string, level: string, destination: DestinationStream = pino.destination(1)): Logger {
  return pino(
    {
      level,
      base: { process },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: withDescribedErrors },
      serializers: { err: describeError },
      hooks: { logMethod },
      redact: { paths: redacted, censor: '[redacted]' },
    },
    destination,
  );
}

/** Errors in other fields than `err`: JSON would contain every field that a library has attached to them. */
function withDescribedErrors(fields: Record<string, unknown>): Record<string, unknown> {
  // `err` is described by its serializer
  const errors = Object.entries(fields).filter(([name, value]) => value instanceof Error && name !== 'err');
  if (errors.length === 0) return fields;
  return { ...fields, ...Object.fromEntries(errors.map(([name, error]) => [name, describeError(error)])) };
}

/** Sets the text of a line that has none: pino would use the unfiltered message of the error. Counts alerts, so that rules see them. */
function logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
  const [first, text, ...more] = args as unknown as [unknown, string | undefined, ...unknown[]];
  const alert = (first as { alert?: unknown } | null)?.alert;
  // what says that an alarm is over names it too
  if (alert !== undefined && level >= alertLevel) loggedAlerts.inc({ alert: isAlertName(alert) ? alert : 'other' });
  const error = first instanceof Error ? first : (first as { err?: unknown } | null)?.err;
  if (!(error instanceof Error)) return method.apply(this, args);
  const fields = first instanceof Error ? { err: first } : first;
  method.apply(this, [fields, text ?? describeError(error).message, ...more] as unknown as Parameters<LogFn>);
}
