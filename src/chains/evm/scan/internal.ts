import type { ChainDefinition, Hex } from '../../types';
import { EndpointFault } from '../../endpoints';
import { DoubtfulRefusal } from '../batch';
import { NodeRefusal, type RpcCall } from '../rpc';
import type { RpcBlock, RpcTrace, RpcTransaction } from '../rpc-types';
import { type Candidate, isPayment } from './candidates';

/** First position of value received through a contract's internal call; logs of a receipt never reach it. */
const internalPositions = 1_000_000;

/** What `capabilities` knows of the method: true, or since when it is missing (ms of the clock). */
const method = 'trace_block';
/** What `capabilities` knows of an endpoint that has traced: since when it does not any more (ms of the clock). */
const lost = `${method} lost`;
/** An endpoint without the method is asked again after this long: it may have been configured since. */
export const askAgainMs = 10 * 60_000;

/** Whether the last that an endpoint has said of traces is that it has none. */
export const lacksTraces = (capabilities: ReadonlyMap<string, unknown>): boolean => typeof capabilities.get(method) === 'number';

interface InternalCandidates {
  candidates: Candidate[];
  /** The endpoint does not trace: there may be others. */
  isUntraced?: true;
}

/**
 * Native value that contracts pass on. Only an endpoint that does not have the method is one without traces; whatever else goes wrong is a
 * failure of the scan, which is made again, at another endpoint or later.
 * @throws EndpointFault where `chain` requires traces and the endpoint has none, or where it has had them within the last ten minutes; Error.
 */
export async function internalCandidates(
  call: RpcCall,
  chain: ChainDefinition,
  blocks: RpcBlock[],
  capabilities: Map<string, unknown>,
): Promise<InternalCandidates> {
  const known = capabilities.get(method);
  if (typeof known === 'number' && Date.now() - known < askAgainMs) return untraced(chain);
  const traces = await Promise.all(blocks.map((block) => fetchTraces(call, block)));
  if (traces.every((list) => list !== null)) {
    capabilities.set(method, true);
    capabilities.delete(lost);
    return { candidates: traces.flatMap((list, index) => inBlock(blocks[index] as RpcBlock, list)) };
  }
  const now = Date.now();
  if (traces.some((list) => list !== null)) capabilities.set(method, true);
  if (capabilities.get(method) === true) {
    // one of several nodes behind the endpoint may lack it
    const lostAt = capabilities.get(lost);
    if (typeof lostAt !== 'number') capabilities.set(lost, now);
    if (typeof lostAt !== 'number' || now - lostAt < askAgainMs)
      throw new EndpointFault('traces_missing', `${method} has been offered, and is not any more`);
  }
  capabilities.set(method, now);
  return untraced(chain);
}

function untraced({ requiresTraces }: ChainDefinition): InternalCandidates {
  if (requiresTraces) throw new EndpointFault('traces_missing', `no endpoint that answers offers ${method}`);
  return { candidates: [], isUntraced: true };
}

/** null: the endpoint does not have the method. @throws Error. */
async function fetchTraces(call: RpcCall, block: RpcBlock): Promise<RpcTrace[] | null> {
  const traces = await call<RpcTrace[] | null>(method, [block.number]).catch((error: unknown) => {
    if (isMissingMethod(error)) return 'missing' as const;
    // not a refusal: another endpoint may trace
    throw error instanceof NodeRefusal ? new Error(`${method} was refused with code ${error.code}`) : error;
  });
  if (traces === 'missing') return null;
  if (traces === null || (traces.length === 0 && block.transactions.some(isExecuted)))
    throw new Error('the endpoint has not traced a block that it has');
  return traces;
}

/** Not one that the chain itself puts into its blocks, which some nodes do not trace. */
const isExecuted = ({ gas, gasPrice }: RpcTransaction): boolean => BigInt(gas) > 0n && BigInt(gasPrice ?? '0x0') > 0n;

/** JSON-RPC 2.0: method not found. */
const missingCode = -32601;
/**
 * How else the method is denied, by code, which may have other meanings: "method not supported" by EIP-1474, unless the words are about a block or
 * the moment; Infura, before it took -32601; Alchemy and 1RPC; OP Labs' proxyd; Besu; dRPC, which says the same of whole chains.
 */
const missingWords = new Map([
  [-32004, /^(?!.*\b(block|header|state|data|transaction|now|moment|temporarily|later|again|rate|limit)\b)/is],
  [-32000, new RegExp(`^the method ${method} does not exist ?/ ?is not available\\.?$`, 'i')],
  [
    -32600,
    new RegExp(
      `^(unsupported method: ${method}\\b|${method} is not available on the \\w+ tier\\b|method ${method} not allowed$)`,
      'i',
    ),
  ],
  [-32001, /^rpc method is not whitelisted$/i],
  [-32604, /^method not enabled$/i],
  [35, /^method is not available on freetier\b/i],
]);

/** Also with the HTTP status of a failure (dRPC 400, Base 403), where it names this very call. */
function isMissingMethod(error: unknown): boolean {
  const refusal = error instanceof DoubtfulRefusal ? error.refusal : error;
  if (!(refusal instanceof NodeRefusal)) return false;
  return refusal.code === missingCode || missingWords.get(refusal.code)?.test(refusal.nodeMessage) === true;
}

function inBlock(block: RpcBlock, traces: RpcTrace[]): Candidate[] {
  const byTransaction = new Map<Hex, RpcTrace[]>();
  for (const trace of traces) {
    if (trace.transactionHash)
      byTransaction.set(trace.transactionHash, [...(byTransaction.get(trace.transactionHash) ?? []), trace]);
  }
  return [...byTransaction].flatMap(([txHash, list]) => {
    const failed = list.filter(({ error }) => error).map(({ traceAddress }) => traceAddress);
    const undone = (address: number[]) => failed.some((prefix) => prefix.every((step, depth) => address[depth] === step));
    return list.flatMap((trace, index) => {
      const moved = valueMoved(trace);
      if (!moved || trace.traceAddress.length === 0 || undone(trace.traceAddress)) return [];
      const candidate: Candidate = {
        block,
        txHash,
        ...moved,
        tokenContract: null,
        position: internalPositions + index,
        logIndex: null,
      };
      return isPayment(candidate) ? [candidate] : [];
    });
  });
}

function valueMoved({ type, action }: RpcTrace): Pick<Candidate, 'fromKey' | 'toKey' | 'amount'> | null {
  if (type === 'call' && action.callType === 'call' && action.from && action.to) {
    return { fromKey: action.from.toLowerCase(), toKey: action.to.toLowerCase(), amount: BigInt(action.value ?? '0x0') };
  }
  if (type === 'suicide' && action.address && action.refundAddress) {
    return {
      fromKey: action.address.toLowerCase(),
      toKey: action.refundAddress.toLowerCase(),
      amount: BigInt(action.balance ?? '0x0'),
    };
  }
  return null;
}
