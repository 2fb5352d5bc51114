import type Joi from 'joi';
import type { SignedAnswer } from '../messages/journal';
import type { NodeIndex } from '../messages/nodes';
import { findFault } from '../platform/untrusted';
import type { NodeKeys } from './identity';
import { fromWire, parseStatement, type StatementType, verifyStatement } from './statement';

/** @throws Error unless the node itself has signed the answer now, and it has the fields of `schema`. */
export function readSignedAnswer<T extends object>(
  type: StatementType,
  answer: SignedAnswer,
  node: NodeIndex,
  keys: NodeKeys,
  schema: Joi.ObjectSchema<T>,
): T {
  const signed = fromWire(answer);
  // it is signed now: a former key is not enough
  const [key] = keys.get(node) ?? [];
  if (!key || !verifyStatement(type, signed, key)) throw new Error('its signature does not verify');
  const value = parseStatement(signed);
  const fault = findFault(schema, value);
  if (fault !== null) throw new Error(`it is malformed: ${fault || 'answer'}`);
  return value as T;
}

/** The first items that have `maxLength` characters together, but at least one. */
export function withinLength<T>(items: T[], maxLength: number, getLength: (item: T) => number): T[] {
  let length = 0;
  const end = items.findIndex((item) => (length += getLength(item)) > maxLength);
  return end < 0 ? items : items.slice(0, Math.max(end, 1));
}
