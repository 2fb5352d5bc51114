import type { Payment } from './payments';
import type { SettlementAction } from './types';

type Settled = Pick<
  Payment,
  'method' | 'payer' | 'nonce' | 'authorised' | 'validAfter' | 'validBefore' | 'signature' | 'sponsoring'
>;

/** What the transaction of a settlement does. An approval that the payer has signed is no part of it: it is a transaction of its own. */
export function toSettlementAction({
  method,
  payer,
  nonce,
  authorised,
  validAfter,
  validBefore,
  signature,
  sponsoring,
}: Settled): SettlementAction {
  const action: SettlementAction = {
    type: 'settlement',
    ...{ method, payer, nonce, authorised: authorised.toString(), signature },
    ...{ validAfter: validAfter.toString(), validBefore: validBefore.toString() },
  };
  if (sponsoring.type === 'deployment') return { ...action, deployment: { factory: sponsoring.factory, data: sponsoring.data } };
  if (sponsoring.type !== 'permit') return action;
  const { value, deadline, v, r, s } = sponsoring;
  return { ...action, permit: { value: value.toString(), deadline: deadline.toString(), v, r, s } };
}
