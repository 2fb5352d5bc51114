import { EndpointFault } from '../endpoints';
import type { ChainDefinition } from '../types';
import type { Receipt } from './answers';

/**
 * How many blocks before those of a scan are looked at, where these do not show what the endpoint saves: of the main network half a minute,
 * in which contracts call others many times.
 */
const blocksBack = 10;
/** What was shown is not believed for longer, as the endpoint may have been configured since; one that saves does so until it shows otherwise. */
const believedForMs = 10 * 60_000;

/** Whether an endpoint saves internal transactions; null: what has been looked at is the same with and without. */
export type Saves = boolean | null;

/** What the receipts of one block with calls of contracts say of the endpoint. */
export interface ShownCalls {
  saves: Saves;
  /** A contract was called that may pass on coins: if the endpoint does not save internal transactions, what it has paid is not seen. */
  mayPay: boolean;
}

/** What one endpoint has shown last. */
export class SeenSaving {
  private saves: Saves = null;
  /** ms since the epoch. */
  private at = -Infinity;

  /** `now`: ms since the epoch. */
  constructor(private readonly now: () => number) {}

  note(saves: Saves): void {
    this.saves = saves;
    this.at = this.now();
  }

  /** undefined: it has to be looked at again. */
  get known(): Saves | undefined {
    return this.saves === true || this.now() - this.at < believedForMs ? this.saves : undefined;
  }
}

/** A node, as far as it is asked here. */
interface Shown {
  readonly saving: SeenSaving;
  receipts(blockNumber: number): Promise<Receipt[]>;
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

/**
 * Whether the endpoint leaves out of these blocks what contracts pay, as far as it is seen. `shown`: of each block from `from` with calls of
 * contracts. Where the chain requires it and nothing is seen, what may be left out is told all the same: to wait for what shows it would stop
 * a chain on which little happens.
 * @throws EndpointFault where that is seen and the chain requires it: another endpoint may save it.
 */
export async function isUntraced(
  node: Shown,
  { requiresTraces }: ChainDefinition,
  from: number,
  shown: readonly ShownCalls[],
): Promise<boolean> {
  if (shown.length === 0) return false;
  const saves = shown.map((block) => block.saves);
  const inBlocks = saves.includes(false) ? false : saves.includes(true) || null;
  if (!requiresTraces) return inBlocks === false;
  if (inBlocks !== null) node.saving.note(inBlocks);
  else if (node.saving.known === undefined) node.saving.note(await lookBack(node, from));
  if (node.saving.known === false)
    throw new EndpointFault(
      'traces_missing',
      'no endpoint that answers has internal transactions (vm.saveInternalTx), which the chain requires',
    );
  return node.saving.known !== true && shown.some(({ mayPay }) => mayPay);
}

async function lookBack(node: Shown, from: number): Promise<Saves> {
  for (let number = from - 1; number >= Math.max(1, from - blocksBack); number -= 1) {
    const saves = showsSaving(await node.receipts(number));
    if (saves !== null) return saves;
  }
  return null;
}
