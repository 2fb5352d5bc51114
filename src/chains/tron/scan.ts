import { GatewayError } from '../../platform/errors';
import { within } from '../../platform/within';
import type { BlockRange, BlockScan, IsOurs, ScanResult } from '../chain-client';
import type { EndpointList } from '../endpoints';
import { NoAnswer } from '../no-answer';
import { tokenByContract } from '../registry';
import type { ChainDefinition, DepositFound } from '../types';
import type { Block, BlockTransaction, Receipt } from './answers';
import { toAddress } from './codec/address';
import { type ForeignTransaction, readForeign } from './foreign';
import { findTraced, type ShownCalls, showsSaving } from './internal';
import type { TronNode } from './node';
import { readTransfer } from './transfer-event';

const blocksAtOnce = 10;
/** First position of TRX that a contract has sent on; logs of a receipt never reach it. */
const internalPositions = 1_000_000;
const succeeded: ReadonlySet<string> = new Set(['SUCCESS', 'DEFAULT']);

/** A payment that is a deposit if it is to an address of the gateway. */
interface Candidate extends Pick<DepositFound, 'txHash' | 'position' | 'tokenContract'> {
  /** Sun or atomic units; null: the answer does not say it exactly. */
  amount: bigint | null;
  /** Canonical forms. */
  from: string;
  to: string;
}

interface Calls {
  candidates: Candidate[];
  shown: ShownCalls;
}

const noCalls: Calls = { candidates: [], shown: { saves: null, mayPay: false } };

interface Read {
  transaction: BlockTransaction;
  does: ForeignTransaction | null;
}

/**
 * Solidified blocks from..to with the deposits in them; fewer when the node does not have them all yet, or when later blocks have to show
 * first whether calls by contracts are in them.
 * @throws EndpointFault as `findTraced`; Error.
 */
export async function scanBlocks(
  node: TronNode,
  chain: ChainDefinition,
  { from, to }: { from: number; to: number },
  isOurs: IsOurs,
): Promise<ScanResult> {
  const blocks: Block[] = [];
  while (from + blocks.length <= to) {
    const start = from + blocks.length;
    const end = Math.min(to, start + blocksAtOnce - 1);
    const more = await node.solidBlocks(start, end);
    const last = blocks.at(-1);
    if (last && more[0] && more[0].parentId !== last.id) throw new Error('a block does not follow the one before');
    blocks.push(...more);
    if (start + more.length <= end) break;
  }
  const scans: BlockScan[] = [];
  const shown: ShownCalls[] = [];
  for (const block of blocks) {
    const scanned = await scanBlock(node, chain, block, isOurs);
    scans.push(scanned.scan);
    shown.push(scanned.shown);
  }
  const { count, untraced } = await findTraced(node, chain, from, shown);
  return { blocks: scans.slice(0, count), scannedTo: from + count - 1, ...(untraced && { untraced }) };
}

/** How long an endpoint may take where another one has answered: one that hangs must not keep the follower from every range. */
const furtherMs = 5_000;

const tooLate = () => new NoAnswer(`no answer within ${furtherMs} ms`);

interface UntracedScan extends ScanResult {
  untraced: BlockRange;
}

/**
 * A scan at the first endpoint that is seen to show what contracts pay. Where none is, what the endpoint shows that is seen to do so up to the
 * highest block; its first block that does not show it is taken alone with those after it, by a scan that begins there.
 */
export async function scanAtAny(
  endpoints: EndpointList<TronNode>,
  scan: (node: TronNode) => Promise<ScanResult>,
): Promise<ScanResult> {
  let best: UntracedScan | undefined;
  try {
    return await endpoints.run(async (node) => {
      const found = await (best ? within(scan(node), furtherMs, tooLate) : scan(node));
      const { untraced } = found;
      // one that is not so far has nothing to say about these blocks
      if (!untraced && found.scannedTo >= (best?.untraced.from ?? -Infinity)) return found;
      if (untraced && (!best || showsMore(untraced, best.untraced))) best = { ...found, untraced };
      throw new Error('what contracts have paid may be missing');
    });
  } catch (error) {
    if (best && error instanceof GatewayError && error.code === 'chain_unavailable') return cut(best);
    throw error;
  }
}

const showsMore = (one: BlockRange, other: BlockRange): boolean =>
  one.from > other.from || (one.from === other.from && one.to < other.to);

