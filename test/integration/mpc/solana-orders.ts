import { groupPath } from '../../../src/chains/key-protocols';
import type { TransactionIntent } from '../../../src/chains/types';
import type { GroupKey } from '../../../src/messages/key-generation';
import type { SigningClaims } from '../../../src/messages/order';
import { newId } from '../../../src/platform/ids';
import { solanaFixture } from '../../families/solana';
import { orderHead } from '../../orders';
import { buildSolana, solanaChain, solanaCodec, usdcMint } from '../../solana';
import { client, type OrderedTransfer } from './transactions';

const recipient = solanaFixture.newAddress();

/** An honest order to pay so many atomic units of USDC on Solana from the account of a key; another amount is another message. */
export function orderedOnSolana(key: GroupKey, amount: number): OrderedTransfer {
  const { address: from } = solanaCodec.address(Buffer.from(key.publicKey.slice(2), 'hex'));
  const intent: TransactionIntent = { from, outputs: [{ recipient, tokenContract: usdcMint, amount: BigInt(amount) }] };
  const unsigned = buildSolana(intent);
  const digests = solanaCodec.signingPayloads(unsigned, from).map(({ digest }) => digest);
  const claims: SigningClaims = {
    ...orderHead(),
    ...{ kind: 'transfer', tx_id: newId(), attempt: 1, client_id: client, request: null, chain: solanaChain.caip2, from },
    signers: [{ key_id: key.keyId, path: groupPath, protocol: 'frost-ed25519', digests }],
    recipients: [{ address: recipient, token: usdcMint, amount: String(amount) }],
    max_fee: '3000000',
  };
  return { claims, unsigned };
}
