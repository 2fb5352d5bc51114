export interface FollowChainWorkflowInput {
  chain: string;
}

/** Runs on the task queue of the chain. */
export interface FollowerActivities {
  /** Follows the chain until told to stop by cancellation or until its work slice is over; heartbeats. */
  followChain(input: { chain: string }): Promise<{ nextBlock: number }>;
}
