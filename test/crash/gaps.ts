import type { Breakpoint, End, Gap, Phase } from './gap';
import { confirmedTimeline } from './transfer';

/** The API reads the transfer whose workflow it is about to start. */
const readsToStart = `current_query() like '%as unstarted%'`;
export const isApproved = 'new.approved_at is not null and old.approved_at is null';
const isCancelled = `new.status = 'CANCELLED' and old.status <> 'CANCELLED'`;
export const hasFailed = `new.status = 'FAILED' and old.status <> 'FAILED' and old.signing_begun_at is not null`;
export const isSubmitted = `new.status = 'SUBMITTED' and old.status <> 'SUBMITTED'`;
export const isConfirmed = `new.status = 'CONFIRMED' and old.status <> 'CONFIRMED' and new.is_signed`;
const approvedTimeline = ['PENDING', 'AWAITING_APPROVAL', ...confirmedTimeline];
const cancelled: End = { status: 'CANCELLED', timeline: ['PENDING', 'AWAITING_APPROVAL', 'CANCELLED'], attempts: [] };
const failedTimeline = ['PENDING', 'SIGNING', 'SUBMITTED', 'FAILED'];

const isOf = (part: 'worker' | 'authoriser') => `current_setting('application_name') = 'gateway-${part}'`;
/** The first statement of a transfer's run. */
const readsToAdopt = `current_query() like 'SELECT "TransactionEntity"%' and ${isOf('worker')}`;
const locksToBegin = `current_query() like '%FOR NO KEY UPDATE' and ${isOf('authoriser')}`;

/**
 * All there is to say of each, in the order of a transfer: `stage: what is about to be done`. The stages are those of
 * workflows/transfer/ and of the API, and what is done is named as the function that does it. Every victim (victims.ts) is killed
 * once while one transfer is in each of them.
 */
