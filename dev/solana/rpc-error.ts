/** Codes and messages: agave, rpc-client-types/custom_error.rs; JSON-RPC 2.0. */
import type { Json } from './json';

export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: Json,
  ) {
    super(message);
  }
}

export const invalidParams = (message: string): RpcError => new RpcError(-32_602, message);
export const blockCleanedUp = (slot: number, first: number): RpcError =>
  new RpcError(-32_001, `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`);
export const blockNotAvailable = (slot: number): RpcError => new RpcError(-32_004, `Block not available for slot ${slot}`);
export const slotSkipped = (slot: number): RpcError =>
  new RpcError(-32_007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`);
export const unsupportedVersion = (version: number): RpcError =>
  new RpcError(
    -32_015,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  );
export const minContextSlot = (slot: number): RpcError =>
  new RpcError(-32_016, 'Minimum context slot has not been reached', { contextSlot: slot });
