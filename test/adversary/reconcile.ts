import { gateway } from '../e2e/gateway';
import { waitFor } from '../stack/client';
import { pids } from '../stack/pause';
import { environmentOf, gatewayQuery } from './processes';

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

/** Resolves when the gateway has closed itself, since a node knows orders that the database does not have. */
export async function closedForMissing(): Promise<void> {
  // the next comparison is due now; if one is running at this moment, the next follows after a minute
  await gatewayQuery(`update order_comparison set compared_at = compared_at - interval '1 minute'`);
  const missing = async () => (await gatewayQuery('select from order_comparison where missing_since is not null')).length > 0;
  await waitFor(missing, { timeoutMs: 180_000 });
}

interface Reconciled {
  rows: { subject: string; result: string }[];
  is_open: boolean;
}

/** What `gateway reconcile --apply` leaves closed is accepted by name; the gateway is open again. Returns what it was. */
export async function acceptMissing(): Promise<Reconciled['rows']> {
  const { code, out } = await reconcile('--apply');
  const { rows, is_open: isOpen } = JSON.parse(out) as Reconciled;
  expect([code === 0, isOpen]).toEqual([false, false]);
  const accepted = await reconcile('--apply', '--yes', '--accept-missing', ...rows.map(({ subject }) => subject));
  expect(JSON.parse(accepted.out)).toMatchObject({ is_open: true });
  return rows;
}
