import type { KeyObject } from 'node:crypto';
import Joi from 'joi';
import { hasChildren, keyProtocols } from '../chains/key-protocols';
import type { Hex, KeyProtocol } from '../chains/types';
import type { KeyAttestation } from '../messages/key-generation';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import { toHex } from '../platform/hex';
import { reader } from '../platform/untrusted';
import type { NodeKeys } from './identity';
import { protocols } from './protocols';
import type { KeyOwner } from './share-cipher';
import { findSigner, fromWire, parseStatement, signStatement, toWire, wireStatementSchema } from './statement';

/** What a node says about a key: the fields of its statement. */
export interface AttestedFields {
  node: NodeIndex;
  key_id: string;
  wallet_id: string;
  client_id: string;
  /** Of a key without children, which is one account's; absent: the wallet's key. */
  account_id?: string;
  protocol: KeyProtocol;
  /** 33 bytes, compressed; of Ed25519 32 bytes. */
  public_key: Hex;
  /** 32 bytes; `0x` where keys have no children. */
  chain_code: Hex;
}

/** A key as a node has bound it. */
export interface BoundShare extends KeyOwner {
  keyId: string;
  protocol: KeyProtocol;
  publicKey: Buffer;
  chainCode: Buffer;
}

/** Largest text of an attestation. */
const maxLength = 1_000;
const hexString = (bytes: number) =>
  Joi.string()
    .pattern(new RegExp(`^0x[0-9a-f]{${2 * bytes}}$`))
    .required();
const fieldsOf = (protocol: KeyProtocol) =>
  Joi.object<AttestedFields>({
    node: Joi.number()
      .valid(...nodeIndexes)
      .required(),
    key_id: Joi.string().max(100).required(),
    wallet_id: Joi.string().uuid().required(),
    client_id: Joi.string().uuid().required(),
    account_id: hasChildren(protocol) ? Joi.forbidden() : Joi.string().uuid().required(),
    protocol: Joi.string().valid(protocol).required(),
    public_key: hexString(keyProtocols[protocol].publicKeyBytes),
    chain_code: hexString(keyProtocols[protocol].chainCodeBytes),
  });
const fields = Joi.alternatives<AttestedFields>(...protocols.map(fieldsOf)).required();
const wire = wireStatementSchema.keys({ text: Joi.string().max(maxLength).required() }).required();
const readFields = reader(fields);
const readWire = reader<KeyAttestation>(wire);

/** What a node signs about a key that it has bound. */
export function attestKey(node: NodeIndex, { keyId, protocol, ...key }: BoundShare, signingKey: KeyObject): KeyAttestation {
  const attested: AttestedFields = {
    node,
    key_id: keyId,
    wallet_id: key.walletId,
    client_id: key.clientId,
    ...(key.accountId !== undefined && { account_id: key.accountId }),
    protocol,
    public_key: toHex(key.publicKey),
    chain_code: toHex(key.chainCode),
  };
  return toWire(signStatement('key', attested, signingKey));
}

/** The fields of an attestation whose signature is not verified. @throws GatewayError invalid_parameter for anything else. */
export function parseAttestation(attestation: unknown): AttestedFields {
  return readFields(parseStatement(readWire(attestation)));
}

/** The fields of an attestation that the node itself has signed, with its present key or a former one; null for anything else. */
export function verifyAttestation(attestation: KeyAttestation, nodeKeys: NodeKeys): AttestedFields | null {
  const attested = tryParse(attestation);
  return attested && attestingKey(attestation, attested.node, nodeKeys) ? attested : null;
}

/** The key of the node that an attestation is signed with. */
export const attestingKey = (attestation: KeyAttestation, node: NodeIndex, nodeKeys: NodeKeys): KeyObject | undefined =>
  findSigner('key', fromWire(attestation), nodeKeys.get(node) ?? []);

function tryParse(attestation: KeyAttestation): AttestedFields | null {
  try {
    return parseAttestation(attestation);
  } catch {
    return null;
  }
}
