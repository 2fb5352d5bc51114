import type { EntityManager } from 'typeorm';
import { GatewayError } from '../../platform/errors';
import { formatAmount } from '../../platform/money';
import type { BoundRequest } from '../family';
import { findFeeLevels } from '../fee-levels';
import { findUnspent } from '../outputs';
import { toOutputScript, toScript } from './codec/address';
import { maxInputs } from './codec/transaction';
import { toBoundRate } from './fees';
import type { BitcoinNetwork } from './network';
import { maxOutputs } from './reserve';
import { selectCoins } from './select';
import { dustLimit, virtualSize } from './sizes';

/**
 * The fee of the inputs that would be chosen now, if no other transfer held any, at the rate for which fees are locked; of as many inputs
 * as there are where they do not suffice; of the most inputs, where small outputs are joined.
 * @throws GatewayError chain_unavailable; business_error for an amount that nodes do not relay.
 */
export async function boundFee(
  network: BitcoinNetwork,
  manager: EntityManager,
  { chain, source, outputs, gather, levels }: BoundRequest,
): Promise<bigint> {
  const rate = toBoundRate(levels ?? (await findFeeLevels(manager, chain)));
  if (gather) return rate * virtualSize(gather.maxInputs, [toScript(source.addressKey)]);
  const payments = outputs.map(({ recipient, amount }) => ({ script: toOutputScript(network, recipient), amount }));
  for (const { script, amount } of payments) {
    const smallest = dustLimit(script);
    if (amount < smallest)
      throw new GatewayError(
        'business_error',
        `Less than ${formatAmount(smallest, chain.native.decimals)} ${chain.native.symbol} cannot be sent to this address`,
      );
  }
  const available = await findUnspent(manager, source, maxOutputs);
  const script = toScript(source.addressKey);
  const selected = selectCoins(network, { script, payments, rate, outbid: 0n, required: [], available });
  if (selected.outcome === 'selected') return rate * selected.size;
  const scripts = [...payments.map((payment) => payment.script), script];
  return rate * virtualSize(Math.min(Math.max(available.length, 1), maxInputs), scripts);
}
