import { Counter, Histogram } from 'prom-client';
import { metrics } from '../platform/metrics';
import { getTracer, traced } from '../platform/tracing/tracing';

const requests = new Counter({
  name: 'gateway_rpc_requests_total',
  help: 'Calls of chain nodes. outcome: answered; refused (the node has answered with an error); failed (no usable answer in time)',
  labelNames: ['chain', 'host', 'method', 'outcome'] as const,
  registers: [metrics],
});

const durations = new Histogram({
  name: 'gateway_rpc_request_duration_seconds',
  help: 'Duration of calls of chain nodes, whatever their outcome; with repetitions, the wait for their turn, and on Solana the reading of large blocks',
  labelNames: ['chain', 'method'] as const,
  buckets: [0.005, 0.025, 0.1, 0.25, 1, 2.5, 10, 60],
  registers: [metrics],
});

/** `method`: one of a fixed set, never with an id or an address in it. */
export type ObserveCall = <T>(method: string, call: () => Promise<T>) => Promise<T>;

export interface ObservedEndpoint {
  /** Name of the chain. */
  chain: string;
  /** Of the endpoint: its host alone is shown, since the rest may contain a key. */
  url: string;
  /** Whether an error is what the node says about the call. */
  isRefusal: (error: unknown) => boolean;
}

/**
 * Counts the calls of one endpoint, and how long they take; where there are traces, each is a span below that of its caller. What the call
 * gives or throws is passed on.
 */
export function observeCalls({ chain, url, isRefusal }: ObservedEndpoint): ObserveCall {
  const { host, hostname } = new URL(url);
  const measured: ObserveCall = async (method, call) => {
    const startedAt = performance.now();
    let outcome = 'answered';
    try {
      return await call();
    } catch (error) {
      outcome = isRefusal(error) ? 'refused' : 'failed';
      throw error;
    } finally {
      requests.inc({ chain, host, method, outcome });
      durations.observe({ chain, method }, (performance.now() - startedAt) / 1_000);
    }
  };
  return (method, call) => {
    if (!getTracer()) return measured(method, call);
    const attributes = { 'gateway.chain': chain, 'rpc.method': method, 'server.address': hostname };
    return traced(`rpc ${method}`, { kind: 'client', attributes }, () => measured(method, call));
  };
}
