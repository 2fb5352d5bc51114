import { createLogger, type Logger } from '../../../src/platform/logging';

/** All secrets contain `do-not-log`, which must not appear in a log line. */
let made = 0;
const secret = () => `do-not-log-${(made += 1)}`;

function written(work: (log: Logger) => void): string {
  const lines: string[] = [];
  work(createLogger('test', 'trace', { write: (line) => void lines.push(line) }));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(String(lines[0]))).toMatchObject({ process: 'test', level: 'info' });
  return String(lines[0]);
}

const headers = () => ({ authorization: `Bearer ${secret()}`, 'x-api-key': secret(), 'x-api-secret': secret(), accept: 'json' });
const shapes: Record<string, () => object> = {
  'headers of a login': headers,
  'a login as the service gets it': () => ({ apiKey: secret(), apiSecret: secret(), address: '192.0.2.1' }),
  'its answer': () => ({ token: secret(), expires_in: 900 }),
  'a created API key': () => ({ key_id: 'id', api_key: secret(), api_secret: secret() }),
  'an enrolled second factor': () => ({ user_id: 'id', totp_secret: secret(), recovery_codes: [secret(), secret()] }),
  'the same in the code': () => ({ userId: 'id', totpSecret: secret(), recoveryCodes: [secret()] }),
  'a security factor to be created': () => ({ factor_type: 'BLACKLIST', address: '0x1', mfa_code: secret() }),
  'what a second factor is asked for': () => ({ mfa: { code: secret(), act: 'delete' }, mfaCode: secret() }),
  'a created webhook': () => ({ webhook_id: 'id', url: 'https://example.com', secret: secret(), previous_secret: secret() }),
  'a key share': () => ({ share: secret(), private_key: secret(), privateKey: secret(), password: secret() }),
};

describe.each(Object.entries(shapes))('%s', (_name, build) => {
  test.each<[string, (shape: object) => object]>([
    ['by itself', (shape) => shape],
    ['in a field', (shape) => ({ input: shape })],
    ['as body and headers', (shape) => ({ body: shape, headers: headers() })],
    ['in a request', (shape) => ({ request: { body: { more: { of: [shape] } }, headers: headers() } })],
  ])('%s', (_where, wrap) => {
    const logged = wrap(build());
    expect(JSON.stringify(logged)).toContain('do-not-log');
    const line = written((log) => log.info(logged, 'logged'));
    expect(line).toContain('[redacted]');
    expect(line).not.toContain('do-not-log');
  });

  test('bound to a child logger', () => {
    expect(written((log) => log.child({ ...build() }).info('logged'))).not.toContain('do-not-log');
  });
});

test('other fields are kept, such as the code of a failure', () => {
  const line = written((log) => log.info({ code: 'unavailable', err: new Error('away'), tx_id: 'id', input: { code: 'stuck' } }));
  expect(JSON.parse(line)).toMatchObject({
    code: 'unavailable',
    tx_id: 'id',
    err: { message: 'away' },
    input: { code: 'stuck' },
  });
});
