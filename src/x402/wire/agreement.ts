import type { Reason } from '../reasons';
import type { Kind } from './payload';
import type { WireTerms } from './terms';

type Field = 'scheme' | 'network' | 'asset' | 'payTo' | 'amount';

const reasons: Record<'eip3009' | 'permit2' | 'upto', Record<Field, Reason>> = {
  eip3009: {
    scheme: 'invalid_exact_evm_scheme',
    network: 'invalid_exact_evm_network_mismatch',
    asset: 'invalid_payment_requirements',
    payTo: 'invalid_exact_evm_recipient_mismatch',
    amount: 'invalid_exact_evm_payload_authorization_value_mismatch',
  },
  permit2: {
    scheme: 'unsupported_payload_type',
    network: 'invalid_exact_evm_network_mismatch',
    asset: 'permit2_token_mismatch',
    payTo: 'invalid_permit2_recipient_mismatch',
    amount: 'permit2_amount_mismatch',
  },
  upto: {
    scheme: 'invalid_upto_evm_scheme',
    network: 'invalid_upto_evm_network_mismatch',
    asset: 'permit2_token_mismatch',
    payTo: 'invalid_permit2_recipient_mismatch',
    amount: 'permit2_amount_mismatch',
  },
};

/** The reason for terms that differ, named as the official packages name it for what the payer has signed. */
export function disagreement({ scheme, payloadType }: Kind, field: Field): Reason {
  return reasons[scheme === 'upto' ? 'upto' : payloadType][field];
}

/**
 * What the payer says it has accepted against what the resource server asks for. `extra` may differ: servers add hints to it. The
 * amount of an upto payment differs when it is settled (see amount.ts).
 */
export function compareTerms(accepted: WireTerms, requirements: WireTerms, kind: Kind): Reason | null {
  const differs = (field: 'asset' | 'payTo'): boolean => accepted[field].toLowerCase() !== requirements[field].toLowerCase();
  if (differs('asset')) return disagreement(kind, 'asset');
  if (differs('payTo')) return disagreement(kind, 'payTo');
  return kind.scheme === 'exact' && accepted.amount !== requirements.amount ? disagreement(kind, 'amount') : null;
}
