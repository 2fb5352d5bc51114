import { gateway } from '../e2e/gateway';
import { pids } from '../stack/pause';
import { environmentOf } from './processes';

/** `gateway reconcile`, as the operator: with the authoriser's keys, the nodes' certificates and the worker's endpoints. */
export function reconcile(...options: string[]) {
  const [authoriser = 0] = pids('authoriser');
  const [node = 0] = pids('mpc');
  const { DEPLOYMENT_ID, MPC_NODE_PEER_CERTS_FILE, CHAINS } = environmentOf(authoriser);
  const { MPC_NODE_ORDER_KEYS_FILE: ORDER_KEYS_FILE } = environmentOf(node);
  const [worker = 0] = pids('worker');
  const endpoints = Object.entries(environmentOf(worker)).filter(([name]) => name.startsWith('CHAIN_'));
  const env = { DEPLOYMENT_ID, MPC_NODE_PEER_CERTS_FILE, CHAINS, ORDER_KEYS_FILE, ...Object.fromEntries(endpoints) } as Record<
    string,
    string
  >;
  return gateway(['reconcile', ...options, '--json'], env);
}
