import type { PaymentMethod, PaymentScheme } from '../../chains/payments';
import type { Reason } from '../reasons';
import type { WireTerms } from './terms';

/**
 * What the payer says it has accepted against what the resource server asks for. `extra` may differ: servers add hints to it. The
 * amount of an upto payment differs when it is settled (see amount.ts).
 */
export function compareTerms(
  accepted: WireTerms,
  requirements: WireTerms,
  scheme: PaymentScheme,
  method: PaymentMethod,
): Reason | null {
  if (accepted.scheme !== requirements.scheme) return method.disagreement(scheme, 'scheme');
  if (accepted.network !== requirements.network) return method.disagreement(scheme, 'network');
  const differs = (field: 'asset' | 'payTo'): boolean =>
    method.normalise(accepted[field]) !== method.normalise(requirements[field]);
  if (differs('asset')) return method.disagreement(scheme, 'asset');
  if (differs('payTo')) return method.disagreement(scheme, 'payTo');
  return scheme === 'exact' && accepted.amount !== requirements.amount ? method.disagreement(scheme, 'amount') : null;
}
