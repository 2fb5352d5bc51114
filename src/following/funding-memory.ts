import type { ChainObservation } from '../messages/transfer';

interface Asked {
  /** The first block that was not scanned then. */
  nextBlock: number;
  /** null: it could not be asked about. */
  seen: ChainObservation | null;
}

/** What is known of the transfers of one chain. It outlives a run of the follower, so that the next one does not ask about all again. */
export class FundingMemory {
  readonly asked = new Map<string, Asked>();
  usedAt = Date.now();
}
