import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import type { IdentityFiles } from '../../../src/mpc/identity';
import type { NodeIndex } from '../../../src/messages/nodes';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
type Keys = Awaited<ReturnType<typeof keyPair>>;
const keyPair = () => webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);

export interface GroupFiles {
  nodes: Record<NodeIndex, IdentityFiles>;
  /** Another certificate of the same authority, for the given common name. */
  another(name: string): Promise<{ key: string; cert: string }>;
}

/** A certificate authority and the certificates of three nodes, as an operator would create them. */
export async function createGroup(): Promise<GroupFiles> {
  x509.cryptoProvider.set(webcrypto);
  const caKeys = await keyPair();
  const ca = await issue('mpc-ca', caKeys, caKeys, 'mpc-ca', true);
  const nodes = await Promise.all(
    ([1, 2, 3] as const).map(async (index) => ({ index, ...(await nodeCertificate(index, caKeys)) })),
  );
  const peerCerts = nodes.map(({ cert }) => cert).join('\n');
  const files = nodes.map(({ index, key, cert }) => [index, { index, key, cert, ca, peerCerts }] as const);
  return { nodes: Object.fromEntries(files) as Record<NodeIndex, IdentityFiles>, another: (name) => leaf(name, caKeys) };
}

async function nodeCertificate(index: NodeIndex, caKeys: Keys): Promise<{ key: string; cert: string }> {
  return leaf(`mpc-node-${index}`, caKeys);
}

async function leaf(name: string, caKeys: Keys): Promise<{ key: string; cert: string }> {
  const keys = await keyPair();
  const cert = await issue(name, keys, caKeys, 'mpc-ca', false);
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  return { cert, key: `-----BEGIN PRIVATE KEY-----\n${pkcs8.toString('base64')}\n-----END PRIVATE KEY-----\n` };
}

async function issue(name: string, keys: Keys, signer: Keys, issuer: string, isCa: boolean): Promise<string> {
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: Buffer.from(webcrypto.getRandomValues(new Uint8Array(8)))
      .toString('hex')
      .replace(/^./, '1'),
    subject: `CN=${name}`,
    issuer: `CN=${issuer}`,
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 86_400_000),
    publicKey: keys.publicKey,
    signingKey: signer.privateKey,
    signingAlgorithm: algorithm,
    extensions: [new x509.BasicConstraintsExtension(isCa, undefined, true)],
  });
  return certificate.toString('pem');
}
