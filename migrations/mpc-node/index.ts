import { Shares0001 } from './0001-shares';
import { Blacklist0002 } from './0002-blacklist';
import { Journal0003 } from './0003-journal';
import { Bans0004 } from './0004-bans';
import { Admission0005 } from './0005-admission';
import { SeenOrders0006 } from './0006-seen-orders';
import { RefusedRequests0007 } from './0007-refused-requests';
import { MessageKeys0008 } from './0008-message-keys';
import { FeeSums0011 } from './0011-fee-sums';
import { UnfrozenDigests0012 } from './0012-unfrozen-digests';
import { KeysOfAttempts0013 } from './0013-keys-of-attempts';
import { AccountKeys0014 } from './0014-account-keys';
import { Proofs0015 } from './0015-proofs';
import { OneKeyPerAccount0016 } from './0016-one-key-per-account';
import { GuardedShares0017 } from './0017-guarded-shares';

/** In this order. A released migration is never edited: a change is a new file. */
export const migrations = [
  Shares0001,
  Blacklist0002,
  Journal0003,
  Bans0004,
  Admission0005,
  SeenOrders0006,
  RefusedRequests0007,
  MessageKeys0008,
  FeeSums0011,
  UnfrozenDigests0012,
  KeysOfAttempts0013,
  AccountKeys0014,
  Proofs0015,
  OneKeyPerAccount0016,
  GuardedShares0017,
];
