/** Accounts, transactions and blocks as the node shows them. */
import { type Account, parseAccount } from './accounts';
import type { Block, IncludedTransaction } from './history';
import { isObject, type Json, type JsonObject } from './json';
import { invalidParams, RpcError, unsupportedVersion } from './rpc-error';
import { base58, decodeTransaction, type Message } from './transactions';

const rentEpoch = 18_446_744_073_709_551_615n;
const maxBase58Bytes = 128;

export function showAccount(account: Account | undefined, config: JsonObject, find: (key: string) => Account | undefined): Json {
  if (!account) return null;
  const { lamports, owner, executable } = account;
  const data = showData(account, config, find);
  return { data, executable, lamports, owner, rentEpoch, space: account.data.length };
}

function showData(account: Account, { encoding, dataSlice }: JsonObject, find: (key: string) => Account | undefined): Json {
  const bytes = isObject(dataSlice) ? sliceOf(account.data, dataSlice) : account.data;
  switch (encoding ?? 'binary') {
    case 'jsonParsed':
      return parseAccount(account, find) ?? [bytes.toString('base64'), 'base64'];
    case 'base64':
      return [bytes.toString('base64'), 'base64'];
    case 'base58':
    case 'binary':
      if (bytes.length > maxBase58Bytes)
        throw new RpcError(-32_600, 'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.');
      return encoding === 'base58' ? [base58(bytes), 'base58'] : base58(bytes);
    default:
      throw invalidParams('Invalid params: this local chain has the encodings base58, base64 and jsonParsed');
  }
}

const sliceOf = (data: Buffer, { offset, length }: JsonObject): Buffer =>
  data.subarray(Number(offset ?? 0), Number(offset ?? 0) + Number(length ?? 0));

/** @throws RpcError for a version above the one that the client knows */
export function showTransaction(included: IncludedTransaction, config: JsonObject): JsonObject {
  const { version, meta, bytes } = included;
  const highest = config.maxSupportedTransactionVersion;
  if (version === 0 && (highest === undefined || highest === null)) throw unsupportedVersion(version);
  const shown = { transaction: encode(bytes, config.encoding ?? 'json'), meta };
  return highest === undefined || highest === null ? shown : { ...shown, version };
}

function encode(base64: string, encoding: Json): Json {
  const bytes = Buffer.from(base64, 'base64');
  if (encoding === 'base64') return [base64, 'base64'];
  if (encoding === 'base58') return [base58(bytes), 'base58'];
  if (encoding !== 'json') throw invalidParams('Invalid params: this local chain shows transactions as json, base58 or base64');
  const { signatures, message } = decodeTransaction(bytes);
  return { signatures, message: showMessage(message) };
}

function showMessage({ header, keys, blockhash, instructions, lookups, version }: Message): JsonObject {
  return {
    header: {
      numRequiredSignatures: header.numSignerAccounts,
      numReadonlySignedAccounts: header.numReadonlySignerAccounts,
      numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
    },
    accountKeys: keys,
    recentBlockhash: blockhash,
    instructions: instructions.map(({ program, accounts, data }) => ({
      ...{ programIdIndex: program, accounts: [...accounts], data: base58(data), stackHeight: 1 },
    })),
    ...(version === 'legacy'
      ? {}
      : {
          addressTableLookups: lookups.map(({ table, writable, readonly }) => ({
            ...{ accountKey: table, writableIndexes: [...writable], readonlyIndexes: [...readonly] },
          })),
        }),
  };
}

function showAccounts({ bytes, meta, version }: IncludedTransaction): JsonObject {
  const { signatures, message } = decodeTransaction(Buffer.from(bytes, 'base64'));
  const { writable, readonly } = isObject(meta.loadedAddresses) ? meta.loadedAddresses : {};
  const loaded = [writable, readonly].flatMap((keys) => (Array.isArray(keys) ? keys : []));
  const accountKeys = [
    ...message.keys.map((pubkey) => ({ pubkey, source: 'transaction' })),
    ...loaded.map((pubkey) => ({ pubkey, source: 'lookupTable' })),
  ];
  return { transaction: { signatures, accountKeys }, meta, version };
}

export function showBlock(block: Block, config: JsonObject): JsonObject {
  const { parentSlot, height, time, hash, parentHash, transactions } = block;
  const shown = { blockhash: hash, previousBlockhash: parentHash, parentSlot, blockHeight: height, blockTime: time };
  const rewards = config.rewards === false ? {} : { rewards: [] };
  switch (config.transactionDetails ?? 'full') {
    case 'full':
      return { ...shown, ...rewards, transactions: transactions.map((entry) => showTransaction(entry, config)) };
    case 'accounts':
      return { ...shown, ...rewards, transactions: transactions.map(showAccounts) };
    case 'signatures':
      return { ...shown, ...rewards, signatures: transactions.map(({ id }) => id) };
    case 'none':
      return { ...shown, ...rewards };
    default:
      throw invalidParams('Invalid params: this local chain has the transactionDetails full, accounts, signatures and none');
  }
}
