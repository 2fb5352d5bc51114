import { findNamedSettler, schemesOf } from '../chains/payment-methods';
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
  const kinds = ([2, 1] as const).flatMap((version) => served.flatMap((it) => kindsOf(version, it)));
  return { kinds, extensions: extensionsOf(served), signers };
}

const schemesIn = (version: 1 | 2, { chain }: ServedChain): PaymentScheme[] =>
  schemesOf(chain.family).filter((scheme) => schemes[version].includes(scheme));

/** Whom payers are told to name who have to name who settles: without a primary settler there is nobody. */
function extraOf({ chain, settlers }: ServedChain, scheme: PaymentScheme): { extra?: Record<string, string> } | null {
  const named = findNamedSettler(chain.family, scheme);
  const primary = settlers.find(({ isPrimary, isActive }) => isPrimary && isActive);
  if (!named) return {};
  return primary ? { extra: { [named.field]: primary.address } } : null;
}

function kindsOf(version: 1 | 2, served: ServedChain): KindView[] {
  const network = version === 1 ? networkNameV1(served.chain) : served.chain.caip2;
  return schemesIn(version, served).flatMap((scheme): KindView[] => {
    const extra = extraOf(served, scheme);
    return extra ? [{ x402Version: version, scheme, network, ...extra }] : [];
  });
}

const extensionsOf = (served: ServedChain[]): string[] => [
  ...(served.some(({ policy }) => policy.sponsorsPermit) ? ['eip2612GasSponsoring'] : []),
  ...(served.some(({ policy }) => policy.sponsorsApproval) ? ['erc20ApprovalGasSponsoring'] : []),
];
