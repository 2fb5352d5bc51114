import type { FailureCode } from '../platform/codes';

/** What a node refuses on the merits, and no other pair of nodes would cure. */
const refusals = ['intent_mismatch', 'order_refused', 'address_blacklisted'] as const satisfies FailureCode[];
export type Refusal = (typeof refusals)[number];

export const isRefusal = (code: string): code is Refusal => refusals.some((refusal) => refusal === code);
