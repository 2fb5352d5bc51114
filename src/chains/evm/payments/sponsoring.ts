import type { PaymentContext, PaymentRequest } from '../../payments';
import type { JsonObject } from '../../types';
import { readApproval } from './approval';
import type { NeededAllowance, SponsoringResult } from './extension-fields';
import { readTokenPermit } from './eip2612';

/** The permit wins if the payer sends both. What is incomplete, or not offered to the caller, counts as absent. */
export function readSponsoring(
  { extensions: { permit, approval }, chain }: PaymentRequest,
  needed: NeededAllowance,
  { now, sponsors }: PaymentContext,
): SponsoringResult {
  if (sponsors.permit && permit && hasAll(permit, ['nonce', 'deadline', 'signature']))
    return readTokenPermit(permit, needed, now);
  if (sponsors.approval && approval && hasAll(approval, ['signedTransaction'])) return readApproval(approval, needed, chain);
  return { type: 'none' };
}

const hasAll = (info: JsonObject, names: string[]): boolean =>
  ['from', 'asset', 'spender', 'amount', 'version', ...names].every((name) => Boolean(info[name]));
