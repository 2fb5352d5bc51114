/** Forms that are easily taken for an address of Tron, of TRON's documents and of other networks. */
export const invalidTronAddresses = [
  ['a wrong checksum', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u'],
  ['the first letter in lower case', 'tR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  ['lower case', 'tr7nhqjekqxgtci8q8zy4pl8otszgjlj6t'],
  ['a character that Base58 does not have', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj60'],
  ['a character less', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6'],
  ['blanks', ' TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t '],
  ['the form of EVM chains', '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c'],
  ['hex behind 0x', '0x41a614f803b6fd780986a42c78ec9c7f77e6ded13c'],
  ['hex with another first byte', 'a0a614f803b6fd780986a42c78ec9c7f77e6ded13c'],
  ['hex that is too short', '41a614f803b6fd780986a42c78ec9c7f77e6ded1'],
  ['the zero address', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'],
  ['the zero address in hex', '410000000000000000000000000000000000000000'],
  ['a transaction id', 'ab'.repeat(32)],
  ['a Bitcoin address', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
  ['a Solana address', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
] as const;
