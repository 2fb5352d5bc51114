import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { certify, certifyAuthority, newCertificateKey } from '../src/cli/setup/certificates';
import { newEd25519Key, newKek, toJwks } from '../src/cli/setup/new-secrets';
import { type NodeIndex, nodeIndexes } from '../src/messages/nodes';
import type { SecretKeyVariable } from '../src/platform/secret-box';
import { getOrCreateSecret, writeFileAtomically } from './files';

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
  writeFileAtomically(jwks, toJwks(readFileSync(key, 'utf8')));
  return { key, jwks, deployment: getOrCreateSecret(secrets, 'deployment-id', () => randomUUID()) };
}

/** Files of the key-encryption keys of stored secrets, by variable. bin/gateway.js uses the same names. */
const secretsKeyFiles: Record<SecretKeyVariable, string> = {
  TOTP_SECRETS_KEY: 'totp-secrets.kek',
  WEBHOOK_SECRETS_KEY: 'webhook-secrets.kek',
  STORED_ANSWERS_KEY: 'stored-answers.kek',
};

/** Key-encryption key of stored secrets, created once. Returns its path. */
export function secretsKey(secrets: string, variable: SecretKeyVariable): string {
  getOrCreateSecret(secrets, secretsKeyFiles[variable], newKek);
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
  for (const index of nodeIndexes) getOrCreateSecret(secrets, `mpc-${index}.kek`, newKek);
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
  const name = 'custody-gateway development CA';
  const key = await newCertificateKey();
  const ca = { key, cert: await certifyAuthority(key, name) };
  const certificates: string[] = [];
  for (const index of nodeIndexes) {
    const nodeKey = await newCertificateKey();
    const commonName = `mpc-node-${index}`;
    const cert = await certify(nodeKey, { commonName, dns: ['localhost', commonName], ips: ['127.0.0.1'] }, ca);
    certificates.push(cert);
    writeFileAtomically(of(index).key, nodeKey);
    writeFileAtomically(of(index).cert, cert);
  }
  writeFileAtomically(of(1).peerCerts, certificates.join(''));
  writeFileAtomically(of(1).ca, ca.cert);
}
