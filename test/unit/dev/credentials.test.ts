import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { jwtKey, nodeCredentials } from '../../../dev/credentials';

describe('development credentials', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'credentials-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are one authority and three node certificates that fit their keys', async () => {
    const credentials = await nodeCredentials(folder);
    const ca = new X509Certificate(readFileSync(credentials[1].ca));
    for (const index of [1, 2, 3] as const) {
      const certificate = new X509Certificate(readFileSync(credentials[index].cert));
      expect(certificate.subject).toBe(`CN=mpc-node-${index}`);
      expect(certificate.verify(ca.publicKey)).toBe(true);
      expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
      expect(certificate.checkPrivateKey(createPrivateKey(readFileSync(credentials[index].key)))).toBe(true);
      expect(readFileSync(credentials[index].kek, 'utf8')).toMatch(/^[0-9a-f]{64}$/);
      expect(readFileSync(credentials[index].peerCerts, 'utf8')).toContain(certificate.toString().trim());
      expect(statSync(credentials[index].key).mode & 0o777).toBe(0o600);
    }
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('are issued once for all who ask at the same time', async () => {
    const asked = path.join(folder, 'asked-at-once');
    const [credentials] = await Promise.all([nodeCredentials(asked), nodeCredentials(asked), nodeCredentials(asked)]);
    const ca = new X509Certificate(readFileSync(credentials[1].ca));
    const pinned = readFileSync(credentials[1].peerCerts, 'utf8');
    for (const index of [1, 2, 3] as const) {
      const certificate = new X509Certificate(readFileSync(credentials[index].cert));
      expect(certificate.verify(ca.publicKey)).toBe(true);
      expect(pinned).toContain(certificate.toString().trim());
    }
  });

  it('stay the same', async () => {
    const before = readFileSync((await nodeCredentials(folder))[2].cert, 'utf8');
    expect(readFileSync((await nodeCredentials(folder))[2].cert, 'utf8')).toBe(before);
    expect(createPrivateKey(readFileSync(jwtKey(folder))).asymmetricKeyType).toBe('ed25519');
    expect(readFileSync(jwtKey(folder), 'utf8')).toBe(readFileSync(jwtKey(folder), 'utf8'));
  });
});
