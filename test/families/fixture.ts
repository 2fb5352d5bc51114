/** What tests have to know of a family that they do not name: an entry of the table in index.ts. */
export interface FamilyFixture {
  /** Of the local profile. */
  chain: string;
  /** Of its native coin. */
  symbol: string;
  decimals: number;
  /** False where the node of the local chain cannot be had on this machine: its tests count as skipped. */
  isInstalled: boolean;
  /**
   * Tests speak of amounts far above a fee where a coin is dear, such as 0.5: what takes its place here. Both in display units of the
   * native coin.
   */
  amount: (text: string) => string;
  /** An address that nobody of the gateway has. */
  newAddress: () => string;
  /** Texts that stand for the same address, besides its own. */
  spellings: (address: string) => string[];
  /** Addresses to which transfers go, one of every kind, that nobody of the gateway has; by kind. */
  destinations: () => Record<string, string>;
  /** What is refused as an address of the local chain: published vectors, and addresses of other networks; by what is wrong. */
  invalidAddresses: readonly (readonly [problem: string, text: string])[];
  node: (rpc: string) => NodeView;
}

/** A local chain as somebody outside of the gateway sees it. Amounts in atomic units of the native coin. */
export interface NodeView {
  balanceOf: (address: string) => Promise<bigint>;
  /** What a transaction in a block has paid to an address. @throws Error for a transaction that is in no block, or has failed. */
  paid: (id: string, address: string) => Promise<bigint>;
  /** Whether a transaction is in a block. */
  isIncluded: (id: string) => Promise<boolean>;
}
