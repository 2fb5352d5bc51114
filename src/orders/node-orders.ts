import { randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { decodeJwt } from 'jose';
import type { NodeIndex } from '../messages/nodes';
import type { OrdersRequest } from '../messages/seen-orders';
import { readOrdersWorkflowId, workflowTypes } from '../messages/workflow-ids';
import type { NodeKeys } from '../mpc/identity';
import { type OrdersAnswer, readOrdersAnswer } from '../mpc/orders-answer';
import { isUuid } from '../platform/ids';
import { askNodes } from './ask-nodes';

/** What one node says; `problem`: why there is no answer, or none that counts. */
export type NodeOrders = { node: NodeIndex } & ({ answer: OrdersAnswer } | { problem: string });

/** Asks every node which orders it has acted on. `after`: for those with higher numbers; null: only for the newest one. */
export type AskForOrders = (after: number | null) => Promise<NodeOrders[]>;

/** Through the nodes' task queues; the answers are verified with the nodes' certificates. */
export const asksForOrders =
  (temporal: Client, keys: NodeKeys): AskForOrders =>
  async (after) => {
    const request: OrdersRequest = { after, nonce: randomBytes(16).toString('hex') };
    const workflowId = readOrdersWorkflowId(request);
    const answers = await askNodes(temporal, { workflowType: workflowTypes.readOrders, workflowId, request });
    return answers.map((given): NodeOrders => {
      const { node } = given;
      if ('problem' in given) return given;
      try {
        return { node, answer: readOrdersAnswer(given.answer, node, request, keys) };
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
