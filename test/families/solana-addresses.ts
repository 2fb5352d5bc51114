/** Forms that are easily taken for an address of Solana, programs that nobody has the key of, and addresses of other networks. */
export const invalidSolanaAddresses = [
  ['a character that Base58 does not have', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt10'],
  ['a letter that looks like a digit', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDtlv'],
  ['two characters less', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt'],
  ['a character more', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v1'],
  ['a leading zero byte too many', '1EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
  ['blanks', ' EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v '],
  ['hex of its bytes', 'c6fa7af3bedbad3a3d65f36aabc97431b1bbe4c2d2f6e0e47ca60203452f5d61'],
  ['a name', 'toly.sol'],
  ['a URI of Solana Pay', 'solana:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
  ['the System program, whose bytes are zero', '11111111111111111111111111111111'],
  ['a token program', 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'],
  ['the program of token accounts', 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'],
  ['an EVM address', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
  ['a Bitcoin address', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
  ['a Tron address', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'],
  ['a transaction id', '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW'],
] as const;
