import type { FailureCode } from '../platform/codes';

/** A node's refusals of the request itself; the workflow decides for which of them another pair is asked. */
const refusals = ['intent_mismatch', 'order_refused', 'address_blacklisted'] as const satisfies FailureCode[];
export type Refusal = (typeof refusals)[number];

export const isRefusal = (code: string): code is Refusal => refusals.some((refusal) => refusal === code);
