import type { BlockScan, IsOurs, ScanResult } from '../chain-client';
import { allInOrder } from '../../platform/all-in-order';
import { inOrder } from '../../platform/in-order';
import { type Header, readHash } from './answers';
import { authorisationKey } from './authorise/codec';
import { isUsable, toBytes } from './codec/address';
import { hexFromBase58 } from './codec/base58';
import { messageHash } from './codec/message-hash';
import { isAssociatedAccount } from './codec/token-account';
import type { SolanaNode } from './node';
import type { PaidBlock, Payment } from './paid/read';

/** Blocks that are on their way, or wait for those before them. Each has some MB. */
const blocksAtOnce = 8;
/** Slots without a block may come in rows, when the chain stood still. */
const maxSkipped = 20_000;

/** Finalized blocks of the slots from..to with the deposits in them; fewer when they are not final yet. */
export async function scanBlocks(
  node: SolanaNode,
  { from, to }: { from: number; to: number },
  isOurs: IsOurs,
): Promise<ScanResult> {
  const [head, shown] = await allInOrder([node.slot(), node.slots(from, to)]);
  const end = Math.min(to, head);
  if (end < from) return { blocks: [], scannedTo: from - 1 };
  const slots = shown.filter((slot) => slot <= head);
  const findOwn = lookUp(isOurs);
  const blocks: BlockScan[] = [];
  let last: Header | null = null;
  for await (const block of inOrder(slots, blocksAtOnce, (slot) => node.paidBlock(slot))) {
    // what the node leaves out is no slot without a block
    if (!block || (last ? last.blockhash !== block.parentHash : block.parentSlot >= from))
      throw new Error('a block does not follow the one before');
    blocks.push(await scanBlock(node, block, findOwn));
    last = block;
  }
  const scannedTo = blocks.at(-1)?.number ?? ((await areSkipped(node, { from, end, head })) ? end : from - 1);
  return { blocks, scannedTo };
}

/** Slots behind the last block are without one only if the next block says so. */
async function areSkipped(node: SolanaNode, { from, end, head }: { from: number; end: number; head: number }): Promise<boolean> {
  if (head <= end) return false;
  const [next] = await node.slots(end + 1, Math.min(head, end + maxSkipped));
  const header = next === undefined ? null : await node.header(next);
  return header !== null && header.parentSlot < from;
}

/** Which of these addresses (Base58) belong to the gateway. */
type FindOwn = (addresses: string[]) => Promise<ReadonlySet<string>>;

/** Asks once for each address: most of those in a block are in the blocks around it too. */
function lookUp(isOurs: IsOurs): FindOwn {
  const [asked, own] = [new Set<string>(), new Set<string>()];
  return async (addresses) => {
    const fresh = [...new Set(addresses)].filter((it) => !asked.has(it));
    const keys = new Map(fresh.flatMap((it) => toKey(it).map((key) => [key, it] as const)));
    if (keys.size > 0) for (const key of await isOurs([...keys.keys()])) own.add(keys.get(key) as string);
    for (const address of fresh) asked.add(address);
    return own;
  };
}

async function scanBlock(node: SolanaNode, block: PaidBlock, findOwn: FindOwn): Promise<BlockScan> {
  const { slot, blockhash, parentHash, transactions, payments } = block;
  const own = await findOwn([...transactions.flatMap(({ signers }) => signers), ...payments.map(({ toAddress }) => toAddress)]);
  const isOwn = (address: string): boolean => own.has(address);
  const messageOf = transactions.some(({ signers }) => signers.some(isOwn)) ? await readMessages(node, block) : noMessages;
  return {
    ...{ number: slot, hash: blockhash, parentHash },
    transactions: transactions.flatMap(({ id, payer, signers: [, ...cosigners] }) => [
      { id, messageKey: isOwn(payer) ? messageHash(messageOf(id)) : null },
      // what an account has authorised, and somebody else has sent
      ...(cosigners.some(isOwn) ? [{ id, messageKey: authorisationKey(messageHash(messageOf(id))) }] : []),
    ]),
    deposits: payments
      .filter(({ toAddress }) => isOwn(toAddress))
      .filter(isSpendable)
      .map(({ account: _account, amount, fromAddress, ...deposit }) => ({
        ...deposit,
        amount: assertExact(amount),
        // clients see it, and nothing has looked it up
        fromAddress: readHash(fromAddress),
        ...{ blockNumber: slot, blockHash: blockhash },
      })),
  };
}

/** The message of a transaction in a block, by its id. @throws Error where the block has none of it. */
type MessageOf = (id: string) => Buffer;

const noMessages: MessageOf = () => {
  throw new Error('a block does not show a message');
};

/** Whole blocks are large: only of those in which the gateway has signed something. */
async function readMessages(node: SolanaNode, { slot, blockhash }: PaidBlock): Promise<MessageOf> {
  const whole = await node.block(slot);
  if (whole?.blockhash !== blockhash) throw new Error('a whole block is not the one whose payments were shown');
  const messages = new Map(whole.transactions.map(({ id, message }) => [id, message]));
  return (id) => messages.get(id) ?? noMessages(id);
}

/** No account of the gateway has more than a number holds. */
function assertExact(amount: bigint | null): bigint {
  if (amount === null) throw new Error('the answer does not say exactly what was paid');
  return amount;
}

/** Canonical form; none of a program that every transaction may name. @throws Error for a text that is no address. */
function toKey(address: string): string[] {
  const key = hexFromBase58(address);
  if (key === null) throw new Error('the answer has no address where it should');
  return isUsable(Buffer.from(key, 'hex')) ? [key] : [];
}

/** The gateway pays tokens from associated token accounts alone. */
const isSpendable = ({ account, tokenContract, toAddress }: Payment): boolean =>
  account === null || tokenContract === null || isAssociatedAccount(account, toBytes(toAddress), toBytes(tokenContract));
