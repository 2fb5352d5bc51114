import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { type Config, ConfigError } from '../platform/config';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import { isNodeIndex } from './protocols';

/** Index and PEM texts from the environment. */
export interface IdentityFiles {
  index: NodeIndex;
  /** EC P-256 private key. */
  key: string;
  cert: string;
  ca: string;
  /** Certificates of all three nodes, concatenated. */
  peerCerts: string;
  /** Certificates that nodes had before, concatenated. */
  formerCerts?: string | undefined;
}

/** The variables that make an identity. */
export const identityVariables = [
  'MPC_NODE_INDEX',
  'MPC_NODE_TLS_KEY',
  'MPC_NODE_TLS_CERT',
  'MPC_NODE_TLS_CA',
  'MPC_NODE_PEER_CERTS',
  'MPC_NODE_FORMER_CERTS',
] as const;

export const toIdentityFiles = (config: Config<(typeof identityVariables)[number]>): IdentityFiles => ({
  index: config.MPC_NODE_INDEX,
  key: config.MPC_NODE_TLS_KEY,
  cert: config.MPC_NODE_TLS_CERT,
  ca: config.MPC_NODE_TLS_CA,
  peerCerts: config.MPC_NODE_PEER_CERTS,
  formerCerts: config.MPC_NODE_FORMER_CERTS,
});

/** The present public key of a node, then those that it had before. Only what was signed to be kept is verified by the latter too. */
export type PublicKeys = readonly [KeyObject, ...KeyObject[]];

/** Public keys that verify what the nodes sign. */
export type NodeKeys = ReadonlyMap<NodeIndex, PublicKeys>;

/** Former certificates in total. */
const maxFormerCerts = 30;

/**
 * The nodes' public keys, from their certificates.
 * @param formerCerts those of replaced identities; their authority and expiry do not count any more
 * @throws ConfigError unless there is one present certificate for each of the three.
 */
export function readNodeKeys(peerCerts: string, formerCerts?: string): NodeKeys {
  return toNodeKeys(readPins(peerCerts), formerCerts);
}

function toNodeKeys(pins: ReadonlyMap<NodeIndex, X509Certificate>, formerCerts = ''): NodeKeys {
  const former = [...readCertificates('MPC_NODE_FORMER_CERTS', formerCerts)];
  if (former.length > maxFormerCerts)
    throw new ConfigError(`MPC_NODE_FORMER_CERTS holds more than ${maxFormerCerts} certificates`);
  if (formerCerts.trim() !== '' && former.length === 0) throw new ConfigError('MPC_NODE_FORMER_CERTS holds no PEM certificate');
  const getKeys = (party: NodeIndex, { publicKey }: X509Certificate): PublicKeys => [
    publicKey,
    ...former.filter((it) => it.party === party).map(({ certificate: { publicKey: key } }) => key),
  ];
  return new Map([...pins].map(([party, pin]) => [party, getKeys(party, pin)]));
}

/** Identity of this node and of its peers: one pinned certificate per node. */
export class Identity {
  readonly index: NodeIndex;
  readonly others: readonly NodeIndex[];
  readonly signingKey: KeyObject;
  private readonly pins: ReadonlyMap<NodeIndex, X509Certificate>;
  private readonly keys: NodeKeys;

  /** @throws ConfigError when key, certificate, authority and pinned certificates do not belong together. */
  constructor(readonly files: IdentityFiles) {
    this.index = files.index;
    this.others = nodeIndexes.filter((party) => party !== files.index);
    const ca = certificate('MPC_NODE_TLS_CA', files.ca);
    this.pins = readPins(files.peerCerts);
    for (const [party, pin] of this.pins)
      if (!pin.verify(ca.publicKey))
        throw new ConfigError(`MPC_NODE_PEER_CERTS: the certificate of node ${party} was not signed by MPC_NODE_TLS_CA`);
    const own = certificate('MPC_NODE_TLS_CERT', files.cert);
    if (own.fingerprint256 !== this.pins.get(files.index)?.fingerprint256) {
      throw new ConfigError(`MPC_NODE_TLS_CERT is not the certificate that MPC_NODE_PEER_CERTS holds for node ${files.index}`);
    }
    this.signingKey = privateKey(files.key);
    if (!own.checkPrivateKey(this.signingKey)) throw new ConfigError('MPC_NODE_TLS_KEY is not the key of MPC_NODE_TLS_CERT');
    this.keys = toNodeKeys(this.pins, files.formerCerts);
  }

  /** Public key that verifies what a node signs now: round messages, and the entry that belongs to them. */
  getPublicKey(party: NodeIndex): KeyObject {
    return this.getKeys(party)[0];
  }

  /** Public keys that verify what a node has signed at any time. */
  getKeys(party: NodeIndex): PublicKeys {
    const keys = this.keys.get(party);
    if (!keys) throw new Error(`no certificate for node ${party}`);
    return keys;
  }

  /** The peer whose pinned certificate has this SHA-256 fingerprint (AA:BB:…). */
  findParty(fingerprint256: string | undefined): NodeIndex | undefined {
    return this.others.find((party) => this.pins.get(party)?.fingerprint256 === fingerprint256);
  }
}

function readPins(peerCerts: string): Map<NodeIndex, X509Certificate> {
  const pins = new Map<NodeIndex, X509Certificate>();
  for (const { party, certificate: pin } of readCertificates('MPC_NODE_PEER_CERTS', peerCerts)) {
    if (pins.has(party)) throw new ConfigError(`MPC_NODE_PEER_CERTS holds two certificates for node ${party}`);
    pins.set(party, pin);
  }
  const missing = nodeIndexes.filter((party) => !pins.has(party));
  if (missing.length > 0) throw new ConfigError(`MPC_NODE_PEER_CERTS has no certificate for node ${missing.join(' and ')}`);
  return pins;
}

function* readCertificates(variable: string, pems: string): Iterable<{ party: NodeIndex; certificate: X509Certificate }> {
  for (const pem of pems.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []) {
    const read = certificate(variable, pem);
    const party = toNodeIndex(read);
    if (party === undefined)
      throw new ConfigError(`${variable} holds a certificate whose common name is not mpc-node-1, -2 or -3`);
    if (!isP256(read.publicKey))
      throw new ConfigError(`${variable}: the certificate of node ${party} is not for an EC P-256 key`);
    yield { party, certificate: read };
  }
}

function certificate(variable: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new ConfigError(`${variable} is not a PEM certificate`);
  }
}

function privateKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new ConfigError('MPC_NODE_TLS_KEY is not a PEM private key');
  }
  if (!isP256(key)) throw new ConfigError('MPC_NODE_TLS_KEY is not an EC P-256 key');
  return key;
}

const isP256 = (key: KeyObject): boolean =>
  key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1';

function toNodeIndex(pin: X509Certificate): NodeIndex | undefined {
  const name = /^CN=mpc-node-([123])$/m.exec(pin.subject)?.[1];
  const party = Number(name);
  return isNodeIndex(party) ? party : undefined;
}
