import { randomBytes, randomUUID } from 'node:crypto';
import { type Base64EncodedWireTransaction, createSolanaRpc } from '@solana/kit';
import { toBytes } from '../../src/chains/solana/codec/address';
import { decode, encode, maxPrice, maxUnits } from '../../src/chains/solana/codec/transaction';
import type { Prepared } from '../../src/chains/types';
import { generateAccountKeyWorkflowId } from '../../src/messages/workflow-ids';
import { solanaFixture } from '../families/solana';
import { stack } from '../stack/client';
import { gatewayQuery } from './processes';
import type { ProtocolCase } from './protocols';

const rpc = () => createSolanaRpc(stack().chains[solanaFixture.chain]?.rpc ?? '');

/** With the hash of the newest block. */
async function renew(prepared: Prepared): Promise<Prepared> {
  const { context, value } = await rpc().getLatestBlockhash({ commitment: 'finalized' }).send();
  const { blockhash, lastValidBlockHeight } = value;
  return {
    ...prepared,
    expiry: { blockhash, slot: Number(context.slot), lastValidBlockHeight: Number(lastValidBlockHeight) },
  };
}

export const frost: ProtocolCase = {
  protocol: 'frost-ed25519',
  fixture: solanaFixture,
  others: (unsigned) =>
    [
      { recipient: toBytes(solanaFixture.newAddress()) },
      { amount: 1_000_000_000n },
      { blockhash: randomBytes(32) },
      { units: maxUnits, price: maxPrice },
      { memo: 'another' },
    ].map((changes) => encode({ ...decode(unsigned), ...changes })),
  renew,
  broadcast: (signed) =>
    rpc()
      .sendTransaction(Buffer.from(signed.slice(2), 'hex').toString('base64') as Base64EncodedWireTransaction, {
        encoding: 'base64',
      })
      .send(),
  spoilable: 32,
  generationOf: ({ account_id: accountId }) => generateAccountKeyWorkflowId(accountId),
  orderNewKey: async (temporal, { account_id: ofClient }) => {
    const accountId = randomUUID();
    await gatewayQuery(
      `insert into account_key_requests (account_id, wallet_id, client_id, family, in_flight_until)
       select $1, wallet_id, client_id, family, now() from accounts where account_id = $2`,
      [accountId, ofClient],
    );
    const { order } = await temporal.authoriser('orderAccountKey', { accountId, keyId: `${accountId}.1` });
    return { order, remove: () => gatewayQuery('delete from account_key_requests where account_id = $1', [accountId]) };
  },
};
