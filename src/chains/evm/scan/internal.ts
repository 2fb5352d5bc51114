import type { Hex } from '../../types';
import { NodeRefusal, type RpcCall } from '../rpc';
import type { RpcBlock, RpcTrace } from '../rpc-types';
import { type Candidate, isPayment } from './candidates';

/** First position of value received through a contract's internal call; logs of a receipt never reach it. */
const internalPositions = 1_000_000;

/** Native value that contracts pass on: found where the node offers trace_block (`capabilities` remembers whether it does), else none. */
export async function internalCandidates(
  call: RpcCall,
  blocks: RpcBlock[],
  capabilities: Map<string, unknown>,
): Promise<Candidate[]> {
  if (capabilities.get('trace_block') === false) return [];
  try {
    const traces = await Promise.all(blocks.map((block) => call<RpcTrace[] | null>('trace_block', [block.number])));
    capabilities.set('trace_block', true);
    return traces.flatMap((list, index) => inBlock(blocks[index] as RpcBlock, list ?? []));
  } catch (error) {
    // after the method has worked once, a failure is an outage and not a missing method: the deposit would never be found
    if (!(error instanceof NodeRefusal) || capabilities.get('trace_block') === true) throw error;
    capabilities.set('trace_block', false);
    return [];
  }
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
