import { schemesOf } from '../chains/payment-methods';
import type { PaymentScheme } from '../chains/payments';
import { networkNameV1 } from './networks';
import type { KindView, SettledView, SupportedView, VerdictView } from './schema';
import type { ServedChain } from './served';
import type { Verdict } from './service';
import type { Settled } from './settlement/service';
import { schemes } from './wire/payload';

export const presentVerdict = ({ reason, payer }: Verdict): VerdictView => ({
  isValid: reason === null,
  invalidReason: reason,
  ...(payer !== undefined && { payer }),
});

export const presentSettled = ({ reason, hash, network, payer, txId, amount }: Settled): SettledView => ({
  success: reason === null,
  transaction: hash,
  network,
  ...(payer !== undefined && { payer }),
  ...(txId !== null && { txId }),
  ...(amount !== null && { amount: amount.toString() }),
  ...(reason !== null && { errorReason: reason }),
});

export function presentSupported(served: ServedChain[]): SupportedView {
  const signers: Record<string, string[]> = {};
  for (const { chain, settlers } of served) {
    const [namespace = ''] = chain.caip2.split(':');
    const known = (signers[`${namespace}:*`] ??= []);
    for (const { address, isActive } of settlers) if (isActive && !known.includes(address)) known.push(address);
  }
  return { kinds: [...served.flatMap(kindsV2), ...served.flatMap(kindsV1)], extensions: extensionsOf(served), signers };
}

const schemesIn = (version: 1 | 2, { chain }: ServedChain): PaymentScheme[] =>
  schemesOf(chain.family).filter((scheme) => schemes[version].includes(scheme));

/** What a payer signs for upto names who settles: without a primary settler nobody could be told whom to name. */
function kindsV2(served: ServedChain): KindView[] {
  const primary = served.settlers.find(({ isPrimary, isActive }) => isPrimary && isActive);
  const network = served.chain.caip2;
  return schemesIn(2, served).flatMap((scheme): KindView[] => {
    if (scheme === 'exact') return [{ x402Version: 2, scheme, network }];
    return primary ? [{ x402Version: 2, scheme, network, extra: { facilitatorAddress: primary.address } }] : [];
  });
}

const kindsV1 = (served: ServedChain): KindView[] =>
  schemesIn(1, served).map((scheme) => ({ x402Version: 1, scheme, network: networkNameV1(served.chain) }));

const extensionsOf = (served: ServedChain[]): string[] => [
  ...(served.some(({ policy }) => policy.sponsorsPermit) ? ['eip2612GasSponsoring'] : []),
  ...(served.some(({ policy }) => policy.sponsorsApproval) ? ['erc20ApprovalGasSponsoring'] : []),
];
