import { defineSignal } from '@temporalio/workflow';

export interface DistributeBlacklistWorkflowInput {
  clientId: string;
}

/** The client's blacklist has changed: its nodes' copies have to follow. */
export const blacklistChangedSignal = defineSignal('blacklistChanged');

/** Changes in one page, which is well below what Temporal carries at once. */
export const maxBlacklistChanges = 1000;

/** Changes of a client's active blacklist in their order, of every version above `after` up to `through`. */
export interface BlacklistChanges {
  clientId: string;
  /** The version they build on; 0 for nothing. */
  after: number;
  /** The version they lead to; equal to `after` when there are none. */
  through: number;
  /** Addresses in canonical form. */
  changes: { chain: string; addressKey: string; listed: boolean }[];
}

/** A page for a node, with the order that permits it. */
export interface ApplyBlacklistRequest {
  /** blacklist_page (order.ts): client, versions and the hash of the changes. */
  order: string;
  changes: BlacklistChanges['changes'];
}
