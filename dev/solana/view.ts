/** What one endpoint shows of the chain. */
import type { Account } from './accounts';
import type { Chain } from './chain';
import { type Block, type Commitment, commitments } from './history';
import { isObject, type Json, type JsonObject } from './json';
import { invalidParams, minContextSlot } from './rpc-error';

export type Heights = Record<Commitment, number>;

/** As the node names its version; kit does not look at it. */
export const version = { 'solana-core': '3.0.0', 'feature-set': 0 };

export class View {
  constructor(
    readonly chain: Chain,
    /** The last block of each commitment. */
    readonly heights: Heights,
  ) {}

  /**
   * The block that a request is answered from.
   * @throws RpcError
   */
  block(config: JsonObject, otherwise: Commitment = 'finalized'): Block {
    const block = this.blockOf(readCommitment(config.commitment, otherwise));
    const least = config.minContextSlot;
    if (typeof least === 'number' && block.slot < least) throw minContextSlot(block.slot);
    return block;
  }

  blockOf(commitment: Commitment): Block {
    const { history } = this.chain;
    return history.at(this.heights[commitment]) ?? history.first;
  }

  account(key: string, { height }: Block): Account | undefined {
    const { history, svm } = this.chain;
    return history.accountAt(key, height, () => svm.get(key));
  }

  /** The highest commitment of a block; undefined: this endpoint does not have it. */
  commitmentOf({ height }: Block): Commitment | undefined {
    return [...commitments].reverse().find((commitment) => height <= this.heights[commitment]);
  }
}

export const heightsOf = ({ history }: Chain): Heights => ({
  processed: history.height('processed'),
  confirmed: history.height('confirmed'),
  finalized: history.height('finalized'),
});

export function readCommitment(value: Json | undefined, otherwise: Commitment): Commitment {
  if (value === undefined || value === null) return otherwise;
  const known = commitments.find((commitment) => commitment === value);
  if (!known) throw invalidParams('Invalid params: unknown variant, expected one of `processed`, `confirmed`, `finalized`');
  return known;
}

export const withContext = ({ slot }: Block, value: Json): JsonObject => ({
  context: { apiVersion: version['solana-core'], slot },
  value,
});

/** The configuration of a method, if there is one. */
export function readConfig(params: Json[], index: number): JsonObject {
  const value = params[index];
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw invalidParams('Invalid params: invalid type: expected an object');
  return value;
}

export function readText(params: Json[], index: number): string {
  const value = params[index];
  if (typeof value !== 'string') throw invalidParams('`params` should have at least 1 argument(s)');
  return value;
}

export function readInteger(value: Json | undefined, name: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw invalidParams(`Invalid params: ${name} is no integer`);
  return value;
}
