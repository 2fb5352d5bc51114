import 'reflect-metadata';
import { createPrivateKey, createPublicKey, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const dayMs = 24 * 3600 * 1000;
const validityMs = 10 * 365 * dayMs;
const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A private key (PKCS#8) and its certificate, both PEM. */
export interface KeyAndCertificate {
  key: string;
  cert: string;
}

export interface Subject {
  commonName: string;
  /** Names and addresses that a client may reach it by (RFC 6125); none for what is only a client. */
  dns?: readonly string[];
  ips?: readonly string[];
}

/** An EC P-256 private key, PKCS#8 PEM. */
export async function newCertificateKey(): Promise<string> {
  const { privateKey } = await webcrypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify']);
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey));
  return `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`;
}

/** The self-signed certificate of an authority that signs no other authority (RFC 5280, 4.2.1.9). `key`: EC P-256, PKCS#8 PEM. */
export async function certifyAuthority(key: string, commonName: string): Promise<string> {
  useWebCrypto();
  const keys = await toKeyPair(key);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...newPeriod(),
    serialNumber: randomSerial(),
    name: `CN=${commonName}`,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

/** A certificate for server and client, signed by the authority. `key`: EC P-256, PKCS#8 PEM. */
export async function certify(
  key: string,
  { commonName, dns = [], ips = [] }: Subject,
  authority: KeyAndCertificate,
): Promise<string> {
  useWebCrypto();
  const issuer = new x509.X509Certificate(authority.cert);
  const names = [
    ...dns.map((value) => ({ type: 'dns' as const, value })),
    ...ips.map((value) => ({ type: 'ip' as const, value })),
  ];
  const certificate = await x509.X509CertificateGenerator.create({
    ...newPeriod(),
    serialNumber: randomSerial(),
    subject: `CN=${commonName}`,
    issuer: issuer.subject,
    publicKey: (await toKeyPair(key)).publicKey,
    signingKey: (await toKeyPair(authority.key)).privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

/** What is wrong with an authority's certificate for its key, or null. */
export function findAuthorityProblem({ key, cert }: KeyAndCertificate): string | null {
  return withCertificate(cert, (certificate) => {
    if (!certificate.ca) return 'is not the certificate of an authority';
    return findKeyProblem(key, certificate) ?? findPeriodProblem(certificate);
  });
}

/** What is wrong with a certificate for its key, its subject and the certificate of its authority, or null. */
export function findCertificateProblem({ key, cert }: KeyAndCertificate, subject: Subject, authorityCert: string): string | null {
  return withCertificate(cert, (certificate) => {
    const { commonName, dns = [], ips = [] } = subject;
    if (certificate.subject !== `CN=${commonName}`) return `is not for CN=${commonName}`;
    if (!certificate.verify(new X509Certificate(authorityCert).publicKey)) return 'was not signed by the authority beside it';
    const missing = [
      ...dns.filter((name) => certificate.checkHost(name, { subject: 'never' }) === undefined),
      ...ips.filter((ip) => certificate.checkIP(ip) === undefined),
    ];
    if (missing.length > 0) return `is not valid for ${missing.join(', ')}`;
    return findKeyProblem(key, certificate) ?? findPeriodProblem(certificate);
  });
}

function withCertificate(pem: string, judge: (certificate: X509Certificate) => string | null): string | null {
  try {
    return judge(new X509Certificate(pem));
  } catch {
    return 'is not a PEM certificate';
  }
}

const findKeyProblem = (key: string, certificate: X509Certificate): string | null =>
  certificate.checkPrivateKey(createPrivateKey(key)) ? null : 'does not belong to the private key beside it';

function findPeriodProblem({ validFrom, validTo }: X509Certificate): string | null {
  if (Date.parse(validTo) <= Date.now()) return `has expired (${validTo})`;
  return Date.parse(validFrom) > Date.now() ? `is not valid yet (${validFrom})` : null;
}

async function toKeyPair(pem: string) {
  const privateKey = createPrivateKey(pem);
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' });
  return {
    privateKey: await webcrypto.subtle.importKey('pkcs8', pkcs8, keyAlgorithm, false, ['sign']),
    publicKey: await webcrypto.subtle.importKey('spki', spki, keyAlgorithm, true, ['verify']),
  };
}

/** From a day ago, for clocks that are behind. */
function newPeriod() {
  const notBefore = new Date(Date.now() - dayMs);
  return { notBefore, notAfter: new Date(notBefore.getTime() + validityMs), signingAlgorithm: keyAlgorithm };
}

/** A positive number of full length, as RFC 5280 requires. */
const randomSerial = (): string => `4${randomBytes(16).toString('hex').slice(1)}`;

function useWebCrypto(): void {
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
}
