export interface FollowChainWorkflowInput {
  chain: string;
}

/** What the activity says of itself at every poll; the Temporal UI shows it. */
export interface FollowerHeartbeat {
  /** The cursor: the first block that is not scanned. */
  nextBlock: number;
  /** The newest block that a node has reported; null before the first answer. */
  head: number | null;
  /** Host and port of the endpoint that is asked first. */
  endpoint: string;
}

/** Runs on the task queue of the chain’s follower. */
export interface FollowerActivities {
  /** Follows the chain until it is cancelled or its work period is over; sends heartbeats. */
  followChain(input: { chain: string }): Promise<{ nextBlock: number }>;
}
