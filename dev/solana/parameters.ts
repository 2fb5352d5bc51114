/** Constants of the cluster: anza-xyz/agave, clock (MAX_PROCESSING_AGE, MAX_RECENT_BLOCKHASHES), packet (PACKET_DATA_SIZE), fee-structure. */

/** A blockhash is good for a block if so many blocks at most have come after its own. */
export const maxProcessingAge = 150;
/** getSignatureStatuses looks so many blocks back, unless it is to search the history. */
export const recentBlocks = 300;
/** Bytes of a transaction. */
export const maxTransactionBytes = 1_232;
export const lamportsPerSignature = 5_000n;
export const slotsPerEpoch = 432_000n;

/** What this chain keeps: see the README. */
export const limits = {
  keptBlocks: 65_536,
  keptTransactions: 10_000,
  pending: 2_000,
  blockTransactions: 2_000,
  mined: 10_000,
};

export const programs = {
  system: '11111111111111111111111111111111',
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  token2022: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  associatedToken: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  computeBudget: 'ComputeBudget111111111111111111111111111111',
} as const;
/** Owns the programs that are executed as they are written (bpf_loader). */
export const loader = 'BPFLoader2111111111111111111111111111111111';
export const lookupTables = 'AddressLookupTab1e1111111111111111111111111';

/** Symbol to mint: the issuers' own on mainnet (circle.com, tether.to). Both have six decimals. */
export const defaultTokens: Record<string, string> = {
  USDC: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  USDT: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
};
export const tokenDecimals = 6;
