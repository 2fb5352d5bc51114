import { setBounded } from '../../platform/bounded';
import type { BlockRange } from '../chain-client';
import { EndpointFault } from '../endpoints';
import type { ChainDefinition } from '../types';
import type { Header, Receipt } from './answers';

/**
 * How far a block may be from the ones before and after it that show what it does not show itself: at the head of the chain half a minute each,
 * in which a node is not started without and again with it. Of the main network nearly every block shows it, since contracts call others many times in each.
 */
const reach = 10;
/** What a block has shown is looked at again after that time: the node may have got its blocks anew. */
const believedForMs = 10 * 60_000;
/** Blocks of which it is remembered: those of a scan, and what is around them. */
const maxKnown = 100;

/** Whether an endpoint has saved the internal transactions of a block; null: the block is the same with and without. */
export type Saves = boolean | null;

/** What the receipts of one block say of the endpoint. */
export interface ShownCalls {
  saves: Saves;
  /** A contract was called that may pass on coins: if the endpoint has not saved internal transactions, what it has paid is not seen. */
  mayPay: boolean;
}

/** What the blocks of one endpoint have shown. */
export class SeenSaving {
  private readonly blocks = new Map<number, { saves: Saves; at: number }>();

  /** `now`: ms since the epoch. */
  constructor(private readonly now: () => number) {}

  note(block: number, saves: Saves): void {
    setBounded(this.blocks, block, { saves, at: this.now() }, maxKnown);
  }

  /** undefined: it has to be looked at. */
  find(block: number): Saves | undefined {
    const known = this.blocks.get(block);
    return known && this.now() - known.at < believedForMs ? known.saves : undefined;
  }
}

/** A node, as far as it is asked here. */
interface Shown {
  readonly saving: SeenSaving;
  receipts(blockNumber: number): Promise<Receipt[]>;
  solidHead(): Promise<Pick<Header, 'number'>>;
}

/**
 * No answer of java-tron says whether it runs with `vm.saveInternalTx`; receipts do. They have each call by a contract, also one that pays
 * nothing (Program.callToAddress, createContractImpl), or none: where another contract than the one that was called has logged something, it
 * was called too.
 */
export function showsSaving(receipts: readonly Receipt[]): Saves {
  const lacks = ({ contract, logs, hasInternal }: Receipt): boolean =>
    !hasInternal && contract !== null && logs.some((log) => log.contract !== contract);
  if (receipts.some(lacks)) return false;
  return receipts.some(({ hasInternal }) => hasInternal) ? true : null;
}

interface Traced {
  /** So many of the blocks may be taken as they are; the next one waits for what later blocks show. */
  count: number;
  /** What contracts have paid in these may be missing. */
  untraced?: BlockRange;
}

/**
 * How many of these blocks show all that contracts pay. `shown`: of each block from `from`. One in which a contract was called, and which does
 * not show whether calls by contracts are in it, has been executed as the blocks around it: so the nearest one before and the nearest one after
 * it that show it have to show that they are. It waits for the later one. Where no block within reach shows it, that is told: to wait longer would
 * stop a chain on which little happens.
 * @throws EndpointFault where blocks show that the endpoint leaves them out, and the chain requires them: another endpoint may have them.
 */
export async function findTraced(
  node: Shown,
  { requiresTraces }: ChainDefinition,
  from: number,
  shown: readonly ShownCalls[],
): Promise<Traced> {
  for (const [index, { saves }] of shown.entries()) node.saving.note(from + index, saves);
  const lacking = shown.flatMap(({ saves }, index) => (saves === false ? [from + index] : []));
  if (!requiresTraces) return { count: shown.length, ...toUntraced(lacking) };
  if (lacking.length > 0) throw missing();
  const unseen: number[] = [];
  const head = once(() => node.solidHead());
  for (const [index, { saves, mayPay }] of shown.entries()) {
    if (saves === true || !mayPay) continue;
    const before = await findNearest(node, from + index, -1, head);
    const after = before !== false && (await findNearest(node, from + index, 1, head));
    if (after === false) throw missing();
    if (after === undefined) return { count: index, ...toUntraced(unseen) };
    if (before === null || after === null) unseen.push(from + index);
  }
  return { count: shown.length, ...toUntraced(unseen) };
}

const missing = (): EndpointFault =>
  new EndpointFault(
    'traces_missing',
    'no endpoint that answers has internal transactions (vm.saveInternalTx), which the chain requires',
  );

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => (asked ??= ask());
}

/** `blocks`: in their order. */
function toUntraced(blocks: number[]): { untraced?: BlockRange } {
  const [from, to] = [blocks[0], blocks.at(-1)];
  return from === undefined || to === undefined ? {} : { untraced: { from, to } };
}

/** What the nearest block shows that shows it; null: none within reach does; undefined: one that may is not solidified yet. */
async function findNearest(
  node: Shown,
  block: number,
  step: 1 | -1,
  head: () => Promise<Pick<Header, 'number'>>,
): Promise<Saves | undefined> {
  for (let distance = 1; distance <= reach; distance += 1) {
    const number = block + step * distance;
    if (number < 1) return null;
    let saves = node.saving.find(number);
    if (saves === undefined) {
      if (step === 1 && number > (await head()).number) return undefined;
      saves = showsSaving(await node.receipts(number));
      node.saving.note(number, saves);
    }
    if (saves !== null) return saves;
  }
  return null;
}
