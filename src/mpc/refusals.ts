import type { FailureCode } from '../platform/codes';

/** Refusals that every pair of nodes would repeat. */
const refusals = ['intent_mismatch', 'address_blacklisted'] as const satisfies FailureCode[];
export type Refusal = (typeof refusals)[number];

export const isRefusal = (code: string): code is Refusal => refusals.some((refusal) => refusal === code);
