/** Methods that take transactions: agave, rpc.rs (send_transaction, simulate_transaction, get_fee_for_message). */
import { getBase58Encoder } from '@solana/kit';
import type { Account } from './accounts';
import { readAddress } from './addresses';
import type { Method } from './block-methods';
import { describeError } from './errors';
import { allKeys, loadAddresses } from './execute';
import { feeOf } from './fees';
import type { Block } from './history';
import { isObject, type Json, type JsonObject } from './json';
import { maxProcessingAge } from './parameters';
import { invalidParams, RpcError } from './rpc-error';
import { showAccount } from './show';
import type { Simulated } from './svm';
import { type Decoded, decodeMessage, decodeTransaction, Malformed } from './transactions';
import { readConfig, readText, type View, withContext } from './view';

function readBytes(text: string, encoding: Json | undefined): Buffer {
  if (encoding === 'base64') return Buffer.from(text, 'base64');
  if (encoding !== undefined && encoding !== null && encoding !== 'base58')
    throw invalidParams(`unsupported encoding. Supported encodings: base58, base64`);
  try {
    return Buffer.from(getBase58Encoder().encode(text));
  } catch {
    throw invalidParams('invalid base58 encoding');
  }
}

/** @throws RpcError */
function orInvalid<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Malformed) throw invalidParams(error.message);
    throw error;
  }
}

interface Checks {
  isVerified: boolean;
  isBlockhashReplaced: boolean;
}

/** Runs it on the accounts as they were at a block. */
function simulateAt(view: View, decoded: Decoded, block: Block, { isVerified, isBlockhashReplaced }: Checks): Simulated {
  const { svm, history } = view.chain;
  const refused = (err: string): Simulated => ({
    ...{ err, logs: [], units: 0n, inner: [], returnData: undefined, accounts: new Map<string, Account>() },
  });
  if (!isBlockhashReplaced && history.age(decoded.message.blockhash, block.height) === undefined)
    return refused('BlockhashNotFound');
  const earlier = history.heightOfMessage(decoded.messageKey);
  if (earlier !== undefined && earlier <= block.height) return refused('AlreadyProcessed');
  const tables = decoded.message.lookups.map(({ table }) => table);
  const keys = [
    ...allKeys(
      decoded.message,
      loadAddresses(decoded.message, (key) => view.account(key, block)),
    ),
    ...tables,
  ];
  const then = keys.map((key) => [key, view.account(key, block)] as const);
  const changed = new Set(history.changedSince(block.height));
  const now = keys.filter((key) => changed.has(key)).map((key) => [key, svm.get(key)] as const);
  try {
    for (const [key, account] of then) if (changed.has(key)) svm.set(key, account);
    return svm.simulate(decoded, isVerified);
  } finally {
    for (const [key, account] of now) svm.set(key, account);
  }
}

const showResult = ({ err, logs, units, inner, returnData }: Simulated, accounts: Json): JsonObject => ({
  ...{ err, logs, accounts, unitsConsumed: units, returnData: returnData ?? null, innerInstructions: inner },
});

/** How `sendTransaction` gives a transaction on: a fault may befall it there. */
export type Submit = (decoded: Decoded, tries: number) => void;

export function sendingMethods(submit: Submit): Record<string, Method> {
  return {
    sendTransaction: (view, params) => {
      const config = readConfig(params, 1);
      const decoded = orInvalid(() => decodeTransaction(readBytes(readText(params, 0), config.encoding)));
      const isSkipping = config.skipPreflight === true;
      const commitment = isSkipping ? 'processed' : (config.preflightCommitment ?? config.commitment ?? 'finalized');
      const block = view.block({ ...config, commitment });
      if (!isSkipping) preflight(view, decoded, block);
      submit(decoded, typeof config.maxRetries === 'number' ? config.maxRetries + 1 : Infinity);
      return decoded.id;
    },
    simulateTransaction,
    getFeeForMessage: (view, params) => {
      const message = orInvalid(() => decodeMessage(Buffer.from(readText(params, 0), 'base64')));
      const block = view.block(readConfig(params, 1));
      const isKnown = view.chain.history.age(message.blockhash, block.height) !== undefined;
      return withContext(block, isKnown ? feeOf(message).total : null);
    },
  };
}

function preflight(view: View, decoded: Decoded, block: Block): void {
  const result = simulateAt(view, decoded, block, { isVerified: true, isBlockhashReplaced: false });
  if (result.err === null) return;
  if (result.err === 'SignatureFailure') throw new RpcError(-32_003, 'Transaction signature verification failure');
  throw new RpcError(-32_002, `Transaction simulation failed: ${describeError(result.err)}`, showResult(result, null));
}

const simulateTransaction: Method = (view, params) => {
  const config = readConfig(params, 1);
  const isVerified = config.sigVerify === true;
  const isBlockhashReplaced = config.replaceRecentBlockhash === true;
  if (isVerified && isBlockhashReplaced) throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
  const decoded = orInvalid(() => decodeTransaction(readBytes(readText(params, 0), config.encoding)));
  const block = view.block(config);
  const result = simulateAt(view, decoded, block, { isVerified, isBlockhashReplaced });
  if (result.err === 'SignatureFailure') throw new RpcError(-32_003, 'Transaction signature verification failure');
  const replacement = { blockhash: block.hash, lastValidBlockHeight: block.height + maxProcessingAge };
  const shown = showResult(result, showAccounts(view, result, block, config.accounts));
  if (config.innerInstructions !== true) shown.innerInstructions = null;
  return withContext(block, { ...shown, ...(isBlockhashReplaced ? { replacementBlockhash: replacement } : {}) });
};

function showAccounts(view: View, { accounts, err }: Simulated, block: Block, config: Json | undefined): Json {
  if (!isObject(config) || !Array.isArray(config.addresses)) return null;
  const find = (key: string): Account | undefined => accounts.get(key) ?? view.account(key, block);
  return config.addresses.map((key) =>
    err === null ? showAccount(find(readAddress(key)), { encoding: 'base64', ...config }, find) : null,
  );
}
