import { type KeyObject, X509Certificate } from 'node:crypto';
import { ConfigError } from '../../../src/platform/config';
import { Identity, type IdentityFiles, readNodeKeys } from '../../../src/mpc/identity';
import { createGroup, type GroupFiles } from './certificates';

describe('a node identity', () => {
  let mine: GroupFiles;
  let theirs: GroupFiles;
  beforeAll(async () => {
    [mine, theirs] = await Promise.all([createGroup(), createGroup()]);
  });
  const withFiles = (change: (files: IdentityFiles) => Partial<IdentityFiles>) => () =>
    new Identity({ ...mine.nodes[1], ...change(mine.nodes[1]) });

  test('knows its peers by their certificates', () => {
    const identity = new Identity(mine.nodes[1]);
    expect(identity.others).toEqual([2, 3]);
    expect(identity.findParty(undefined)).toBeUndefined();
    expect(identity.getPublicKey(2).asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  });

  test('knows the former keys of a node after the present one, also those of another authority', () => {
    const former = theirs.nodes[2].cert;
    const identity = new Identity({ ...mine.nodes[1], formerCerts: former });
    const pem = (keys: readonly KeyObject[]) => keys.map((key) => key.export({ type: 'spki', format: 'pem' }));
    const keyOf = (certificate: string) => new X509Certificate(certificate).publicKey;
    expect(pem(identity.getKeys(2))).toEqual(pem([keyOf(mine.nodes[2].cert), keyOf(former)]));
    expect(pem(identity.getKeys(3))).toEqual(pem([keyOf(mine.nodes[3].cert)]));
    expect(pem([identity.getPublicKey(2)])).toEqual(pem([keyOf(mine.nodes[2].cert)]));
    // no peer connects with a former certificate
    expect(identity.findParty(new X509Certificate(former).fingerprint256)).toBeUndefined();
    expect(pem(readNodeKeys(mine.nodes[1].peerCerts, former).get(2)!)).toEqual(pem(identity.getKeys(2)));
  });

  test.each<[string, (files: IdentityFiles) => Partial<IdentityFiles>, RegExp]>([
    ['a key of another certificate', () => ({ key: mine.nodes[2].key }), /MPC_NODE_TLS_KEY is not the key of/],
    [
      'a certificate of another node',
      () => ({ cert: mine.nodes[2].cert, key: mine.nodes[2].key }),
      /MPC_NODE_TLS_CERT is not the certificate/,
    ],
    ['certificates of another authority', () => ({ ca: theirs.nodes[1].ca }), /was not signed by MPC_NODE_TLS_CA/],
    [
      'a missing certificate',
      (files) => ({ peerCerts: files.peerCerts.split('\n-----BEGIN').slice(0, 1).join('') }),
      /has no certificate for node 2 and 3/,
    ],
    ['a certificate twice', (files) => ({ peerCerts: `${files.peerCerts}\n${files.cert}` }), /two certificates for node 1/],
    [
      'a certificate of the authority among the former ones',
      (files) => ({ formerCerts: files.ca }),
      /MPC_NODE_FORMER_CERTS holds a certificate whose common name/,
    ],
    [
      'more former certificates than are looked through',
      (files) => ({ formerCerts: files.peerCerts.repeat(11) }),
      /MPC_NODE_FORMER_CERTS holds more than 30 certificates/,
    ],
    ['text instead of former certificates', () => ({ formerCerts: 'hello' }), /MPC_NODE_FORMER_CERTS holds no PEM certificate/],
    ['text instead of a certificate', () => ({ ca: 'hello' }), /MPC_NODE_TLS_CA is not a PEM certificate/],
    ['text instead of a key', () => ({ key: 'hello' }), /MPC_NODE_TLS_KEY is not a PEM private key/],
  ])('is refused with %s', (_what, change, sentence) => {
    expect(withFiles(change)).toThrow(ConfigError);
    expect(withFiles(change)).toThrow(sentence);
  });
});
