import { evmAuthoriser } from './evm/authorise/payload';
import { evmFamily } from './evm/family';
import { eip3009 } from './evm/payments/eip3009';
import { permit2 } from './evm/payments/permit2';
import type { NamedSettler, PayloadType, PaymentAuthoriser, PaymentMethod, PaymentRequest, PaymentScheme } from './payments';
import { solanaAuthoriser } from './solana/authorise/payload';
import { solanaFamilies } from './solana/family';
import { signedTransaction } from './solana/payments/transaction';
import type { ChainFamily } from './types';

const methods: ReadonlyMap<ChainFamily, readonly PaymentMethod[]> = new Map<ChainFamily, readonly PaymentMethod[]>([
  [evmFamily.name, [eip3009, permit2]],
  ...solanaFamilies.map(({ name }): [ChainFamily, readonly PaymentMethod[]] => [name, [signedTransaction]]),
]);

/** The schemes of a family, each once. */
export const schemesOf = (family: ChainFamily): PaymentScheme[] => [
  ...new Set((methods.get(family) ?? []).flatMap(({ schemes }) => schemes)),
];

/** How payers of a scheme name who settles; undefined: with one of its methods anybody may settle. */
export function findNamedSettler(family: ChainFamily, scheme: PaymentScheme): NamedSettler | undefined {
  const named = (methods.get(family) ?? [])
    .filter(({ schemes }) => schemes.includes(scheme))
    .map((method) => method.named?.[scheme]);
  return named.includes(undefined) ? undefined : named[0];
}

/** undefined: the family has no such method, or not with this scheme. */
export function findPaymentMethod(
  family: ChainFamily,
  { payloadType, scheme }: Pick<PaymentRequest, 'payloadType' | 'scheme'>,
): PaymentMethod | undefined {
  return methods.get(family)?.find((method) => method.payloadType === payloadType && method.schemes.includes(scheme));
}

/** What a payment is whose settlement is of this method; undefined: the family has no such method. */
export function findPaymentForm(
  family: ChainFamily,
  method: string,
): { method: PaymentMethod; payloadType: PayloadType; scheme: PaymentScheme } | undefined {
  for (const candidate of methods.get(family) ?? [])
    for (const scheme of candidate.schemes)
      if (candidate.settlementMethod(scheme) === method) return { method: candidate, payloadType: candidate.payloadType, scheme };
  return undefined;
}

const authorisers: ReadonlyMap<ChainFamily, PaymentAuthoriser> = new Map([
  [evmFamily.name, evmAuthoriser],
  ...solanaFamilies.map(({ name }): [ChainFamily, PaymentAuthoriser] => [name, solanaAuthoriser]),
]);

/** undefined: accounts of the family do not pay in this way. */
export const findAuthoriser = (family: ChainFamily): PaymentAuthoriser | undefined => authorisers.get(family);
