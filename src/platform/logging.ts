import pino, { type DestinationStream, type Logger } from 'pino';

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

/** Logs JSON lines to stdout or to `destination`. One logger per process; every line has the field `process`. */
export function createLogger(process: string, level: string, destination: DestinationStream = pino.destination(1)): Logger {
  return pino(
    {
      level,
      base: { process },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redacted, censor: '[redacted]' },
    },
    destination,
  );
}
