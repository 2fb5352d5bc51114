import type { Family } from '../family';
import { boundFee } from './bound';
import { createBitcoinCodec } from './codec';
import { bitcoinFees } from './fees';
import { type BitcoinNetwork, networks } from './network';
import { reserveInputs } from './reserve';

/**
 * A Bitcoin network: inputs of the sender; a replacement at a higher fee (BIP-125) when stuck; when abandoned, a transaction that spends
 * the first input to the sender itself.
 */
const createBitcoinFamily = (network: BitcoinNetwork): Family => ({
  name: network.family,
  rules: { stuck: 'replace', expired: 'park', abandoned: 'cancel' },
  keyProtocol: 'ecdsa-secp256k1',
  addressOnManyChains: false,
  tokenType: 'NATIVE',
  fees: bitcoinFees,
  ...createBitcoinCodec(network),
  bound: (manager, request) => boundFee(network, manager, request),
  reserve: (...parameters) => reserveInputs(network, ...parameters),
});

export const bitcoinFamilies: readonly Family[] = networks.map(createBitcoinFamily);
