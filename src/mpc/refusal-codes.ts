import type { FailureCode } from '../platform/codes';

/** Refusals with a reason of this node's own; the code travels through peer and activity to the workflow. */
const refusals = [
  'intent_mismatch',
  'order_refused',
  'address_blacklisted',
  'key_peer_banned',
  'node_policy',
  'journal_behind',
  'reissue_unproven',
] as const satisfies FailureCode[];
export type Refusal = (typeof refusals)[number];

export const isRefusal = (code: string): code is Refusal => refusals.some((refusal) => refusal === code);
