import type { KeyObject } from 'node:crypto';
import Joi from 'joi';
import type { SignedAnswer } from '../messages/journal';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import { maxOrderLength } from '../messages/order';
import type { OrdersRequest } from '../messages/seen-orders';
import type { NodeKeys } from './identity';
import type { SeenOrder, SeenOrders } from './seen-orders';
import { readSignedAnswer, withinLength } from './signed-answer';
import { signStatement, toWire } from './statement';

/** Orders in one answer. */
const maxAnsweredOrders = 100;
/** Characters of the orders and bytes together, if there is more than one: an answer stays far below the limit of Temporal payloads. */
const maxAnsweredLength = 300_000;

/** What a node says about the orders that it has acted on; the orders themselves bear the authoriser's signature. */
export interface OrdersAnswer {
  /** The order with the highest number, in compact form; null: none yet. */
  newest: string | null;
  /** Oldest first. */
  orders: SeenOrder[];
  /** False when there are later ones. */
  is_complete: boolean;
}

/** Fields of the statement. */
interface OrdersAnswerFields extends OrdersAnswer {
  node: NodeIndex;
  after: number | null;
  nonce: string;
  /** ISO 8601. */
  answered_at: string;
}

const compact = Joi.string().max(maxOrderLength);
const schema = Joi.object<OrdersAnswerFields, true>({
  node: Joi.number()
    .valid(...nodeIndexes)
    .required(),
  after: Joi.number().integer().min(0).allow(null).required(),
  nonce: Joi.string().max(100).required(),
  answered_at: Joi.string().isoDate().required(),
  newest: compact.allow(null).required(),
  orders: Joi.array()
    .items(
      Joi.object<SeenOrder, true>({
        compact: compact.required(),
        unsigned: Joi.string()
          .pattern(/^0x([0-9a-f]{2})+$/)
          .allow(null)
          .required(),
      }),
    )
    .max(maxAnsweredOrders)
    .required(),
  is_complete: Joi.boolean().required(),
}).required();

/** The node's side. Changes nothing, and needs no order. */
export async function answerOrders(
  { self, seen, signingKey }: { self: NodeIndex; seen: SeenOrders; signingKey: KeyObject },
  { after, nonce }: OrdersRequest,
): Promise<SignedAnswer> {
  const [newest, found] = await Promise.all([seen.newest(), after === null ? [] : seen.after(after, maxAnsweredOrders + 1)]);
  const orders = withinLength(found.slice(0, maxAnsweredOrders), maxAnsweredLength, getLength);
  const fields: OrdersAnswerFields = {
    node: self,
    after,
    nonce,
    answered_at: new Date().toISOString(),
    newest,
    orders,
    is_complete: orders.length === found.length,
  };
  return toWire(signStatement('orders', fields, signingKey));
}

const getLength = ({ compact: order, unsigned }: SeenOrder): number => order.length + (unsigned?.length ?? 0);

/** @throws Error unless it is this node's own answer to this request. Whose the orders in it are is not verified here. */
export function readOrdersAnswer(
  answer: SignedAnswer,
  node: NodeIndex,
  { after, nonce }: OrdersRequest,
  keys: NodeKeys,
): OrdersAnswer {
  const fields = readSignedAnswer('orders', answer, node, keys, schema);
  if (fields.node !== node || fields.after !== after || fields.nonce !== nonce) throw new Error('it answers another question');
  return fields;
}
