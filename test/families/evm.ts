import { type Address, createPublicClient, type Hex, http, isAddressEqual } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { FamilyFixture, NodeView } from './fixture';

const newAddress = (): Address => privateKeyToAccount(generatePrivateKey()).address;

/** EIP-55, "Test Cases", each with the case of one letter changed. */
const wrongChecksums = [
  '0x52908400098527886E0F7030069857D2E4169Ee7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070d',
  '0xDe709f2102306220921060314715629080e2fb77',
  '0x27B1fdb04752bbc536007a920d24acb045561c26',
  '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xFB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdBF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xd1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];

const invalidAddresses = [
  ...wrongChecksums.map((text) => ['a wrong EIP-55 checksum', text] as const),
  ['no hex', 'bob'],
  ['a digit that hex does not have', '0x6AE8cF0C1BbA5F214D82dc34e8566fA4f427C37g'],
  ['41 characters', '0x6AE8cF0C1BbA5F214D82dc34e8566fA4f427C37'],
  ['43 characters', '0x6AE8cF0C1BbA5F214D82dc34e8566fA4f427C3755'],
  ['no prefix', '6AE8cF0C1BbA5F214D82dc34e8566fA4f427C375'],
  ['the zero address', `0x${'0'.repeat(40)}`],
  ['a transaction hash', `0x${'ab'.repeat(32)}`],
  ['an ICAP address', 'XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS'],
  ['a name', 'vitalik.eth'],
  ['a Bitcoin address', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ['a Tron address', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'],
  ['a Solana address', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
] as const;

/** An EVM chain of the local profile. */
export const evmFixture = (chain: string): FamilyFixture => ({
  chain,
  symbol: 'ETH',
  decimals: 18,
  isInstalled: true,
  amount: (text) => text,
  newAddress,
  // capitals are no checksum
  spellings: (address) => [address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`],
  destinations: () => ({ 'with its checksum': newAddress(), 'in lower case': newAddress().toLowerCase() }),
  invalidAddresses,
  node,
});

function node(rpc: string): NodeView {
  const client = createPublicClient({ transport: http(rpc) });
  return {
    balanceOf: (address) => client.getBalance({ address: address as Address }),
    paid: async (id, address) => {
      const hash = id as Hex;
      const [{ status }, { to, value }] = await Promise.all([
        client.getTransactionReceipt({ hash }),
        client.getTransaction({ hash }),
      ]);
      if (status !== 'success') throw new Error(`${id} was reverted`);
      return to && isAddressEqual(to, address as Address) ? value : 0n;
    },
    isIncluded: (id) =>
      client.getTransactionReceipt({ hash: id as Hex }).then(
        () => true,
        () => false,
      ),
  };
}
