import { NETWORK, TEST_NETWORK } from '@scure/btc-signer';

/** Version bytes of Base58Check and the prefix of bech32. */
export type AddressFormat = typeof NETWORK;

/** Addresses differ between networks: each of them is a family of its own. */
export interface BitcoinNetwork {
  /** Name of the family. */
  family: string;
  /** CAIP-2 (BIP-122): the first 16 bytes of the hash of block 0. */
  caip2: string;
  /** As a message calls those who use this format of addresses. */
  users: string;
  /** Of the addresses that are shown. */
  format: AddressFormat;
  /** Of the addresses that are understood. */
  accepted: readonly AddressFormat[];
}

/** Bitcoin Core, src/kernel/chainparams.cpp (CRegTestParams); Base58Check is that of the test networks. */
const regtestFormat: AddressFormat = { ...TEST_NETWORK, bech32: 'bcrt' };

export const mainnet: BitcoinNetwork = {
  family: 'bitcoin',
  caip2: 'bip122:000000000019d6689c085ae165831e93',
  users: 'mainnet',
  format: NETWORK,
  accepted: [NETWORK],
};

const testUsers = 'the test networks';

/** The default signet (BIP-325), whose addresses are those of the test networks. */
export const signet: BitcoinNetwork = {
  family: 'bitcoin-signet',
  caip2: 'bip122:00000008819873e925422c1ff0f99f7c',
  users: testUsers,
  format: TEST_NETWORK,
  accepted: [TEST_NETWORK],
};

/** BIP-94. */
export const testnet4: BitcoinNetwork = {
  ...signet,
  family: 'bitcoin-testnet4',
  caip2: 'bip122:00000000da84f2bafbbc53dee25a72ae',
};

/** A local chain takes addresses of every network: each stands for the same script here. */
export const regtest: BitcoinNetwork = {
  family: 'bitcoin-regtest',
  caip2: 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328',
  users: 'regtest',
  format: regtestFormat,
  accepted: [regtestFormat, TEST_NETWORK, NETWORK],
};

export const networks: readonly BitcoinNetwork[] = [mainnet, signet, testnet4, regtest];
