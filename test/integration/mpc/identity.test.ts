import { ConfigError } from '../../../src/platform/config';
import { Identity, type IdentityFiles } from '../../../src/mpc/identity';
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
    expect(identity.partyOf(undefined)).toBeUndefined();
    expect(identity.publicKeyOf(2).asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
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
    ['text instead of a certificate', () => ({ ca: 'hello' }), /MPC_NODE_TLS_CA is not a PEM certificate/],
    ['text instead of a key', () => ({ key: 'hello' }), /MPC_NODE_TLS_KEY is not a PEM private key/],
  ])('is refused with %s', (_what, change, sentence) => {
    expect(withFiles(change)).toThrow(ConfigError);
    expect(withFiles(change)).toThrow(sentence);
  });
});
