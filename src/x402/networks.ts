import type { ChainDefinition } from '../chains/types';

/** Names of networks in version 1 of the protocol, with their CAIP-2 ids, whether or not the gateway has them. */
export const networksV1: Readonly<Record<string, string>> = {
  ethereum: 'eip155:1',
  sepolia: 'eip155:11155111',
  abstract: 'eip155:2741',
  'abstract-testnet': 'eip155:11124',
  'base-sepolia': 'eip155:84532',
  base: 'eip155:8453',
  'avalanche-fuji': 'eip155:43113',
  avalanche: 'eip155:43114',
  iotex: 'eip155:4689',
  sei: 'eip155:1329',
  'sei-testnet': 'eip155:1328',
  polygon: 'eip155:137',
  'polygon-amoy': 'eip155:80002',
  peaq: 'eip155:3338',
  story: 'eip155:1514',
  educhain: 'eip155:41923',
  'skale-base-sepolia': 'eip155:324705682',
  megaeth: 'eip155:4326',
  monad: 'eip155:143',
  stable: 'eip155:988',
  'stable-testnet': 'eip155:2201',
  celo: 'eip155:42220',
  flare: 'eip155:14',
  solana: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  'solana-devnet': 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  'solana-testnet': 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z',
};

/** Version 1's name of a chain; one without an official name has the gateway's. */
export const networkNameV1 = ({ caip2, name }: ChainDefinition): string =>
  Object.keys(networksV1).find((known) => networksV1[known] === caip2) ?? name;
