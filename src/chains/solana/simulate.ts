import type { EndpointList } from '../endpoints';
import type { JsonValue } from '../types';
import type { SolanaNode, Simulated } from './node';

/**
 * What becomes of a transaction that somebody else has made, on the state that two thirds of the stake have voted for: payers refer to
 * blocks that are not final yet. A node that lags does not know the newest of these: an unknown block hash counts once every endpoint has said
 * so.
 * @param transaction in wire format; its signatures are not looked at
 * @param check throws where another endpoint is to be asked because of this error of the simulation (null: none)
 * @throws GatewayError chain_unavailable when no endpoint could tell; as EndpointList.run for what `check` throws.
 */
export async function simulateOffered(
  endpoints: Pick<EndpointList<SolanaNode>, 'run' | 'size'>,
  transaction: Buffer,
  check: (error: JsonValue) => void = () => undefined,
): Promise<Simulated> {
  const unknown: Simulated[] = [];
  try {
    return await endpoints.run(async (node) => {
      const simulated = await node.simulate(transaction, 'confirmed');
      check(simulated.error);
      if (simulated.error !== blockhashNotFound) return simulated;
      unknown.push(simulated);
      throw new Error('the block hash has expired, or is unknown to the node');
    });
  } catch (error) {
    const [first] = unknown;
    if (first && unknown.length === endpoints.size) return first;
    throw error;
  }
}

/** Of TransactionError: it has expired, or is newer than what the node has. */
export const blockhashNotFound = 'BlockhashNotFound';
