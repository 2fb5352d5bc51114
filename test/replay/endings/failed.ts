import type { Endings } from './ending';

const parked = 'parkTransfer: parked';
const cancellation = 'beginSigning cancellation: begun';
/** A cancellation, or an attempt without effect, is final. */
const refunded = 'settleTransfer: FAILED';
const proven = ['observe: impossible', 'failByProof: FAILED'] as const;
const blacklisted = 'FAILED address_blacklisted';

/** Transfers that failed after signing had begun. */
export const failed = {
  'transfer-failed-on-chain': ['broadcast: accepted', refunded, 'FAILED reverted_on_chain'],
  'transfer-failed-not-observed': ['broadcast: accepted', refunded, 'FAILED transfer_not_observed'],

  // abandoned by an operator, or too late to be sent once more
  'transfer-failed-abandoned': ['update abandon', cancellation, refunded, 'FAILED abandoned'],
  'transfer-failed-cancellation-refused-first': [
    'update abandon',
    'beginSigning cancellation: refused',
    parked,
    'update abandon',
    cancellation,
    refunded,
    'FAILED abandoned',
  ],
  // asked for in Temporal itself, which nobody has asked the authoriser for, and then by the command line
  'transfer-failed-acts-in-temporal': [
    parked,
    'update retry',
    'patched record-operator-acts',
    'recordOperatorAct: done',
    'update abandon',
    'beginSigning cancellation: refused',
    parked,
    'update abandon',
    cancellation,
    refunded,
    'FAILED abandoned',
  ],
  // the same, recorded once the act is in the history
  'transfer-failed-acts-with-identity': [
    parked,
    'update retry',
    'patched record-operator-acts',
    'patched name-who-acted',
    'recordOperatorAct: done',
    'update abandon',
    'beginSigning cancellation: refused',
    parked,
    'update abandon',
    cancellation,
    refunded,
    'FAILED abandoned',
  ],
  'transfer-failed-abandoned-run-lost': [
    'adoptHold: held',
    'observe: absent',
    'beginSigning resume: begun',
    refunded,
    'FAILED abandoned',
  ],
  'transfer-failed-cancellation-replaced': [cancellation, 'observe: pending', cancellation, refunded, 'FAILED abandoned'],
  'transfer-failed-by-proof': ['update abandon', 'abandonTransfer: done', ...proven, 'FAILED abandoned'],
  'transfer-failed-nonce-used': [
    'observe: impossible',
    parked,
    'update retry',
    'observe: impossible',
    parked,
    'update abandon',
    'failByProof: FAILED',
    'FAILED abandoned',
  ],
  'transfer-failed-nonce-used-asked-again': [parked, 'update abandon', 'patched prove-again', ...proven, 'FAILED abandoned'],
  'transfer-failed-superseded': ['broadcast: rejected', 'observe: impossible', 'failByProof: FAILED', 'FAILED superseded'],
  'transfer-failed-nonce-used-cancelled': [cancellation, ...proven, 'FAILED abandoned'],
  'transfer-failed-funding-lost-unsigned': [parked, 'signal chainObserved', ...proven.slice(-1), 'FAILED funding_lost'],
  'transfer-failed-funding-lost': ['observe: absent', ...proven, 'FAILED funding_lost'],
  'transfer-failed-reissue-too-late': [
    'observe: impossible',
    'beginSigning reissue: refused',
    'failByProof: FAILED',
    'FAILED expired',
  ],

  // abandoned because its destination was blacklisted
  'transfer-failed-blacklisted': ['signTransaction: failed', 'destinationBlacklisted: yes', cancellation, refunded, blacklisted],
  'transfer-failed-blacklisted-signed': ['signTransaction: done', 'broadcast: blacklisted', cancellation, refunded, blacklisted],
  'transfer-failed-blacklisted-stuck': [
    'beginSigning replacement: refused',
    parked,
    'update abandon',
    cancellation,
    refunded,
    blacklisted,
  ],
  'transfer-failed-blacklisted-expired': ['destinationBlacklisted: yes', 'abandonTransfer: done', ...proven, blacklisted],
  'transfer-failed-blacklisted-not-sent-again': ['abandonTransfer: done', 'observe: absent', ...proven, blacklisted],
  'transfer-failed-blacklisted-after-run-lost': [
    'observe: absent',
    'beginSigning resume: refused',
    cancellation,
    refunded,
    blacklisted,
  ],

  // abandoned by another run
  'transfer-failed-blacklisted-withheld': [
    'broadcast: withheld',
    'beginSigning cancellation: stale',
    'beginSigning resume: begun',
    refunded,
    blacklisted,
  ],
  'transfer-failed-blacklisted-overtaken': ['beginSigning resume: stale', 'beginSigning resume: begun', refunded, blacklisted],
  'transfer-failed-abandoned-before-order': ['beginSigning resume: refused', ...proven, blacklisted],
  'transfer-failed-abandoned-before-reissue': ['beginSigning reissue: refused', ...proven, blacklisted],

  // abandoned by the limits of two nodes
  'transfer-failed-node-policy': ['recordNodeRefusals: accepted', cancellation, refunded, 'FAILED node_policy'],
  'transfer-failed-cancellation-refused-by-nodes': [
    'recordNodeRefusals: accepted',
    cancellation,
    parked,
    'update retry',
    cancellation,
    refunded,
    'FAILED node_policy',
  ],
} satisfies Endings;
