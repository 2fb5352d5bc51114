/** The bytes of transactions and the addresses are the same on every network: what a network signs is a family of its own. */
export interface TronNetwork {
  /** Name of the family. */
  family: string;
  /** CAIP-2 (namespace tron): the last four bytes of the id of block 0, in decimal digits. */
  caip2: string;
}

const mainnet: TronNetwork = { family: 'tron', caip2: 'tron:728126428' };
const nile: TronNetwork = { family: 'tron-nile', caip2: 'tron:3448148188' };
/** A chain on one machine, with a block 0 of its own. */
export const local: TronNetwork = { family: 'tron-local', caip2: 'tron:local' };

export const networks: readonly TronNetwork[] = [mainnet, nile, local];
