import { defineSignal } from '@temporalio/workflow';

export interface DistributeBlacklistWorkflowInput {
  clientId: string;
}

/** The client's blacklist has changed: the nodes' copies must be updated. */
export const blacklistChangedSignal = defineSignal('blacklistChanged');

/** Maximum number of changes per page, well below the size limit of Temporal payloads. */
export const maxBlacklistChanges = 1000;

/** Changes of a client's active blacklist in order, of every version above `after` up to `through`. */
export interface BlacklistChanges {
  clientId: string;
  /** The version to which the changes are applied; 0 for an empty copy. */
  after: number;
  /** The resulting version; equal to `after` when there are no changes. */
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
