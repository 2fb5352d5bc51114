import type { OrderKeys } from '../mpc/order-keys';
import { type AskForOrders, readJti } from '../orders/node-orders';

/** Each is a workflow of its own, and takes as long as a node that is down. */
const maxQuestions = 20;

export interface NumberedOrder {
  jti: string;
  seq: number;
}

/**
 * Signed orders in compact form, by jti, from the nodes that have acted on them: they keep them for ever, Temporal does not. What no key
 * of `keys` has signed is left out, so that a node that lies hides nothing that another one shows; null: nothing is verified here.
 */
export async function findKeptOrders(
  ask: AskForOrders,
  keys: OrderKeys | null,
  wanted: readonly NumberedOrder[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let rest = [...wanted].sort((a, b) => a.seq - b.seq);
  for (let question = 0; question < maxQuestions; question += 1) {
    const [next, ...others] = rest;
    if (!next) break;
    const answers = (await ask(next.seq - 1)).flatMap((given) => ('answer' in given ? given.answer.orders : []));
    for (const { compact } of answers) {
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
