import pino, { type Logger } from 'pino';

export type { Logger };

/** Paths that are never written, whatever is logged. */
const redacted = [
  'authorization',
  'token',
  'secret',
  'api_secret',
  'mfa_code',
  'share',
  'password',
  '*.authorization',
  '*.token',
  '*.secret',
  '*.api_secret',
  '*.mfa_code',
  '*.share',
  '*.password',
  'headers["x-api-secret"]',
  'headers["x-api-key"]',
  'headers.authorization',
];

/** JSON lines on stdout, one logger a process; `process` names it in every line. */
export function createLogger(process: string, level: string): Logger {
  return pino({
    level,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: redacted, censor: '[redacted]' },
  });
}
