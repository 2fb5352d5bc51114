import type { Endings } from './ending';

const cancelled = ['beginSigning cancellation: begun', 'settleTransfer: FAILED', 'FAILED expired'] as const;

/** What a payer outside has signed, which can be executed for a limited time. */
export const settlements = {
  'settlement-confirmed': ['broadcast: accepted', 'settleTransfer: CONFIRMED', 'CONFIRMED'],
  'settlement-confirmed-refused-first': [
    'broadcast: rejected',
    'parkTransfer: parked',
    'broadcast: accepted',
    'settleTransfer: CONFIRMED',
    'CONFIRMED',
  ],
  'settlement-confirmed-approved': [
    'fundPayer: funded',
    'sendApproval: waiting',
    'sendApproval: executed',
    'settleTransfer: CONFIRMED',
    'CONFIRMED',
  ],
  'settlement-failed-not-funded': ['fundPayer: refused', 'endTransfer: FAILED', 'FAILED insufficient_balance'],
  'settlement-failed-approval-replaced': ['sendApproval: refused', 'endTransfer: FAILED', 'FAILED broadcast_rejected'],
  'top-up-failed-not-needed': ['broadcast: accepted', 'beginSigning replacement: refused', 'adoptHold: held', ...cancelled],
  'top-up-failed-parked-not-needed': ['parkTransfer: parked', 'timer', 'parkTransfer: parked', ...cancelled],
  'top-up-failed-by-proof': ['observe: impossible', 'failByProof: FAILED', 'FAILED expired'],
  // executed, and the token has kept a part of the payment
  'settlement-failed-not-paid': [
    'broadcast: accepted',
    'signal chainObserved',
    'settleTransfer: FAILED',
    'FAILED transfer_not_observed',
  ],
  'settlement-failed-not-paid-reorganised': [
    'broadcast: accepted',
    'signal chainObserved',
    'observe: absent',
    'signal chainObserved',
    'settleTransfer: FAILED',
    'FAILED transfer_not_observed',
  ],
  'settlement-failed-too-late': ['beginSigning first: refused', 'endTransfer: FAILED', 'FAILED expired'],
  'settlement-failed-not-included': ['broadcast: accepted', 'observe: pending', ...cancelled],
  'settlement-failed-not-signed': ['signTransaction: failed', 'beginSigning resume: refused', 'observe: absent', ...cancelled],
  'settlement-failed-parked': ['parkTransfer: parked', ...cancelled],

  // in a run of which the history has become long
  'settlement-parked-continued': ['parkTransfer: parked', 'timer', 'continued'],
  'settlement-failed-parked-continued': ['adoptHold: held', 'observe: absent', ...cancelled],
  'settlement-sponsored-continued': ['sendApproval: waiting', 'timer', 'continued'],
  'settlement-confirmed-sponsored-continued': [
    'adoptHold: held',
    'sendApproval: executed',
    'settleTransfer: CONFIRMED',
    'CONFIRMED',
  ],
} satisfies Endings;

/** What a client authorises, and somebody else sends. */
export const payments = {
  'payment-confirmed': ['broadcast: accepted', 'settleTransfer: CONFIRMED', 'CONFIRMED'],
  'payment-failed-not-signed': ['signTransaction: failed', 'observe: impossible', 'failByProof: FAILED', 'FAILED expired'],
  'payment-failed-expired': ['broadcast: accepted', 'observe: impossible', 'failByProof: FAILED', 'FAILED expired'],
} satisfies Endings;
