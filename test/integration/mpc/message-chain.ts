import { createHash } from 'node:crypto';
import { getFamily as getRealFamily } from '../../../src/chains/families';
import type { Family, GetFamily } from '../../../src/chains/family';
import { groupPath } from '../../../src/chains/key-protocols';
import { ChainRegistry } from '../../../src/chains/registry';
import type { Hex } from '../../../src/chains/types';
import type { GroupKey } from '../../../src/messages/key-generation';
import type { SigningClaims } from '../../../src/messages/order';
import { orderHead } from '../../orders';
import { toyChain } from '../../toy-chain/chain';
import { toyFamily } from '../../toy-chain/family';
import { encodeMessage, toKey, toyAddress } from '../../toy-chain/message';
import { localRegistry } from './group';
import { client, type OrderedTransfer } from './transactions';

const bytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');
const sha256 = (hex: Hex): Hex => `0x${createHash('sha256').update(bytes(hex)).digest('hex')}`;

/** The toy chain with Ed25519: a key for each account, and a signature over the message itself. */
export const messageFamily: Family = {
  ...toyFamily,
  name: 'toy-messages',
  keyProtocol: 'frost-ed25519',
  accountPath: () => groupPath,
  signingPayloads: (unsigned, from) => [{ signer: toKey(from), digest: sha256(unsigned), message: unsigned }],
};

export const getFamily: GetFamily = (name) => (name === messageFamily.name ? messageFamily : getRealFamily(name));

const chain = toyChain({ name: 'messages', family: messageFamily.name, caip2: 'toy:2' });
export const messageRegistry = new ChainRegistry([...localRegistry.all, chain]);

export const addressOf = (key: GroupKey): string => toyAddress(bytes(key.publicKey)).address;
const recipient = toyAddress(Buffer.from('somebody')).address;

/** An honest order to pay from the account of a key; another input is another transaction. */
export function orderedMessage(key: GroupKey, input: number, changes: Partial<SigningClaims> = {}): OrderedTransfer {
  const from = addressOf(key);
  const unsigned = encodeMessage({
    ...{ chain: chain.caip2, from, expiryHeight: 100 },
    inputs: [{ id: `${'ab'.repeat(32)}:${input}`, owner: from, amount: 500n }],
    outputs: [{ to: recipient, amount: 300n }],
    change: [{ to: from, amount: 190n }],
  });
  const claims = {
    ...orderHead(),
    kind: 'transfer',
    tx_id: `0190b5a4-0000-7000-8000-${createHash('sha256').update(unsigned).digest('hex').slice(0, 12)}`,
    attempt: 1,
    client_id: client,
    request: null,
    signers: [{ key_id: key.keyId, path: groupPath, protocol: 'frost-ed25519', digests: [sha256(unsigned)] }],
    chain: chain.caip2,
    from,
    recipients: [{ address: recipient, token: null, amount: '300' }],
    max_fee: '10',
    ...changes,
  } as SigningClaims;
  return { claims, unsigned };
}
