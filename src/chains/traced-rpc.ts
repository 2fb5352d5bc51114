import { getTracer, traced } from '../platform/tracing/tracing';

/** Makes a call of the named method within a span, where the caller has one: `method` has no parameters in it. */
export type TracedRpc = <T>(method: string, call: () => Promise<T>) => Promise<T>;

/** Of calls to one endpoint of a chain. Of its url the span has the host alone: user, path and query may be an API key. */
export function traceRpc(chain: string, url: string): TracedRpc {
  const host = new URL(url).hostname;
  return (method, call) => {
    if (!getTracer()) return call();
    const attributes = { 'gateway.chain': chain, 'rpc.method': method, 'server.address': host };
    return traced(`rpc ${method}`, { kind: 'client', attributes }, call);
  };
}
