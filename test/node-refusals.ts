import { type KeyObject } from 'node:crypto';
import { type NodeIndex, nodeIndexes } from '../src/messages/nodes';
import type { SigningClaims } from '../src/messages/order';
import type { SignedRefusal } from '../src/messages/signing';
import type { NodeKeys } from '../src/mpc/identity';
import type { RefusalFields } from '../src/mpc/policy-refusal';
import { signStatement, type StatementType, toWire } from '../src/mpc/statement';
import { newKeyPair } from './keys';

/** Identities of three nodes of a test run, and what the authoriser knows them by. */
const newPairs = () => new Map(nodeIndexes.map((node) => [node, newKeyPair('P-256')]));
const pairs = newPairs();
const formerPairs = newPairs();
export const nodeKeys: NodeKeys = new Map(
  nodeIndexes.map((node) => [node, [pairs.get(node)!.publicKey, formerPairs.get(node)!.publicKey]]),
);
/** What a node signs with. */
export const keyOf = (node: NodeIndex): KeyObject => pairs.get(node)!.privateKey;
/** What it signed with before its identity was replaced. */
export const formerKeyOf = (node: NodeIndex): KeyObject => formerPairs.get(node)!.privateKey;

type Refused = Pick<SigningClaims, 'tx_id' | 'attempt'>;

/** What a node answers when its limits do not allow a first attempt; `changes` of a test that forges it. */
export function signRefusal(
  node: NodeIndex,
  { tx_id, attempt }: Refused,
  { by = node, type = 'refusal', ...changes }: Partial<RefusalFields> & { by?: NodeIndex; type?: StatementType } = {},
): SignedRefusal {
  const fields: RefusalFields = {
    ...{ node, tx_id, attempt, kind: 'first', key_id: 'key', order_hash: '00'.repeat(32), chain: 'chain', token: '' },
    ...{ amount: '1', fee: '1', reason: 'the token is not allowed', refused_at: new Date().toISOString() },
    ...changes,
  };
  return toWire(signStatement(type, fields, keyOf(by)));
}
