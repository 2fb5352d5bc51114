import type { Block } from './blocks';
import type { Chain } from './chain';
import { fromJson, type JsonObject, readInteger } from './json';
import type { Schema } from './protobuf';
import { fromBase58, isAddress } from './address';

/** A request to the node's HTTP API. */
export interface NodeRequest {
  chain: Chain;
  /** A full node shows what is pending, /walletsolidity what is solidified. */
  view: 'now' | 'solid';
  /** The highest block that is shown. */
  top: number;
  /** The lowest one, but for block 0, which a node that began later has as well. */
  bottom: number;
  /** Of the body, or of the query of a GET. */
  body: JsonObject;
  visible: boolean;
  /** Name of the endpoint that is asked. */
  endpoint: string;
}

export const isShown = ({ top, bottom }: NodeRequest, number: number): boolean =>
  number <= top && (number >= bottom || number === 0);

export const getBlock = (request: NodeRequest, number: number): Block | undefined =>
  isShown(request, number) ? request.chain.history.getBlock(number) : undefined;

const addressSchema: Schema = { 1: { name: 'address', kind: 'bytes', format: 'address' } };
const valueSchema: Schema = { 1: { name: 'value', kind: 'bytes' } };

/** @throws BadJson */
export const readAddress = ({ body, visible }: NodeRequest): Buffer => fromJson(addressSchema, body, visible).address as Buffer;

/** Hex of a hash. @throws BadJson */
export const readValue = ({ body }: NodeRequest): string => (fromJson(valueSchema, body, false).value as Buffer).toString('hex');

/** Absent: 0. @throws BadJson */
export const readNumber = ({ body }: NodeRequest, name: string): number =>
  body[name] === undefined ? 0 : Number(readInteger(body[name], 64));

/** The contract's address of getcontract, which is a `value`. */
export function readContractAddress(request: NodeRequest): Buffer {
  if (!request.visible) return Buffer.from(readValue(request), 'hex');
  const bytes = fromBase58(typeof request.body.value === 'string' ? request.body.value : '');
  return isAddress(bytes) ? bytes : Buffer.alloc(0);
}
