import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import type { OrderKeys } from '../mpc/order-keys';
import { type AskForOrders, fromEach, readJti } from '../orders/node-orders';

/** Each is a workflow of its own. */
const maxQuestions = 20;
/** No question begins later than this after the first answers, which show the nodes that are down: an operator waits. */
const askForMs = 5_000;

export interface NumberedOrder {
  jti: string;
  seq: number;
}

/**
 * Signed orders in compact form, by jti, from the nodes that have acted on them: they keep them for ever, Temporal does not. What no key
 * of `keys` has signed is left out, so that a node that lies hides nothing that another one shows; null: nothing is verified here. A
 * node that has not answered once is not asked again.
 */
export async function findKeptOrders(
  ask: AskForOrders,
  keys: OrderKeys | null,
  wanted: readonly NumberedOrder[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let lastAt = Infinity;
  let nodes: readonly NodeIndex[] = nodeIndexes;
  let rest = [...wanted].sort((a, b) => a.seq - b.seq);
  for (let question = 0; question < maxQuestions && nodes.length > 0 && Date.now() <= lastAt; question += 1) {
    const [next, ...others] = rest;
    if (!next) break;
    const given = (await ask(fromEach(next.seq - 1, nodes))).filter((response) => 'answer' in response);
    if (question === 0) lastAt = Date.now() + askForMs;
    nodes = nodes.filter((node) => given.some((response) => response.node === node));
    for (const { compact } of given.flatMap(({ answer }) => answer.orders)) {
      const jti = readJti(compact);
      if (rest.some((order) => order.jti === jti) && jti !== null && (await isSigned(compact, keys))) found.set(jti, compact);
    }
    rest = others.filter(({ jti }) => !found.has(jti));
  }
  return found;
}

async function isSigned(compact: string, keys: OrderKeys | null): Promise<boolean> {
  if (keys === null) return true;
  try {
    return (await keys.open(compact)).isOrder;
  } catch {
    return false;
  }
}
