import type { Family } from '../family';
import { findFeeLevels } from '../fee-levels';
import { evmCodec } from './codec';
import { readDetails } from './details';
import { assumedGas, boundOf, evmFees, isAboveStep } from './fees';
import { reserveNonce } from './reserve';

/**
 * EVM chains: one nonce per transfer; a replacement at a higher fee when stuck; a cancellation on the same nonce when abandoned.
 */
export const evmFamily: Family = {
  name: 'evm',
  rules: { stuck: 'replace', expired: 'park', abandoned: 'cancel' },
  keyProtocol: 'ecdsa-secp256k1',
  addressOnManyChains: true,
  tokenType: 'ERC20',
  fees: evmFees,
  ...evmCodec,
  bound: async (manager, { chain, token, action, levels }) =>
    boundOf(chain, assumedGas(token, action), levels ?? (await findFeeLevels(manager, chain))),
  reserve: reserveNonce,
  isOutbid: (unsigned, prepared) => isAboveStep(unsigned, readDetails(prepared)),
};
