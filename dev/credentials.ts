import 'reflect-metadata';
import { createPublicKey, generateKeyPairSync, randomBytes, randomUUID, webcrypto } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as x509 from '@peculiar/x509';
import { type NodeIndex, nodeIndexes } from '../src/messages/nodes';
import type { SecretKeyVariable } from '../src/platform/secret-box';
import { getOrCreateSecret, writeFileAtomically } from './files';

const validityMs = 10 * 365 * 24 * 3600 * 1000;
const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Paths of a node's credentials; src/platform/config.ts describes the contents. */
export interface NodeCredentials {
  key: string;
  cert: string;
  ca: string;
  peerCerts: string;
  kek: string;
}

/** Ed25519 key of the API's access tokens. Returns its path. */
export function jwtKey(secrets: string): string {
  getOrCreateSecret(secrets, 'jwt.pem', newEd25519Key);
  return path.join(secrets, 'jwt.pem');
}

/** What the authoriser signs orders with, and what the nodes know it by. */
export interface OrderCredentials {
  /** Paths of an Ed25519 private key (PEM) and of a JWKS. */
  key: string;
  jwks: string;
  deployment: string;
}

export function orderCredentials(secrets: string): OrderCredentials {
  const [key, jwks] = [path.join(secrets, 'order.pem'), path.join(secrets, 'order-keys.json')];
  getOrCreateSecret(secrets, 'order.pem', newEd25519Key);
  const publicKey = createPublicKey(readFileSync(key)).export({ format: 'jwk' });
  writeFileAtomically(jwks, JSON.stringify({ keys: [publicKey] }));
  return { key, jwks, deployment: getOrCreateSecret(secrets, 'deployment-id', () => randomUUID()) };
}

const newEd25519Key = (): string =>
  generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey;

/** Files of the key-encryption keys of stored secrets, by variable. bin/gateway.js uses the same names. */
const secretsKeyFiles: Record<SecretKeyVariable, string> = {
  TOTP_SECRETS_KEY: 'totp-secrets.kek',
  WEBHOOK_SECRETS_KEY: 'webhook-secrets.kek',
  STORED_ANSWERS_KEY: 'stored-answers.kek',
};

/** Key-encryption key of stored secrets, created once. Returns its path. */
export function secretsKey(secrets: string, variable: SecretKeyVariable): string {
  getOrCreateSecret(secrets, secretsKeyFiles[variable], () => randomBytes(32).toString('hex'));
  return path.join(secrets, secretsKeyFiles[variable]);
}

/** Certificates and key-encryption keys of the three nodes, created once. The key of the authority is not stored. */
export async function nodeCredentials(secrets: string): Promise<Record<NodeIndex, NodeCredentials>> {
  const file = (name: string) => path.join(secrets, name);
  const of = (index: NodeIndex): NodeCredentials => ({
    key: file(`mpc-${index}.key.pem`),
    cert: file(`mpc-${index}.cert.pem`),
    ca: file('mpc-ca.cert.pem'),
    peerCerts: file('mpc-all.cert.pem'),
    kek: file(`mpc-${index}.kek`),
  });
  for (const index of nodeIndexes) getOrCreateSecret(secrets, `mpc-${index}.kek`, () => randomBytes(32).toString('hex'));
  // this file is written last
  if (!existsSync(file('mpc-ca.cert.pem'))) await issueOnce(secrets, of);
  return { 1: of(1), 2: of(2), 3: of(3) };
}

/** By folder, as long as it runs: the processes of a stack are prepared at the same time. */
const issuing = new Map<string, Promise<void>>();

function issueOnce(secrets: string, of: (index: NodeIndex) => NodeCredentials): Promise<void> {
  const issued = issuing.get(secrets) ?? issueCertificates(secrets, of).finally(() => issuing.delete(secrets));
  issuing.set(secrets, issued);
  return issued;
}

async function issueCertificates(secrets: string, of: (index: NodeIndex) => NodeCredentials): Promise<void> {
  mkdirSync(secrets, { recursive: true });
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
  const notBefore = new Date(Date.now() - 24 * 3600 * 1000);
  const period = { notBefore, notAfter: new Date(notBefore.getTime() + validityMs), signingAlgorithm: keyAlgorithm };
  const caKeys = await newKeys();
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...period,
    serialNumber: randomSerial(),
    name: 'CN=custody-gateway development CA',
    keys: caKeys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(caKeys.publicKey),
    ],
  });
  const certificates: string[] = [];
  for (const index of nodeIndexes) {
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      ...period,
      serialNumber: randomSerial(),
      subject: `CN=mpc-node-${index}`,
      issuer: ca.subject,
      publicKey: keys.publicKey,
      signingKey: caKeys.privateKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
        new x509.SubjectAlternativeNameExtension([
          { type: 'ip', value: '127.0.0.1' },
          { type: 'dns', value: 'localhost' },
          { type: 'dns', value: `mpc-node-${index}` },
        ]),
        await x509.AuthorityKeyIdentifierExtension.create(ca),
      ],
    });
    const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
    certificates.push(`${certificate.toString('pem')}\n`);
    writeFileAtomically(of(index).key, `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`);
    writeFileAtomically(of(index).cert, `${certificate.toString('pem')}\n`);
  }
  writeFileAtomically(of(1).peerCerts, certificates.join(''));
  writeFileAtomically(of(1).ca, `${ca.toString('pem')}\n`);
}

const newKeys = () => webcrypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify']);
/** A positive number of full length, as RFC 5280 requires. */
const randomSerial = (): string => `4${randomBytes(16).toString('hex').slice(1)}`;
