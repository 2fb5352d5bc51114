import type { BlockScan, IsOurs, ScanResult } from '../chain-client';
import { mapBounded } from '../../platform/map-bounded';
import { tokenByContract } from '../registry';
import type { ChainDefinition, DepositFound } from '../types';
import type { Block, Executed, TokenBalance } from './answers';
import { authorisationKey } from './authorise/codec';
import { parseAddress, toBytes } from './codec/address';
import { messageHash } from './codec/message-hash';
import { isAssociatedAccount } from './codec/token-account';
import type { SolanaNode } from './node';

/** A payment that is a deposit if it is to an address of the gateway. Addresses as they are shown. */
interface Candidate extends Pick<DepositFound, 'txHash' | 'position' | 'tokenContract' | 'fromAddress' | 'toAddress'> {
  /** null: the answer does not say it exactly. */
  amount: bigint | null;
  /** Token account, in Base58; null: SOL. */
  account: string | null;
}

/** A block of several MB takes longer to arrive than a slot of 200 ms. */
const blocksAtOnce = 4;
/** Slots without a block may come in rows, when the chain stood still. */
const maxSkipped = 20_000;

/** Finalized blocks of the slots from..to with the deposits in them; fewer when they are not final yet. */
export async function scanBlocks(
  node: SolanaNode,
  chain: ChainDefinition,
  { from, to }: { from: number; to: number },
  isOurs: IsOurs,
): Promise<ScanResult> {
  const head = await node.slot();
  const end = Math.min(to, head);
  if (end < from) return { blocks: [], scannedTo: from - 1 };
  const blocks: Block[] = [];
  for (const block of await mapBounded(await node.slots(from, end), blocksAtOnce, (slot) => node.block(slot))) {
    const last = blocks.at(-1);
    // what the node leaves out is no slot without a block
    if (!block || (last ? last.blockhash !== block.parentHash : block.parentSlot >= from))
      throw new Error('a block does not follow the one before');
    blocks.push(block);
  }
  const scannedTo = blocks.at(-1)?.slot ?? ((await areSkipped(node, { from, end, head })) ? end : from - 1);
  const scans: BlockScan[] = [];
  for (const block of blocks) scans.push(await scanBlock(chain, block, isOurs));
  return { blocks: scans, scannedTo };
}

/** Slots behind the last block are without one only if the next block says so. */
async function areSkipped(node: SolanaNode, { from, end, head }: { from: number; end: number; head: number }): Promise<boolean> {
  if (head <= end) return false;
  const [next] = await node.slots(end + 1, Math.min(head, end + maxSkipped));
  const header = next === undefined ? null : await node.header(next);
  return header !== null && header.parentSlot < from;
}

async function scanBlock(
  chain: ChainDefinition,
  { slot, blockhash, parentHash, transactions }: Block,
  isOurs: IsOurs,
): Promise<BlockScan> {
  const candidates = transactions.filter(({ success }) => success).flatMap((it) => [...toCoins(it), ...toTokens(chain, it)]);
  const signers = transactions.flatMap((it) => it.signers);
  const ours = await isOurs([...new Set([...signers, ...candidates.map(({ toAddress }) => toAddress)].flatMap(toKey))]);
  const isOwn = (address: string): boolean => toKey(address).some((key) => ours.has(key));
  return {
    ...{ number: slot, hash: blockhash, parentHash },
    transactions: transactions.flatMap(({ id, payer, signers: [, ...cosigners], message }) => [
      { id, messageKey: isOwn(payer) ? messageHash(message) : null },
      // what an account has authorised, and somebody else has sent
      ...(cosigners.some(isOwn) ? [{ id, messageKey: authorisationKey(messageHash(message)) }] : []),
    ]),
    deposits: candidates
      .filter(({ toAddress }) => isOwn(toAddress))
      .filter(isSpendable)
      .map(({ account: _account, amount, ...deposit }) => ({
        ...deposit,
        amount: assertExact(amount),
        ...{ blockNumber: slot, blockHash: blockhash },
      })),
  };
}

/** No account of the gateway has more than a number holds. */
function assertExact(amount: bigint | null): bigint {
  if (amount === null) throw new Error('the answer does not say exactly what was paid');
  return amount;
}

const toKey = (address: string): string[] => {
  const parsed = parseAddress(address);
  return parsed ? [parsed.key] : [];
};

/** The gateway pays tokens from associated token accounts alone. */
const isSpendable = ({ account, tokenContract, toAddress }: Candidate): boolean =>
  account === null || tokenContract === null || isAssociatedAccount(account, toBytes(toAddress), toBytes(tokenContract));

/** Whoever has more SOL than before, by whatever instruction: the position is that of the account in the transaction. */
const toCoins = ({ id, payer, keys, before, after }: Executed): Candidate[] =>
  keys.flatMap((toAddress, index) => {
    const [had, has] = [before[index], after[index]];
    const isExact = typeof had === 'bigint' && typeof has === 'bigint';
    // what the payer has more is of its own doing
    if (index === 0 || (isExact && has <= had)) return [];
    const amount = isExact ? has - had : null;
    return [{ txHash: id, position: String(index), account: null, tokenContract: null, fromAddress: payer, toAddress, amount }];
  });

/** Of registered tokens. */
const toTokens = (chain: ChainDefinition, { id, payer, keys, tokensBefore, tokensAfter }: Executed): Candidate[] =>
  tokensAfter.flatMap(({ account, mint, owner, amount }) => {
    const contract = tokenByContract(chain, mint)?.contract;
    const gained = amount - amountOn(tokensBefore, account);
    const key = keys[account];
    if (contract !== mint || gained <= 0n || key === undefined) return [];
    // another endpoint may say it; nobody would look for the deposit again
    if (owner === null) throw new Error('the answer does not say who owns a token account');
    const payers = tokensBefore.filter((it) => it.mint === mint && amountOn(tokensAfter, it.account) < it.amount);
    const fromAddress = (payers.length === 1 ? payers[0]?.owner : undefined) ?? payer;
    const found = { txHash: id, position: String(account), account: key, tokenContract: contract };
    return [{ ...found, fromAddress, toAddress: owner, amount: gained }];
  });

const amountOn = (balances: TokenBalance[], account: number): bigint =>
  balances.find((it) => it.account === account)?.amount ?? 0n;
