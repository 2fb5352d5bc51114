import { GatewayError } from '../../platform/errors';
import type { Family } from '../family';
import { findFeeLevels } from '../fee-levels';
import { createTronCodec } from './codec';
import { parseAddress } from './codec/address';
import { memoCost, tronFees } from './fees';
import { networks, type TronNetwork } from './network';

/**
 * A Tron network: a transaction uses nothing up, and expires. The same bytes are sent again when stuck; once it has expired and is not
 * on the chain, a new one is made; when abandoned, its expiry is waited for.
 */
const createTronFamily = (network: TronNetwork): Family => ({
  name: network.family,
  rules: { stuck: 'rebroadcast', expired: 'reissue', abandoned: 'expiry' },
  keyProtocol: 'ecdsa-secp256k1',
  addressOnManyChains: false,
  tokenType: 'TRC20',
  carriesMemo: true,
  fees: tronFees,
  ...createTronCodec(network),
  bound: async (manager, { chain, source, token, outputs, memo, levels: known }) => {
    const isOwn = outputs.some(({ recipient }) => parseAddress(recipient)?.key === source.addressKey);
    if (token.contract === null && isOwn)
      throw new GatewayError('business_error', `${chain.native.symbol} cannot be sent to the account itself`);
    const levels = known ?? (await findFeeLevels(manager, chain));
    return tronFees.bound(chain, token, levels) + (memo === undefined ? 0n : memoCost(levels, memo));
  },
  reserve: () => Promise.resolve({ outcome: 'reserved', resources: [] }),
});

export const tronFamilies: readonly Family[] = networks.map(createTronFamily);
