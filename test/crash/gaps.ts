import type { Held } from './holds';

/** How a transfer has to end. */
export type End = 'CONFIRMED' | 'CANCELLED' | 'FAILED';

/** Transfers of ETH: `base` is paused, on `ethereum` no block is made. At most eight of a chain are between start and broadcast. */
export type Chain = 'ethereum' | 'base';

interface Gap {
  chain: Chain;
  /** What is held in the gateway's database. */
  at?: Held['step'];
  /** Not CONFIRMED. */
  end?: End;
}

/**
 * One transfer in each, in the order of a transfer: `stage: what is about to be done`. The stages are those of workflows/transfer/ and
 * of the API, and what is done is named as the function that does it.
 */
export const gaps = {
  'accept: insert': { chain: 'ethereum', at: 'accept' },
  'accept: COMMIT': { chain: 'base', at: 'commit' },
  'start: ask Temporal': { chain: 'ethereum', at: 'start' },
  'start: remove the message': { chain: 'base', at: 'started' },
  'lock: adoptHold': { chain: 'ethereum', at: 'adoptHold' },
  'screen: screenTransfer': { chain: 'base', at: 'screenTransfer' },
  'screen: an approval is waited for': { chain: 'base' },
  'screen: cancelTransfer': { chain: 'ethereum', at: 'cancelTransfer', end: 'CANCELLED' },
  'prepare: prepareAttempt': { chain: 'base' },
  'prepare: beginSigning': { chain: 'ethereum', at: 'beginSigning' },
  'prepare: enterSigning': { chain: 'ethereum', at: 'enterSigning' },
  'sign: signTransaction': { chain: 'ethereum' },
  'sign: recordSigned': { chain: 'ethereum', at: 'recordSigned' },
  'broadcast: send': { chain: 'base' },
  'broadcast: markBroadcast': { chain: 'ethereum', at: 'markBroadcast' },
  'broadcast: markSubmitted': { chain: 'ethereum', at: 'markSubmitted' },
  'confirm: a block is waited for': { chain: 'ethereum' },
  'confirm: storeInclusion': { chain: 'ethereum', at: 'storeInclusion' },
  'settle: settleTransfer': { chain: 'base', at: 'settleTransfer' },
  'prepare: a replacement': { chain: 'base', at: 'replacement' },
  'prepare: a cancellation': { chain: 'base', at: 'cancellation', end: 'FAILED' },
} as const satisfies Record<string, Gap>;
export type GapName = keyof typeof gaps;

export const gapNames = Object.keys(gaps) as GapName[];

export const gapOf = (name: GapName): Gap => gaps[name];
