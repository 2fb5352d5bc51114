import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { ConfigError } from '../platform/config';
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
}

/** Public keys that verify what the nodes sign. */
export type NodeKeys = ReadonlyMap<NodeIndex, KeyObject>;

/** The nodes' public keys, from their certificates. @throws ConfigError unless there is one certificate for each of the three. */
export function readNodeKeys(peerCerts: string): NodeKeys {
  return new Map([...readPins(peerCerts)].map(([party, pin]) => [party, pin.publicKey]));
}

/** Identity of this node and of its peers: one pinned certificate per node. */
export class Identity {
  readonly index: NodeIndex;
  readonly others: readonly NodeIndex[];
  readonly signingKey: KeyObject;
  private readonly pins: ReadonlyMap<NodeIndex, X509Certificate>;

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
  }

  /** Public key that verifies the round messages of a node. */
  publicKeyOf(party: NodeIndex): KeyObject {
    const pin = this.pins.get(party);
    if (!pin) throw new Error(`no certificate for node ${party}`);
    return pin.publicKey;
  }

  /** The peer whose pinned certificate has this SHA-256 fingerprint (AA:BB:…). */
  partyOf(fingerprint256: string | undefined): NodeIndex | undefined {
    return this.others.find((party) => this.pins.get(party)?.fingerprint256 === fingerprint256);
  }
}

function readPins(peerCerts: string): Map<NodeIndex, X509Certificate> {
  const pins = new Map<NodeIndex, X509Certificate>();
  for (const pem of peerCerts.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []) {
    const pin = certificate('MPC_NODE_PEER_CERTS', pem);
    const party = toNodeIndex(pin);
    if (party === undefined)
      throw new ConfigError('MPC_NODE_PEER_CERTS holds a certificate whose common name is not mpc-node-1, -2 or -3');
    if (pins.has(party)) throw new ConfigError(`MPC_NODE_PEER_CERTS holds two certificates for node ${party}`);
    if (!isP256(pin.publicKey))
      throw new ConfigError(`MPC_NODE_PEER_CERTS: the certificate of node ${party} is not for an EC P-256 key`);
    pins.set(party, pin);
  }
  const missing = nodeIndexes.filter((party) => !pins.has(party));
  if (missing.length > 0) throw new ConfigError(`MPC_NODE_PEER_CERTS has no certificate for node ${missing.join(' and ')}`);
  return pins;
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
