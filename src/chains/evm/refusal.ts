import type { Hex } from '../types';

/** A JSON-RPC error: the node responded and refused the request. */
export class NodeRefusal extends Error {
  override readonly name = 'NodeRefusal';
  constructor(
    readonly code: number,
    /** The node's message: never shown to clients nor put into errors as it stands (`unknownReason` takes the plain words), since nodes repeat calldata and urls in it. */
    readonly nodeMessage: string,
    /** What a contract has reverted with; null when the node shows nothing. */
    readonly data: Hex | null = null,
  ) {
    super(`the node refused with code ${code}`);
  }
}
