import type { Family } from '../family';
import { boundFee } from './bound';
import { createBitcoinCodec } from './codec';
import { bitcoinFees } from './fees';
import { type BitcoinNetwork, networks } from './network';
import { planGathering, reserveSmall } from './gather';
import { reserveInputs } from './reserve';
import { highestDustLimit } from './sizes';

/**
 * A Bitcoin network: inputs of the sender; a replacement at a higher fee (BIP-125) when stuck; when abandoned, a transaction that spends
 * the first input to the sender itself.
 */
const createBitcoinFamily = (network: BitcoinNetwork): Family => ({
  name: network.family,
  rules: { stuck: 'replace', expired: 'park', abandoned: 'cancel' },
  keyProtocol: 'ecdsa-secp256k1',
  addressOnManyChains: false,
  spendsOutputs: true,
  tokenType: 'NATIVE',
  smallestPayment: highestDustLimit,
  fees: bitcoinFees,
  ...createBitcoinCodec(network),
  bound: (manager, request) => boundFee(network, manager, request),
  reserve: (manager, owner, prepared, txId, kind, intent) =>
    intent.gather && kind === 'first'
      ? reserveSmall(manager, owner, prepared, txId, intent.gather)
      : reserveInputs(network, manager, owner, prepared, txId, kind, intent),
  gathering: { plan: planGathering },
});

export const bitcoinFamilies: readonly Family[] = networks.map(createBitcoinFamily);
