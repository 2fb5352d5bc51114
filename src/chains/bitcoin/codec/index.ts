import type { FamilyCodec, SigningPayload, TransactionPlan } from '../../family';
import type { Hex, Prepared, TransactionDescription, TransactionIntent } from '../../types';
import { readDetails, toPrepared } from '../details';
import type { BitcoinNetwork } from '../network';
import { address, findForeignUsers, parseAddress, toAddress, toKey, toOutputScript } from './address';
import { hasWrongChecksum } from './checksum';
import { assemble, getDigests } from './signing';
import { decode, encode, getFee, getVirtualSize, open, type Payment, sum, type UnsignedTransaction } from './transaction';

/** What an intent pays; a payment of nothing to the sender itself has no output of its own. @throws Error for what Bitcoin cannot do. */
export function toPayments(network: BitcoinNetwork, { from, outputs, action }: TransactionIntent): Payment[] {
  if (action) throw new Error('only payments are known');
  if (outputs.some(({ tokenContract }) => tokenContract !== null)) throw new Error('there are no tokens');
  const sender = toKey(toOutputScript(network, from));
  const payments = outputs.map(({ recipient, amount }) => ({ script: toOutputScript(network, recipient), amount }));
  return payments.filter(({ script, amount }) => amount !== 0n || toKey(script) !== sender);
}

function build(network: BitcoinNetwork, { intent, kind, prepared, resources }: TransactionPlan): Hex {
  const { selection } = readDetails(prepared);
  if (!selection) throw new Error('no inputs are reserved');
  const { coins, fee } = selection;
  if (coins.length !== resources.length || coins.some(({ resource }, index) => resource !== resources[index]))
    throw new Error('the inputs are not those that are reserved');
  const payments = toPayments(network, intent);
  if (kind === 'cancellation' && payments.length > 0) throw new Error('a cancellation pays nobody');
  const change = sum(coins) - sum(payments) - fee;
  if (change < 0n) throw new Error('the inputs do not suffice');
  return encode({ coins, script: toOutputScript(network, intent.from), payments, change });
}

function describe({ caip2, format }: BitcoinNetwork, unsigned: Hex): TransactionDescription {
  const transaction = decode(unsigned);
  const { payments, change } = transaction;
  return {
    chain: caip2,
    action: 'payment',
    outputs: describeOutputs(transaction).map(({ script, amount }) => ({
      recipient: toAddress(format, script),
      tokenContract: null,
      amount,
    })),
    maxNetworkFee: getFee(transaction),
    resources: transaction.coins.map(({ resource }) => resource),
    // behind the payments
    ...(change > 0n && { change: { resource: `${open(unsigned).id}:${payments.length}`, amount: change } }),
    size: Number(getVirtualSize(transaction)),
  };
}

/** Nothing but change: a payment of nothing to the sender. */
const describeOutputs = ({ payments, script }: UnsignedTransaction): Payment[] =>
  payments.length > 0 ? payments : [{ script, amount: 0n }];

function recover(unsigned: Hex, feeBound: bigint): Prepared {
  const transaction = decode(unsigned);
  const fee = getFee(transaction);
  const details = { rate: fee / getVirtualSize(transaction), outbid: 0n, selection: { coins: transaction.coins, fee } };
  return toPrepared(details, feeBound);
}

/** @throws Error for bytes of another sender. */
function assertSender(network: BitcoinNetwork, unsigned: Hex, from: string): string {
  const sender = toKey(decode(unsigned).script);
  if (sender !== parseAddress(network, from)?.key) throw new Error('the inputs are of another sender');
  return sender;
}

function signingPayloads(network: BitcoinNetwork, unsigned: Hex, from: string): SigningPayload[] {
  const signer = assertSender(network, unsigned, from);
  return getDigests(unsigned).map((digest) => ({ signer, digest }));
}

/**
 * P2WPKH accounts at BIP-32 path m/0/i (coin type of SLIP-44), transactions as PSBT (BIP-174), signatures by BIP-143. The id of such a
 * transaction does not depend on its signatures, so it is the message key too.
 */
export const createBitcoinCodec = (network: BitcoinNetwork) =>
  ({
    accountPath: (index: number) => `m/0/${index}`,
    address: (publicKey: Uint8Array) => address(network, publicKey),
    parseAddress: (text: string) => parseAddress(network, text),
    findForeignUsers: (text: string) => findForeignUsers(network, text),
    hasWrongChecksum: (text: string) => hasWrongChecksum(network, text),
    build: (plan: TransactionPlan) => build(network, plan),
    recover,
    getOrdinal: () => null,
    describe: (unsigned: Hex) => describe(network, unsigned),
    signingPayloads: (unsigned: Hex, from: string) => signingPayloads(network, unsigned, from),
    assemble: (unsigned: Hex, signatures: Hex[], from: string) => {
      assertSender(network, unsigned, from);
      return assemble(unsigned, signatures);
    },
    messageKey: (unsigned: Hex, from: string) => {
      assertSender(network, unsigned, from);
      return open(unsigned).id;
    },
  }) satisfies Partial<FamilyCodec>;
