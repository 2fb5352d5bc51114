/** Methods about slots, blocks and transactions that are in them. */
import type { Block } from './history';
import type { Json, JsonObject } from './json';
import { maxProcessingAge, recentBlocks, slotsPerEpoch } from './parameters';
import { blockCleanedUp, blockNotAvailable, invalidParams, slotSkipped } from './rpc-error';
import { showBlock, showTransaction } from './show';
import { readCommitment, readConfig, readInteger, readText, version, type View, withContext } from './view';
import { isSignature } from './addresses';

export type Method = (view: View, params: Json[]) => Json;

const maxRange = 500_000;
const maxStatuses = 256;

/** Methods about blocks know nothing that is not confirmed. */
function readBlockCommitment(config: JsonObject): 'confirmed' | 'finalized' {
  const commitment = readCommitment(config.commitment, 'finalized');
  if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`');
  return commitment;
}

function findBlock(view: View, slot: number, config: JsonObject): Block {
  const { history } = view.chain;
  const last = view.blockOf(readBlockCommitment(config));
  if (slot < history.first.slot) throw blockCleanedUp(slot, history.first.slot);
  if (slot > last.slot) throw blockNotAvailable(slot);
  const block = history.bySlot(slot);
  if (!block) throw slotSkipped(slot);
  return block;
}

function slotsBetween(view: View, start: number, end: number, most: number, config: JsonObject): Json {
  const { history } = view.chain;
  const last = view.blockOf(readBlockCommitment(config));
  const slots: number[] = [];
  for (let slot = Math.max(start, history.first.slot); slot <= Math.min(end, last.slot) && slots.length < most; slot += 1)
    if (history.bySlot(slot)) slots.push(slot);
  return slots;
}

const getBlocks: Method = (view, params) => {
  const start = readInteger(params[0], 'start_slot');
  const hasEnd = typeof params[1] === 'number';
  const end = hasEnd ? readInteger(params[1], 'end_slot') : start + maxRange;
  if (end - start > maxRange) throw invalidParams(`Slot range too large; max ${maxRange}`);
  return slotsBetween(view, start, end, maxRange, readConfig(params, hasEnd || params[1] === null ? 2 : 1));
};

const getBlocksWithLimit: Method = (view, params) => {
  const limit = readInteger(params[1], 'limit');
  if (limit > maxRange) throw invalidParams(`Limit too large; max ${maxRange}`);
  return slotsBetween(view, readInteger(params[0], 'start_slot'), Infinity, limit, readConfig(params, 2));
};

const getTransaction: Method = (view, params) => {
  const id = readText(params, 0);
  if (!isSignature(id)) throw invalidParams('Invalid param: Invalid');
  const config = readConfig(params, 1);
  const last = view.blockOf(readBlockCommitment(config));
  const block = view.chain.history.blockOf(id);
  const included = block?.transactions.find((entry) => entry.id === id);
  if (!block || !included || block.height > last.height) return null;
  return { slot: block.slot, blockTime: block.time, ...showTransaction(included, config) };
};

const getSignatureStatuses: Method = (view, params) => {
  const [ids] = params;
  if (!Array.isArray(ids)) throw invalidParams('`params` should have at least 1 argument(s)');
  if (ids.length > maxStatuses) throw invalidParams(`Too many inputs provided; max ${maxStatuses}`);
  const isSearching = readConfig(params, 1).searchTransactionHistory === true;
  const head = view.blockOf('processed');
  const statuses = ids.map((id): Json => {
    if (typeof id !== 'string' || !isSignature(id)) throw invalidParams('Invalid param: Invalid');
    const block = view.chain.history.blockOf(id);
    const included = block?.transactions.find((entry) => entry.id === id);
    const confirmationStatus = block && view.commitmentOf(block);
    if (!block || !included || !confirmationStatus) return null;
    if (!isSearching && block.height + recentBlocks < head.height) return null;
    const { err } = included;
    const confirmations = confirmationStatus === 'finalized' ? null : head.height - block.height;
    return { slot: block.slot, confirmations, err, status: err === null ? { Ok: null } : { Err: err }, confirmationStatus };
  });
  return withContext(head, statuses);
};

const getEpochInfo: Method = (view, params) => {
  const { slot, height } = view.block(readConfig(params, 0));
  const inEpoch = { slotIndex: slot % Number(slotsPerEpoch), slotsInEpoch: slotsPerEpoch };
  return { absoluteSlot: slot, blockHeight: height, epoch: Math.floor(slot / Number(slotsPerEpoch)), ...inEpoch };
};

export const blockMethods: Record<string, Method> = {
  getBlock: (view, params) => {
    const config = readConfig(params, 1);
    return showBlock(findBlock(view, readInteger(params[0], 'slot'), config), config);
  },
  getBlockTime: (view, params) => findBlock(view, readInteger(params[0], 'slot'), { commitment: 'confirmed' }).time,
  ...{ getBlocks, getBlocksWithLimit, getTransaction, getSignatureStatuses, getEpochInfo },
  getFirstAvailableBlock: ({ chain }) => chain.history.first.slot,
  minimumLedgerSlot: ({ chain }) => chain.history.first.slot,
  getSlot: (view, params) => view.block(readConfig(params, 0)).slot,
  getBlockHeight: (view, params) => view.block(readConfig(params, 0)).height,
  getLatestBlockhash: (view, params) => {
    const block = view.block(readConfig(params, 0));
    return withContext(block, { blockhash: block.hash, lastValidBlockHeight: block.height + maxProcessingAge });
  },
  isBlockhashValid: (view, params) => {
    const block = view.block(readConfig(params, 1));
    return withContext(block, view.chain.history.age(readText(params, 0), block.height) !== undefined);
  },
  getVersion: () => version,
  getHealth: () => 'ok',
};
