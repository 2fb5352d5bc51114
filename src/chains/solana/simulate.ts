import type { EndpointList } from '../endpoints';
import type { JsonValue } from '../types';
import type { SolanaNode } from './node';

/**
 * The error of a transaction that somebody else has made, or null, on the state that two thirds of the stake have voted for: payers refer to
 * blocks that are not final yet. A node that lags does not know the newest of these: an unknown block hash counts once every endpoint has said
 * so.
 * @param transaction in wire format; its signatures are not looked at
 * @throws GatewayError chain_unavailable when no endpoint could tell.
 */
export async function simulateOffered(
  endpoints: Pick<EndpointList<SolanaNode>, 'run' | 'size'>,
  transaction: Buffer,
): Promise<JsonValue> {
  let unknownTo = 0;
  try {
    return await endpoints.run(async (node) => {
      const { error } = await node.simulate(transaction, 'confirmed');
      if (error !== blockhashNotFound) return error;
      unknownTo += 1;
      throw new Error('the block hash has expired, or is unknown to the node');
    });
  } catch (error) {
    if (unknownTo === endpoints.size) return blockhashNotFound;
    throw error;
  }
}

/** Of TransactionError: it has expired, or is newer than what the node has. */
export const blockhashNotFound = 'BlockhashNotFound';
