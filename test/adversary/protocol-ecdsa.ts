import { randomUUID } from 'node:crypto';
import { type Address, createPublicClient, http, parseEther } from 'viem';
import { generateKeyWorkflowId } from '../../src/messages/workflow-ids';
import { randomAddress } from '../factories';
import { evmFixture } from '../families/evm';
import { stack } from '../stack/client';
import { gatewayQuery } from './processes';
import type { ProtocolCase } from './protocols';
import { alter, chain } from './transfers';

export const ecdsa: ProtocolCase = {
  protocol: 'ecdsa-secp256k1',
  fixture: evmFixture(chain),
  others: (unsigned, seed) =>
    [
      { to: randomAddress() as Address },
      { value: parseEther('1') },
      { nonce: 700 + seed },
      { maxFeePerGas: 10n ** 15n },
      { chainId: 10 },
    ].map((changes) => alter(unsigned, changes)),
  renew: (prepared) => Promise.resolve(prepared),
  broadcast: (signed) =>
    createPublicClient({ transport: http(stack().chains[chain]?.rpc) }).request({
      method: 'eth_sendRawTransaction',
      params: [signed],
    }),
  spoilable: 1,
  generationOf: ({ walletId }) => generateKeyWorkflowId(walletId),
  orderNewKey: async (temporal, { walletId: ofClient }) => {
    const walletId = randomUUID();
    await gatewayQuery(
      `insert into wallets (wallet_id, client_id, wallet_name) select $1, client_id, 'nobody''s' from wallets where wallet_id = $2`,
      [walletId, ofClient],
    );
    const { order } = await temporal.authoriser('orderKeyGeneration', { walletId, keyId: `${walletId}.1` });
    return { order, remove: () => gatewayQuery('delete from wallets where wallet_id = $1', [walletId]) };
  },
};
