import { GatewayError } from '../../platform/errors';
import { type EndpointList, NotEstimated } from '../endpoints';
import type { ChainDefinition, Prepared, TransactionIntent } from '../types';
import { createSolanaCodec } from './codec';
import { decodeSettlement, withoutSettler } from './codec/settlement';
import { networkOf } from './network';
import type { SolanaNode } from './node';
import { isOfSettler } from './payments/simulated';
import { blockhashNotFound, simulateOffered } from './simulate';

/**
 * The payer has made the whole message: whether the chain would execute it now is all that there is to ask.
 * @throws GatewayError expired, would_revert; not_estimated where the settler has less SOL than the fee, at every endpoint that answers.
 */
export async function prepareSettlement(
  endpoints: EndpointList<SolanaNode>,
  chain: ChainDefinition,
  intent: TransactionIntent,
): Promise<Prepared> {
  const codec = createSolanaCodec(networkOf(chain));
  const unsigned = codec.build({
    chain,
    intent,
    kind: 'first',
    prepared: { feeBound: '0', expiry: null, details: null },
    resources: [],
  });
  const { error, slot } = await simulateOffered(
    endpoints,
    withoutSettler(decodeSettlement(unsigned).transaction),
    (simulated) => {
      if (simulated !== null && isOfSettler(simulated))
        throw new NotEstimated(`${chain.name}: the settler has less SOL than the transaction takes`);
    },
  );
  if (error === blockhashNotFound) throw new GatewayError('expired', `${chain.name}: the block hash of the payment has expired`);
  if (error !== null) throw new GatewayError('would_revert', `${chain.name} would refuse this payment`);
  const prepared = codec.recover(unsigned, codec.describe(unsigned).maxNetworkFee);
  // the block that it refers to is this one or an earlier one: where to look for it
  return { ...prepared, expiry: { ...prepared.expiry, notAfter: slot } };
}
