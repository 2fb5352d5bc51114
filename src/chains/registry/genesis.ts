/**
 * Hashes of block 0 by CAIP-2 id: a fork or a private copy has the chain's id, but another genesis. Each was read in at least two
 * independent public texts (including the chain's own node software or its tests, where it has any).
 */
export const genesisHashes: Readonly<Record<string, string>> = {
  'eip155:1': '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
  'eip155:10': '0x7ca38a1916c42007829c55e69d3e9a73265554b586a499015373241b8a3fa48b',
  'eip155:56': '0x0d21840abff46b96c84b2ac9e10e4f5cdaeb5693cb665db62a2f3b02d2d57b5b',
  'eip155:97': '0x6d3c66c5357ec91d5c43af47e234a939b22557cbb552dc45bebbceeed90fbe34',
  'eip155:137': '0xa9c28ce2141b56c474f1dc504bee9b01eb1bd7d1a507580d5519d4437a97de1b',
  'eip155:8453': '0xf712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd',
  'eip155:42161': '0x7ee576b35482195fc49205cec9af72ce14f003b9ae69f6ba0faef4514be8b442',
  // Avalanche's C-Chain has the same genesis on mainnet and Fuji: only the chain id distinguishes them
  'eip155:43113': '0x31ced5b9beb7f8782b014660da0cb18cc409f121f408186886e1ca3e8eeca96b',
  'eip155:43114': '0x31ced5b9beb7f8782b014660da0cb18cc409f121f408186886e1ca3e8eeca96b',
  'eip155:80002': '0x7202b2b53c5a0836e773e319d18922cc756dd67432f9a1f65352b61f4406c697',
  'eip155:84532': '0x0dcc9e089e30b90ddfc55be9a37dd15bc551aeee999d2e2b51414c54eaf934e4',
  'eip155:421614': '0x77194da4010e549a7028a9c3c51c3e277823be6ac7d138d0bb8a70197b5c004c',
  'eip155:11155111': '0x25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9',
  'eip155:11155420': '0x102de6ffb001480cc9b8b548fd05c34cd4f46ae4aa91759393db90ea0409887d',
};
