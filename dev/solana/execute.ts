/** One transaction in a block: executed by the SVM, with all that the node notes about it. */
import { type Account, tokenBalances } from './accounts';
import { feeOf } from './fees';
import type { AccountChange, IncludedTransaction } from './history';
import type { Json } from './json';
import type { Svm } from './svm';
import { type Decoded, isWritableKey, type Message, toAddress } from './transactions';

export interface Loaded {
  writable: string[];
  readonly: string[];
}

/** An error that leaves the transaction out of the block: nobody pays for it. */
export interface LeftOut {
  err: Json;
}

const tableHeaderBytes = 56;

/** The addresses that lookup tables add. An entry that does not exist is left to the SVM to refuse. */
export function loadAddresses({ lookups }: Message, find: (key: string) => Account | undefined): Loaded {
  const at = (table: string, indexes: readonly number[]): string[] => {
    const data = find(table)?.data ?? Buffer.alloc(0);
    const starts = indexes.map((index) => tableHeaderBytes + index * 32);
    return starts.filter((start) => start + 32 <= data.length).map((start) => toAddress(data.subarray(start, start + 32)));
  };
  return {
    writable: lookups.flatMap(({ table, writable }) => at(table, writable)),
    readonly: lookups.flatMap(({ table, readonly }) => at(table, readonly)),
  };
}

/** Static keys first, then the loaded ones. */
export const allKeys = ({ keys }: Message, loaded: Loaded): string[] => [...keys, ...loaded.writable, ...loaded.readonly];

export const isLeftOut = (answer: object): answer is LeftOut => !('included' in answer);

export function execute(svm: Svm, decoded: Decoded): { included: IncludedTransaction; changes: AccountChange[] } | LeftOut {
  const { message, id, messageKey, bytes } = decoded;
  const loaded = loadAddresses(message, (key) => svm.get(key));
  const keys = allKeys(message, loaded);
  const invoked = new Set(message.instructions.map(({ program }) => program));
  const writable = [...message.keys.filter((_, index) => isWritableKey(message, index)), ...loaded.writable];
  const note = () => ({
    accounts: new Map(writable.map((key) => [key, svm.get(key)])),
    lamports: keys.map((key) => svm.get(key)?.lamports ?? 0n),
    tokens: tokenBalances(keys, invoked, (key) => svm.get(key)),
  });

  const before = note();
  const { err, logs, units, inner, returnData } = svm.execute(decoded);
  const after = note();
  // who fails within the block has paid
  if (err !== null && before.lamports[0] === after.lamports[0]) return { err };
  const { total, unitPrice } = feeOf(message);
  const meta = {
    ...{ err, status: err === null ? { Ok: null } : { Err: err }, fee: total },
    ...{ preBalances: before.lamports, postBalances: after.lamports },
    ...{ preTokenBalances: before.tokens, postTokenBalances: after.tokens },
    ...{ innerInstructions: inner, logMessages: logs, computeUnitsConsumed: units },
    ...{ loadedAddresses: { writable: loaded.writable, readonly: loaded.readonly }, rewards: [] },
    ...(returnData ? { returnData } : {}),
  };
  const changes = writable.map((key) => ({ key, before: before.accounts.get(key), after: after.accounts.get(key) }));
  return {
    included: { id, messageKey, bytes: bytes.toString('base64'), version: message.version, err, meta, unitPrice, writable },
    changes: changes.filter((change) => !isSame(change.before, change.after)),
  };
}

function isSame(left: Account | undefined, right: Account | undefined): boolean {
  if (!left || !right) return left === right;
  return left.lamports === right.lamports && left.owner === right.owner && left.data.equals(right.data);
}
