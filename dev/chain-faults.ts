/** What can go wrong on a local chain, on demand. */
export interface ChainFaults {
  /** No block is made until `resume`, but by `mine` and by the faucet. */
  delay(): Promise<void>;
  resume(): Promise<void>;
  mine(blocks: number): Promise<void>;
  /** The node forgets a transaction that waits for a block; on Bitcoin all of them, since its node is started again for that: it may lose the newest blocks too. */
  drop(id: string): Promise<void>;
  /**
   * Other blocks take the place of the newest ones. On EVM chains, Tron and Solana their transactions are gone; on Bitcoin they are in the new
   * blocks or wait for one; on Solana those are replaced which are processed and not confirmed.
   */
  reorganise(depth: number): Promise<void>;
}
