import type { IsOurs, ScanResult } from '../../chain-client';
import type { ChainDefinition } from '../../types';
import { authorisationKey } from '../authorise/codec';
import { type CarriedOut, readCarriedOut } from '../authorise/carried-out';
import { toMessageKey } from '../message-key';
import { unavailable } from '../../endpoints';
import type { RpcCall } from '../rpc';
import { quantity, type RpcBlock } from '../rpc-types';
import { confirmedDeposits } from './deposits';
import { internalCandidates } from './internal';
import { type Candidate, nativeCandidates } from './candidates';
import { tokenCandidates } from './tokens';

/**
 * Blocks from..to with the deposits in them, as seen by one node; fewer blocks when the node does not have them all yet. Native
 * value from an internal call of a contract is in no block; it is found where the node offers trace_block (`capabilities` remembers
 * which), and missed elsewhere, unless the chain requires traces. Income that no transaction carries (validator withdrawals, fee recipients) is not found.
 * @throws GatewayError chain_unavailable when the chain reorganised during the scan: scan again; EndpointFault where the node does not trace
 * and has to.
 */
export async function scanBlocks(
  call: RpcCall,
  chain: ChainDefinition,
  range: { from: number; to: number },
  isOurs: IsOurs,
  capabilities: Map<string, unknown>,
): Promise<ScanResult> {
  const blocks = await fetchBlocks(call, range);
  const tip = blocks.at(-1);
  if (!tip) return { blocks: [], scannedTo: range.from - 1 };
  const [tokens, internal] = await Promise.all([
    tokenCandidates(call, chain, blocks),
    internalCandidates(call, chain, blocks, capabilities),
  ]);
  // logs were requested by number: they belong to these blocks only if the last block is unchanged
  const again = await call<RpcBlock | null>('eth_getBlockByNumber', [tip.number, false]);
  if (again?.hash !== tip.hash) throw unavailable(chain, 'the chain reorganised during a scan');

  const candidates = [...nativeCandidates(blocks), ...tokens, ...internal.candidates];
  const senders = blocks.flatMap(({ transactions }) => transactions.map(({ from }) => from.toLowerCase()));
  const carried = findCarriedOut(blocks, tokens);
  const payers = [...carried.values()].map(({ payerKey }) => payerKey);
  const ours = await isOurs([...new Set([...candidates.map(({ toKey }) => toKey), ...senders, ...payers])]);
  const deposits = await confirmedDeposits(
    call,
    chain,
    candidates.filter(({ toKey }) => ours.has(toKey)),
  );
  const scans = blocks.map((block) => ({
    number: Number(block.number),
    hash: block.hash,
    parentHash: block.parentHash,
    transactions: block.transactions.flatMap((transaction) => {
      const { hash: id, from, nonce } = transaction;
      const owner = from.toLowerCase();
      const payment = carried.get(id);
      return [
        ours.has(owner)
          ? { id, messageKey: toMessageKey(transaction, chain), position: { owner, ordinal: BigInt(nonce) } }
          : { id, messageKey: null },
        ...(payment && ours.has(payment.payerKey) ? [{ id, messageKey: authorisationKey(payment.identity) }] : []),
      ];
    }),
    deposits: deposits.filter(({ blockHash }) => blockHash === block.hash),
  }));
  const scannedTo = Number(tip.number);
  return { blocks: scans, scannedTo, ...(internal.isUntraced && { untraced: { from: range.from, to: scannedTo } }) };
}

/** Payments that somebody else carries out, by transaction; only where the payer's tokens have moved: it was not reverted. */
function findCarriedOut(blocks: RpcBlock[], tokens: Candidate[]): ReadonlyMap<string, CarriedOut> {
  const moved = new Set(tokens.map(({ txHash, fromKey }) => `${txHash} ${fromKey}`));
  const found = blocks.flatMap(({ transactions }) =>
    transactions.map((transaction) => [transaction.hash, readCarriedOut(transaction)] as const),
  );
  return new Map(found.flatMap(([id, payment]) => (payment && moved.has(`${id} ${payment.payerKey}`) ? [[id, payment]] : [])));
}

/** Blocks that are asked for at first, and transactions later, about: while it puts many together, a node may answer nothing else. */
const firstBlocks = 5;
const transactionsAtOnce = 1_000;

/** The consecutive blocks from `from`, up to the first that is missing or does not follow its predecessor. */
async function fetchBlocks(call: RpcCall, { from, to }: { from: number; to: number }): Promise<RpcBlock[]> {
  const blocks: RpcBlock[] = [];
  for (let transactions = 0; from + blocks.length <= to;) {
    const first = from + blocks.length;
    const count = blocks.length === 0 ? firstBlocks : countFor(transactions / blocks.length);
    const numbers = Array.from({ length: Math.min(count, to - first + 1) }, (_, index) => first + index);
    const answers = await Promise.all(
      numbers.map((number) => call<RpcBlock | null>('eth_getBlockByNumber', [quantity(number), true])),
    );
    for (const block of answers) {
      const previous = blocks.at(-1);
      if (!block || (previous && block.parentHash !== previous.hash)) return blocks;
      blocks.push(block);
      transactions += block.transactions.length;
    }
  }
  return blocks;
}

/** How many blocks of so many transactions each are asked for at once. */
const countFor = (transactions: number): number => Math.max(1, Math.floor(transactionsAtOnce / Math.max(1, transactions)));
