import type { Endings } from './ending';

const ended = 'adoptHold: ended';
const isCancelled = 'signal transferEnded';

/** Transfers of which nothing was signed. */
export const beforeSigning = {
  // by the client, at each place
  'transfer-cancelled': [isCancelled, ended, 'CANCELLED'],
  'transfer-cancelled-while-refused': ['screenTransfer: refused', 'endTransfer: CANCELLED', 'CANCELLED'],
  'transfer-cancelled-awaiting-approval': ['screenTransfer: awaiting_approval', isCancelled, ended, 'CANCELLED'],
  'transfer-cancelled-preparing': [isCancelled, 'prepareAttempt first: cancelled', ended, 'CANCELLED'],
  'transfer-cancelled-before-signing': ['beginSigning first: ended', ended, 'CANCELLED'],
  'transfer-cancelled-waiting-to-begin': ['beginSigning first: wait', isCancelled, ended, 'CANCELLED'],
  'transfer-cancelled-behind-parked': ['beginSigning first: wait', isCancelled, ended, 'CANCELLED'],
  'transfer-cancelled-parked': ['beginSigning first: failed', 'parkTransfer: parked', isCancelled, ended, 'CANCELLED'],

  // by a rule, a list, or the lack of an approval
  'transfer-rejected': ['screenTransfer: refused', 'endTransfer: REJECTED', 'REJECTED wallet_not_active'],
  'transfer-rejected-blacklisted': ['screenTransfer: refused', 'endTransfer: REJECTED', 'REJECTED address_blacklisted'],
  'transfer-rejected-blacklisted-approved': [
    'screenTransfer: awaiting_approval',
    'signal transferApproved',
    'screenTransfer: refused',
    'endTransfer: REJECTED',
    'REJECTED address_blacklisted',
  ],
  'transfer-rejected-at-signing': [
    'screenTransfer: allowed',
    'beginSigning first: refused',
    'endTransfer: REJECTED',
    'REJECTED wallet_not_active',
  ],
  'transfer-rejected-blacklisted-at-signing': [
    'screenTransfer: allowed',
    'beginSigning first: refused',
    'endTransfer: REJECTED',
    'REJECTED address_blacklisted',
  ],
  'transfer-rejected-approval-expired': [
    'screenTransfer: awaiting_approval',
    'signal transferEnded',
    ended,
    'REJECTED approval_expired',
  ],
  'transfer-rejected-by-user': ['screenTransfer: awaiting_approval', 'signal transferEnded', ended, 'REJECTED approval_rejected'],
  'transfer-rejected-approval-expired-in-run': [
    'screenTransfer: awaiting_approval',
    'timer',
    'screenTransfer: refused',
    'endTransfer: REJECTED',
    'REJECTED approval_expired',
  ],

  // by the chain, the fee, or a row that does not exist
  'transfer-failed-before-signing': ['prepareAttempt first: failed', 'endTransfer: FAILED', 'FAILED would_revert'],
  'transfer-failed-fee-above-bound': ['beginSigning first: refused', 'endTransfer: FAILED', 'FAILED fee_above_bound'],
  'transfer-failed-without-transaction': ['adoptHold: failed', 'FAILED not_found'],
} satisfies Endings;
