import pino, { type DestinationStream, type Logger } from 'pino';

export type { Logger };

/** Fields that are never written, whatever is logged: as bodies, headers, rows and the code name them. */
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
  // `code` alone is the name of a failure
  'mfa.code',
  'share',
  'password',
  'private_key',
  'privateKey',
  // whole: what is inside is as deep and named as a stranger likes
  'body',
  'headers',
];
/** Two levels: every path with a `*` costs every line of the log a microsecond, each further level three times as much. */
const redacted = secretFields.flatMap((field) => [field, field.startsWith('[') ? `*${field}` : `*.${field}`]);

/** JSON lines on stdout, or where it is told; one logger a process, and `process` names it in every line. */
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
