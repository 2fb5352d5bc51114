/** JSON-RPC 2.0 before the chain: one endpoint's answer to one request. */
import { accountMethods } from './account-methods';
import { blockMethods, type Method } from './block-methods';
import { Busy, type Chain } from './chain';
import { distort, type EndpointFaults, type Faults } from './faults';
import { isObject, type Json, type JsonObject } from './json';
import { RpcError, slotSkipped } from './rpc-error';
import { sendingMethods } from './sending-methods';
import { heightsOf, type Heights, View } from './view';

export interface Served {
  chain: Chain;
  faults: Faults;
  genesisHash: string;
}

export function methodsOf({ chain, faults, genesisHash }: Served): Record<string, Method> {
  const submit = sendingMethods((decoded, tries) => chain.submit(decoded, tries, faults.next(decoded.messageKey)));
  return { ...blockMethods, ...accountMethods, ...submit, getGenesisHash: () => genesisHash };
}

/** Never throws for what a client can ask. */
export function answer(served: Served, methods: Record<string, Method>, endpoint: EndpointFaults, request: Json): JsonObject {
  const id = isObject(request) ? (request.id ?? null) : null;
  if (!isObject(request) || typeof request.method !== 'string') return failure(id, new RpcError(-32_600, 'Invalid request'));
  const method = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
  if (!method) return failure(id, new RpcError(-32_601, 'Method not found'));
  const params = request.params ?? [];
  if (!Array.isArray(params)) return failure(id, new RpcError(-32_602, 'Invalid params: expected a list'));
  try {
    const view = new View(served.chain, shownHeights(served.chain, endpoint));
    if (endpoint.lie === 'skipped' && request.method === 'getBlock') hideFull(served.chain, params[0]);
    const result = distort(endpoint.lie, request.method, method(view, params));
    return { jsonrpc: '2.0', result, id };
  } catch (error) {
    if (error instanceof RpcError) return failure(id, error);
    if (error instanceof Busy) return failure(id, new RpcError(-32_005, error.message));
    throw error;
  }
}

function shownHeights(chain: Chain, { lie, stoppedAt }: EndpointFaults): Heights {
  const heights = stoppedAt ?? heightsOf(chain);
  return lie === 'finalized'
    ? { processed: heights.processed, confirmed: heights.processed, finalized: heights.processed }
    : heights;
}

function hideFull({ history }: Chain, slot: Json | undefined): void {
  if (typeof slot === 'number' && (history.bySlot(slot)?.transactions.length ?? 0) > 0) throw slotSkipped(slot);
}

const failure = (id: Json, { code, message, data }: RpcError): JsonObject => ({
  ...{ jsonrpc: '2.0', error: { code, message, ...(data === undefined ? {} : { data }) }, id },
});
