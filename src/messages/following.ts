export interface FollowChainWorkflowInput {
  chain: string;
}

/** Runs on the task queue of the chain’s follower. */
export interface FollowerActivities {
  /** Follows the chain until it is cancelled or its work period is over; sends heartbeats. */
  followChain(input: { chain: string }): Promise<{ nextBlock: number }>;
}
