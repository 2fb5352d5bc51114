import { beforeSigning } from './before-signing';
import { confirmed } from './confirmed';
import type { Endings } from './ending';
import { failed } from './failed';
import { otherWorkflows } from './other-workflows';
import { payments, settlements } from './settlements';

/** Transfers whose run waits, or goes on in another one. */
const unfinished = {
  'transfer-continued': ['broadcast: accepted', 'signal chainObserved', 'continued'],
  'transfer-behind-parked-continued': ['beginSigning first: wait', 'readTurn: behind', 'signal chainObserved', 'continued'],
  'transfer-parked-continued': ['update retry', 'parkTransfer: parked', 'patched continue-before-parked', 'continued'],
  'transfer-needs-attention': ['settleTransfer: NEEDS_ATTENTION', 'parkTransfer: parked', 'open'],
  'transfer-needs-attention-not-abandonable': ['settleTransfer: NEEDS_ATTENTION', 'parkTransfer: parked', 'open'],
  // accepted and then refused, as before the workflow had validators
  'transfer-needs-attention-not-abandonable-once-accepted': [
    'settleTransfer: NEEDS_ATTENTION',
    'parkTransfer: parked',
    'update abandon',
    'open',
  ],
  'transfer-needs-attention-not-proven': [
    'update abandon',
    'patched prove-again',
    'observe: absent',
    'parkTransfer: parked',
    'open',
  ],
  'transfer-needs-attention-nonce-unproven': [
    'observe: impossible',
    'parkTransfer: parked',
    'update abandon',
    'failByProof: failed',
    'parkTransfer: parked',
    'open',
  ],
} satisfies Endings;

/** Every committed history by its name. A new way of ending gets a history, and a line in one of these tables. */
export const endings = {
  ...beforeSigning,
  ...failed,
  ...confirmed,
  ...settlements,
  ...payments,
  ...unfinished,
  ...otherWorkflows,
};

export type HistoryName = keyof typeof endings;
