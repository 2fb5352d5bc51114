import type { Endings } from './ending';

const held = 'adoptHold: held';
const ended = 'adoptHold: ended';
const first = 'beginSigning first: begun';
const resumed = 'beginSigning resume: begun';
const replacement = 'beginSigning replacement: begun';
const retried = ['parkTransfer: parked', 'update retry'] as const;
const settled = ['settleTransfer: CONFIRMED', 'CONFIRMED'] as const;

/** Transfers that the chain has executed. */
export const confirmed = {
  'transfer-confirmed': ['broadcast: accepted', ...settled],
  'transfer-confirmed-forgotten': ['broadcast: accepted', 'observe: absent', ...settled],
  'transfer-confirmed-cancellation-ignored': ['cancellation of the run', ...settled],

  // an approval
  'transfer-confirmed-approved': ['screenTransfer: awaiting_approval', 'signal transferApproved', ...settled],
  'transfer-confirmed-approval-at-signing': [
    'beginSigning first: needs_approval',
    'screenTransfer: awaiting_approval',
    first,
    ...settled,
  ],

  // orders and signatures
  'transfer-confirmed-answer-lost': ['beginSigning first: stale', resumed, ...settled],
  'transfer-confirmed-order-renewed': [first, resumed, 'signTransaction: done', ...settled],
  'transfer-confirmed-blacklist-outdated': ['destinationBlacklisted: no', 'signTransaction: done', ...settled],
  'transfer-confirmed-key-frozen': ['signTransaction: failed', ...retried, ...settled],
  'transfer-confirmed-nodes-refused': ['signTransaction: failed', ...retried, ...settled],
  'transfer-confirmed-pair-banned': ['signTransaction: failed', 'timer', 'signTransaction: done', ...settled],
  // accepted and then refused, as before the workflow had validators
  'transfer-confirmed-retry-refused-once-accepted': ['signTransaction: failed', ...retried, ...settled],
  'transfer-confirmed-retry-refused': ['signTransaction: failed', ...retried, ...settled],
  'transfer-confirmed-refusals-unproven': ['recordNodeRefusals: not accepted', ...retried, ...settled],
  'transfer-confirmed-signed-elsewhere': ['signTransaction: failed', 'signal chainObserved', ...settled],
  'transfer-confirmed-sent-before-signed': ['broadcast: unsigned', resumed, ...settled],

  // the chain does not answer, in three steps
  'transfer-confirmed-chain-silent': [
    'prepareAttempt first: failed',
    'prepareAttempt first: done',
    'broadcast: failed',
    'broadcast: accepted',
    'observe: failed',
    ...settled,
  ],
  'transfer-confirmed-step-failing': ['prepareAttempt first: failed', 'prepareAttempt first: done', ...settled],
  'transfer-confirmed-not-estimated': [
    'prepareAttempt first: failed',
    'parkTransfer: parked',
    'timer',
    'prepareAttempt first: done',
    ...settled,
  ],
  'transfer-confirmed-estimated-later': [
    'prepareAttempt first: failed',
    'timer',
    'prepareAttempt first: failed',
    'timer',
    'prepareAttempt first: done',
    ...settled,
  ],

  // refused or not included in time
  'transfer-confirmed-observation-outdated': ['parkTransfer: parked', 'signal chainObserved', 'update retry', ...settled],
  'transfer-confirmed-broadcast-rejected': ['broadcast: rejected', ...retried, 'broadcast: rejected', replacement, ...settled],
  'transfer-confirmed-refused-for-now': ['broadcast: waiting', 'observe: absent', 'observe: absent', ...settled],
  'transfer-confirmed-refused-in-unknown-words': [
    'broadcast: waiting',
    'observe: absent',
    'broadcast: waiting',
    'broadcast: rejected',
    'parkTransfer: parked',
    'timer',
    'broadcast: rejected',
    'parkTransfer: parked',
    ...settled,
  ],
  // parked until an operator came, as before it was sent again by itself
  'transfer-confirmed-refused-too-long': ['broadcast: waiting', 'observe: absent', ...retried, 'broadcast: accepted', ...settled],
  // while it is sent again by itself, a poll brings it to a node that takes it
  'transfer-confirmed-refused-then-taken': [
    ...['broadcast: waiting', 'observe: absent', 'parkTransfer: parked', 'timer'],
    ...['broadcast: waiting', 'parkTransfer: parked', 'timer', 'broadcast: waiting'],
    ...settled,
  ],
  'transfer-confirmed-full-pool-then-taken': [
    ...['broadcast: waiting', 'beginSigning replacement: refused', 'parkTransfer: parked', 'timer'],
    ...['broadcast: waiting', 'parkTransfer: parked', 'timer', 'broadcast: waiting'],
    ...settled,
  ],
  'transfer-confirmed-refused-until-parked': [
    'broadcast: waiting',
    'observe: absent',
    'parkTransfer: parked',
    'timer',
    'broadcast: accepted',
    ...settled,
  ],
  'transfer-confirmed-taken-later': ['broadcast: waiting', 'observe: absent', ...settled],
  'transfer-confirmed-retried': ['observe: failed', ...retried, ...settled],
  'transfer-confirmed-replaced': ['observe: pending', replacement, ...settled],
  'transfer-confirmed-blacklisted-replacement': [replacement, 'broadcast: blacklisted', ...retried, ...settled],
  'transfer-confirmed-replacement-blacklisted': [
    replacement,
    'destinationBlacklisted: yes',
    'parkTransfer: parked',
    'signal chainObserved',
    ...settled,
  ],
  'transfer-confirmed-replacement-too-dear': ['beginSigning replacement: refused', ...retried, ...settled],
  'transfer-confirmed-replacement-same': ['beginSigning replacement: refused', ...retried, ...settled],
  'transfer-confirmed-replacement-unprepared': ['prepareAttempt replacement: failed', ...retried, ...settled],
  'transfer-confirmed-included-while-parked': [replacement, 'parkTransfer: parked', 'signal chainObserved', ...settled],
  'transfer-confirmed-after-attempt-limit': [...Array<string>(5).fill(replacement), ...retried, ...settled],
  'transfer-confirmed-reissued': ['observe: impossible', 'beginSigning reissue: begun', ...settled],

  // behind another one of the same sender
  'transfer-confirmed-behind-parked': ['beginSigning first: wait', 'readTurn: behind', 'readTurn: free', first, ...settled],
  'transfer-confirmed-behind-unexecuted': ['broadcast: accepted', 'observe: pending', 'observe: pending', ...settled],

  // abandoned, but executed first
  'transfer-confirmed-abandoned': ['update abandon', 'abandonTransfer: done', ...settled],
  'transfer-confirmed-abandoned-too-late': [
    'update abandon',
    'beginSigning cancellation: begun',
    'observe: included',
    ...settled,
  ],
  'transfer-confirmed-executed-when-asked-again': ['parkTransfer: parked', 'update abandon', 'patched prove-again', ...settled],
  'transfer-confirmed-executed-before-replacement': ['beginSigning replacement: refused', ...settled],
  'transfer-confirmed-executed-before-cancellation': ['update abandon', 'beginSigning cancellation: refused', ...settled],
  'transfer-confirmed-cancellation-refused': [
    'update abandon',
    'beginSigning cancellation: refused',
    ...retried,
    resumed,
    ...settled,
  ],

  // settled later than expected, or by another run
  'transfer-confirmed-settled-later': ['settleTransfer: WAITING', ...settled],
  'transfer-confirmed-settled-outside': ['broadcast: accepted', 'signal transferEnded', ended, 'CONFIRMED'],
  'transfer-confirmed-settled-before-order': ['beginSigning resume: ended', ended, 'CONFIRMED'],
  'transfer-confirmed-ended-when-parked': ['settleTransfer: failed', 'parkTransfer: ended', ended, 'CONFIRMED'],

  // begun by an earlier run
  'transfer-confirmed-run-lost-before-signature': [held, 'observe: absent', resumed, 'signTransaction: done', ...settled],
  'transfer-confirmed-run-lost-after-signature': [held, 'beginSigning resume: signed', 'broadcast: accepted', ...settled],
  'transfer-confirmed-run-lost-after-broadcast': [held, 'observe: confirmed', ...settled],
  'transfer-confirmed-continued': [held, 'observe: confirmed', ...settled],

  // rebuilt from its order
  'transfer-confirmed-rebuilt-executed': [held, 'observe: included', 'observe: confirmed', ...settled],
  'transfer-confirmed-rebuilt-settled': [held, 'observe: confirmed', ...settled],
  'transfer-confirmed-rebuilt-included': [held, 'observe: absent', 'beginSigning resume: refused', ...settled],
  'transfer-confirmed-rebuilt-absent': [held, 'observe: absent', 'beginSigning resume: refused', ...retried, resumed, ...settled],
  'transfer-confirmed-rebuilt-parked': [held, 'observe: failed', ...retried, 'observe: included', ...settled],
  'transfer-confirmed-rebuilt-impossible': [held, 'observe: impossible', 'beginSigning reissue: begun', ...settled],
  'transfer-confirmed-rebuilt-proof-unproven': [held, 'observe: impossible', resumed, ...settled],
} satisfies Endings;