export const gaps = {
  'accept: insert': {
    chain: 'ethereum',
    sent: 'last',
    // its trigger runs before the one that sets is_held
    at: { on: 'insert', table: 'transactions', when: 'new.fee_symbol is not null', isRequest: true },
  },
  'accept: COMMIT': {
    chain: 'base',
    sent: 'last',
    at: { on: 'insert', table: 'transactions', when: 'new.is_signed', atCommit: true, isRequest: true },
  },
  'start: ask Temporal': {
    chain: 'ethereum',
    sent: 'last',
    at: { on: 'read', table: 'transactions', when: readsToStart },
  },
  'start: remove the message': {
    chain: 'base',
    sent: 'last',
    at: { on: 'delete', table: 'workflow_outbox', when: `old.kind = 'start_transfer'` },
  },
  'lock: adoptHold': {
    chain: 'ethereum',
    sent: 'blocks are made',
    at: { on: 'read', table: 'transactions', when: readsToAdopt },
  },
  'screen: screenTransfer': {
    chain: 'base',
    sent: 'blocks are made',
    // it looks for the recipient in the client's lists, one of which has it
    at: { on: 'read', table: 'security_factors', when: isOf('worker') },
  },
  'screen: an approval is waited for': {
    chain: 'base',
    sent: 'blocks are made',
    isUnlisted: true,
    at: { row: ({ status }) => status === 'AWAITING_APPROVAL' },
    end: { timeline: approvedTimeline },
  },
  // from here on only the outbox knows that its workflow is to be told
  'screen: COMMIT of an approval': {
    chain: 'base',
    sent: 'blocks are made',
    enters: 'last',
    isUnlisted: true,
    at: { on: 'update', table: 'transactions', when: isApproved, atCommit: true, isRequest: true },
    end: { timeline: approvedTimeline },
  },
  'screen: COMMIT of a cancel': {
    chain: 'base',
    sent: 'blocks are made',
    enters: 'last',
    isUnlisted: true,
    at: { on: 'update', table: 'transactions', when: isCancelled, atCommit: true, isRequest: true },
    end: cancelled,
  },
  'screen: cancelTransfer': {
    chain: 'ethereum',
    sent: 'blocks are made',
    enters: 'last',
    isUnlisted: true,
    at: { on: 'update', table: 'transactions', when: isCancelled, isRequest: true },
    end: cancelled,
  },
  'prepare: prepareAttempt': {
    chain: 'base',
    sent: 'chains stand still',
    at: { row: ({ status }) => status === 'PENDING', step: 'prepare' },
  },
  'prepare: beginSigning': {
    chain: 'ethereum',
    sent: 'blocks are made',
    at: { on: 'read', table: 'transactions', when: locksToBegin },
  },
  'prepare: enterSigning': {
    chain: 'ethereum',
    sent: 'blocks are made',
    at: { on: 'update', table: 'transactions', when: `new.status = 'SIGNING' and old.status <> 'SIGNING'` },
  },
  // the order is signed after it
  'prepare: COMMIT of beginSigning': {
    chain: 'base',
    sent: 'blocks are made',
    at: { on: 'insert', table: 'orders', when: 'new.tx_id is not null', atCommit: true },
  },
  'sign: signTransaction': {
    chain: 'ethereum',
    // a node writes its journal entries one after another
    sent: 'the others have signed',
    beginsLater: true,
    at: 'journal entry of a node',
  },
  'broadcast: recordSigned': {
    chain: 'ethereum',
    sent: 'blocks are made',
    at: { on: 'update', table: 'transfer_attempts', when: 'new.signed is not null and old.signed is null' },
  },
  // from here on the bytes are sent, whatever becomes of the process
  'broadcast: COMMIT of recordSigned': {
    chain: 'base',
    sent: 'blocks are made',
    at: {
      on: 'update',
      table: 'transfer_attempts',
      when: 'new.signed is not null and old.signed is null',
      atCommit: true,
    },
  },
  'broadcast: send': {
    chain: 'base',
    sent: 'blocks are made',
    enters: 'chains stand still',
    beginsLater: true,
    at: { row: ({ status, signed, broadcast }) => status === 'SIGNING' && signed && !broadcast, step: 'broadcast' },
  },
  'broadcast: markBroadcast': {
    chain: 'ethereum',
    sent: 'blocks are made',
    at: { on: 'update', table: 'transfer_attempts', when: 'new.broadcast_at is not null and old.broadcast_at is null' },
  },
  'broadcast: markSubmitted': {
    chain: 'ethereum',
    sent: 'blocks are made',
    at: { on: 'update', table: 'transactions', when: isSubmitted },
  },
  'confirm: a block is waited for': {
    chain: 'ethereum',
    sent: 'chains stand still',
    at: { row: ({ status, included }) => status === 'SUBMITTED' && !included },
  },
  'confirm: storeInclusion': {
    chain: 'ethereum',
    sent: 'blocks are made',
    at: { on: 'update', table: 'transfer_attempts', when: 'new.block_number is not null and old.block_number is null' },
  },
  'settle: settleTransfer': {
    chain: 'base',
    sent: 'blocks are made',
    at: { on: 'update', table: 'transactions', when: isConfirmed },
  },
  'settle: as reverted': {
    chain: 'base',
    sent: 'blocks are made',
    beginsLater: true,
    meanwhile: 'recipient refuses',
    at: { on: 'update', table: 'transactions', when: hasFailed },
    end: { status: 'FAILED', timeline: failedTimeline },
  },
  /** An operator has it tried again, once its sender has its coins back. */
  'park: parkTransfer': {
    chain: 'base',
    sent: 'blocks are made',
    beginsLater: true,
    meanwhile: 'sender has no coins',
    at: { on: 'update', table: 'transactions', when: `new.status = 'NEEDS_ATTENTION' and old.status <> 'NEEDS_ATTENTION'` },
    end: { timeline: ['PENDING', 'SIGNING', 'NEEDS_ATTENTION', 'SUBMITTED', 'CONFIRMED'] },
  },
  /** No block takes its first attempt: the nonce below its own is not used (scene.ts). */
  'prepare: a replacement': {
    chain: 'base',
    sent: 'round before',
    beginsLater: true,
    at: { on: 'insert', table: 'transfer_attempts', when: `new.kind = 'replacement'` },
    end: { attempts: ['first', 'replacement'] },
  },
  'prepare: a cancellation': {
    chain: 'base',
    sent: 'blocks are made',
    beginsLater: true,
    meanwhile: 'recipient is blacklisted',
    at: { on: 'insert', table: 'transfer_attempts', when: `new.kind = 'cancellation'` },
    end: { status: 'FAILED', timeline: failedTimeline, attempts: ['first', 'cancellation'] },
  },
} as const satisfies Record<string, Gap>;

export type GapName = keyof typeof gaps;
/** Its transfer is held in the gateway's database. */
export type HeldGap = { [Name in GapName]: (typeof gaps)[Name]['at'] extends Breakpoint ? Name : never }[GapName];

export const gapNames = Object.keys(gaps) as GapName[];

export const gapOf = (name: GapName): Gap => gaps[name];
export const endOf = (name: GapName): End => ({
  status: 'CONFIRMED',
  timeline: confirmedTimeline,
  attempts: ['first'],
  ...gapOf(name).end,
});

export const sentIn = (phase: Phase): GapName[] => gapNames.filter((name) => gapOf(name).sent === phase);
export const enteredIn = (phase: Phase): GapName[] =>
  gapNames.filter((name) => (gapOf(name).enters ?? gapOf(name).sent) === phase);

export function isHeld(name: GapName): name is HeldGap {
  const { at } = gapOf(name);
  return typeof at === 'object' && 'on' in at;
}
