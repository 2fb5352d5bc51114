import { randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { decodeJwt } from 'jose';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import type { OrderPositions, OrdersQuestion } from '../messages/seen-orders';
import { readOrdersWorkflowId, workflowTypes } from '../messages/workflow-ids';
import type { NodeKeys } from '../mpc/identity';
import { type OrdersAnswer, readOrdersAnswer } from '../mpc/orders-answer';
import { isUuid } from '../platform/ids';
import { askNodes } from './ask-nodes';

/** What one node says; `problem`: why there is no answer, or none that counts. */
export type NodeOrders = { node: NodeIndex } & ({ answer: OrdersAnswer } | { problem: string });

/** Asks nodes at once which orders they have acted on. */
export type AskForOrders = (after: OrderPositions) => Promise<NodeOrders[]>;

/** The same question for each of these nodes. `after`: for orders with higher numbers; null: only for the newest one. */
export const fromEach = (after: number | null, nodes: readonly NodeIndex[] = nodeIndexes): OrderPositions =>
  Object.fromEntries(nodes.map((node) => [node, after]));

/** Through the nodes' task queues; the answers are verified with the nodes' certificates. */
export const asksForOrders =
  (temporal: Client, keys: NodeKeys): AskForOrders =>
  async (after) => {
    const nonce = randomBytes(16).toString('hex');
    const request: OrdersQuestion = { after, nonce };
    const workflowId = readOrdersWorkflowId(request);
    const answers = await askNodes(temporal, { workflowType: workflowTypes.readOrders, workflowId, request });
    return answers.map((given): NodeOrders => {
      const { node } = given;
      if ('problem' in given) return given;
      try {
        return { node, answer: readOrdersAnswer(given.answer, node, { after: after[node] ?? null, nonce }, keys) };
      } catch (error) {
        return { node, problem: (error as Error).message };
      }
    });
  };

/** The id that an order in compact form claims, unverified; null for anything else. */
export function readJti(compact: string): string | null {
  try {
    const { jti } = decodeJwt(compact);
    return typeof jti === 'string' && isUuid(jti) ? jti : null;
  } catch {
    return null;
  }
}

/** The number that an order in compact form claims, unverified; 0 for anything else. */
export function readNumber(compact: string): number {
  try {
    const { seq } = decodeJwt(compact);
    return Number.isSafeInteger(seq) ? (seq as number) : 0;
  } catch {
    return 0;
  }
}