/** Without the first block that does not show it and those after it, unless it is the first of all. */
function cut(found: UntracedScan): ScanResult {
  const blocks = found.blocks.filter(({ number }) => number < found.untraced.from);
  return blocks.length > 0 ? { blocks, scannedTo: found.untraced.from - 1 } : found;
}

async function scanBlock(
  node: TronNode,
  chain: ChainDefinition,
  block: Block,
  isOurs: IsOurs,
): Promise<{ scan: BlockScan; shown: ShownCalls }> {
  const reads = block.transactions.map((transaction): Read => ({ transaction, does: readForeign(transaction.raw) }));
  const calls = await fetchCalls(node, chain, block, reads);
  const candidates = [
    ...reads.flatMap(toTransfer),
    ...calls.candidates,
    // nothing is paid to oneself
  ].filter(({ from, to, amount }) => amount !== 0n && from !== to);
  const senders = reads.flatMap(({ does }) => (does ? [does.owner] : []));
  const ours = await isOurs([...new Set([...senders, ...candidates.map(({ to }) => to)])]);
  const { number, id: hash, parentId: parentHash } = block;
  const scan = {
    ...{ number, hash, parentHash },
    transactions: reads.map(({ transaction: { id }, does }) => ({ id, messageKey: does && ours.has(does.owner) ? id : null })),
    deposits: candidates
      .filter(({ to }) => ours.has(to))
      .map(({ from, to, amount, ...deposit }) => ({
        ...deposit,
        amount: assertExact(amount),
        ...{ blockNumber: number, blockHash: hash },
        fromAddress: showAddress(from),
        toAddress: showAddress(to),
      })),
  };
  return { scan, shown: calls.shown };
}

/** Amounts between others may be beyond what a number holds. */
function assertExact(amount: bigint | null): bigint {
  if (amount === null) throw new Error('the answer does not say exactly what was paid');
  return amount;
}

const showAddress = (key: string): string => toAddress(Buffer.from(key, 'hex')).address;

function toTransfer({ transaction: { id, result }, does }: Read): Candidate[] {
  if (!does?.transfer || !succeeded.has(result)) return [];
  const { to, amount } = does.transfer;
  return [{ txHash: id, position: '0', from: does.owner, to, tokenContract: null, amount }];
}

/** What contracts have moved: by their events, and TRX by what the node shows of internal transfers. */
async function fetchCalls(node: TronNode, chain: ChainDefinition, block: Block, reads: Read[]): Promise<Calls> {
  // other kinds, such as the creation of a contract, have results too
  const executed = reads.filter(({ transaction: { result }, does }) => result === 'SUCCESS' && !does?.transfer);
  if (executed.length === 0) return noCalls;
  const receipts = new Map((await node.receipts(block.number)).map((receipt) => [receipt.id, receipt]));
  const succeeding = executed.flatMap(({ transaction: { id } }) => {
    const receipt = receipts.get(id);
    if (receipt?.blockNumber !== block.number) throw new Error('a receipt of a solidified block is missing');
    return receipt.success ? [receipt] : [];
  });
  const called = new Set(executed.flatMap(({ transaction: { id }, does }) => (does ? [id] : [])));
  return {
    candidates: succeeding.flatMap((receipt) => [...toTokens(chain, receipt), ...toInternal(receipt)]),
    shown: {
      saves: showsSaving([...receipts.values()]),
      mayPay: succeeding.some((receipt) => mayPay(chain, receipt, called.has(receipt.id))),
    },
  };
}

/** Tokens of the registry pass nothing on, nor does what runs no contract, such as a vote. */
const mayPay = (chain: ChainDefinition, { contract, hasInternal }: Receipt, isCall: boolean): boolean =>
  !hasInternal && (contract === null ? isCall : !tokenByContract(chain, showAddress(`41${contract}`)));

const toTokens = (chain: ChainDefinition, { id, logs }: Receipt): Candidate[] =>
  logs.flatMap((log, index) => {
    const event = readTransfer(log);
    const contract = event && tokenByContract(chain, showAddress(event.contract))?.contract;
    if (!event || !contract) return [];
    const { from, to, amount } = event;
    return [{ txHash: id, position: String(index + 1), from, to, tokenContract: contract, amount }];
  });

const toInternal = ({ id, internal }: Receipt): Candidate[] =>
  internal.map((transfer, index) => ({
    ...transfer,
    ...{ txHash: id, position: String(internalPositions + index), tokenContract: null },
  }));
