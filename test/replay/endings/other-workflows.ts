import type { Endings } from './ending';

/** Every workflow but that of transfers. */
export const otherWorkflows = {
  'generate-key': ['takePooledKey: done', 'orderKeyGeneration: done', 'bindKey: done', 'activateWallet: done', 'completed'],
  'generate-key-already-active': ['takePooledKey: done', 'orderKeyGeneration: failed', 'completed'],
  'generate-key-repeated': [
    'orderKeyGeneration: failed',
    'timer',
    'confirmKey: done',
    'timer',
    'bindKey: failed',
    'timer',
    'activateWallet: done',
    'completed',
  ],
  'generate-key-pooled': ['takePooledKey: done', 'confirmKey: done', 'bindKey: done', 'activateWallet: done', 'completed'],
  'generate-key-pooled-refused': [
    'takePooledKey: done',
    'bindKey: failed',
    'orderKeyGeneration: done',
    'activateWallet: done',
    'completed',
  ],
  'generate-key-pooled-elsewhere': [
    'takePooledKey: done',
    'confirmKey: done',
    'orderKeyGeneration: done',
    'activateWallet: done',
    'completed',
  ],
  'generate-key-pooled-later': [
    'confirmKey: done',
    'confirmKey: timed out',
    'timer',
    'takePooledKey: done',
    'bindKey: failed',
    'timer',
    'activateWallet: done',
    'completed',
  ],
  'generate-key-pooled-lost': [
    'takePooledKey: done',
    'confirmKey: failed',
    'orderKeyGeneration: done',
    'activateWallet: done',
    'completed',
  ],
  // of a version without a pool
  'generate-key-before-pool': ['orderKeyGeneration: done', 'bindKey: done', 'activateWallet: done', 'completed'],
  'bind-key-again': ['orderKeyBinding: done', 'bindKey: failed', 'bindKey: done', 'completed'],
  'fill-key-pool-not-ordered': ['orderPooledKey: done', 'open'],
  'fill-key-pool': [
    'orderPooledKey: done',
    'generateKey: done',
    'testSign: done',
    'offerPooledKey: done',
    'orderPooledKey: done',
    'generateKey: failed',
    'offerPooledKey: done',
    'orderPooledKey: done',
    'completed',
  ],
  'fill-key-pool-dropped': ['orderPooledKey: done', 'generateKey: failed', 'open'],
  'generate-key-continued': ['orderKeyBinding: failed', 'timer', 'continued'],
  'generate-key-after-continue': ['generateKey: failed', 'timer', 'activateWallet: done', 'completed'],

  'generate-account-key': ['orderAccountKey: done', 'confirmKey: done', 'testSign: done', 'bindKey: done', 'completed'],
  'generate-account-key-failed': ['orderAccountKey: done', 'generateKey: failed', 'FAILED signers_unavailable'],
  'generate-account-key-taken-over': ['confirmKey: done', 'orderAccountKeyBinding: done', 'bindKey: done', 'completed'],

  'deliver-webhooks': ['deliverNext: idle', 'timer', 'deliverNext: failed', 'timer', 'deliverNext: delivered', 'completed'],
  'deliver-webhooks-given-up': [
    'deliverNext: idle',
    'timer',
    'deliverNext: failed',
    'timer',
    'deliverNext: disabled',
    'completed',
  ],
  'deliver-webhooks-busy': ['deliverNext: busy', 'timer', 'deliverNext: busy', 'timer', 'deliverNext: delivered', 'completed'],
  'deliver-webhooks-resent': ['deliverNext: idle', 'signal deliveriesPending', 'deliverNext: delivered', 'completed'],
  'deliver-webhooks-continued': ['signal deliveriesPending', 'deliverNext: delivered', 'continued'],
  'deliver-webhooks-after-continue': ['deliverNext: delivered', 'completed'],

  'distribute-blacklist': ['applyBlacklist: done', 'orderBlacklistPage: done', 'completed'],
  'distribute-blacklist-refused': [
    'applyBlacklist: failed',
    'timer',
    'applyBlacklist: done',
    'orderBlacklistPage: done',
    'completed',
  ],
  'distribute-blacklist-continued': ['signal blacklistChanged', 'blacklistVersion: done', 'continued'],
  'distribute-blacklist-after-continue': ['blacklistVersion: done', 'orderBlacklistPage: done', 'completed'],

  // never ends: it waits for an activity, or continues as new after it
  'follow-chain': ['open'],
  'follow-chain-continued': ['followChain: done', 'continued'],

  'read-journals': ['readJournal: done', 'completed'],
  'read-journals-node-down': ['readJournal: timed out', 'completed'],
  'read-orders': ['ordersSeen: timed out', 'completed'],
} satisfies Endings;
