/** The TransactionInfo of an executed transaction: java-tron, TransactionUtil.buildTransactionInfoInstance. */
import { toBase58, withPrefix } from './address';
import type { IncludedTransaction } from './blocks';
import { type Decoded, transactionBytes } from './decoded';
import type { Receipt } from './execute';
import { asText, isObject, type Json, type JsonObject } from './json';

const withoutZeros = (values: Record<string, Json | undefined>): JsonObject =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== 0n && value !== undefined && value !== ''));

export function toIncluded(decoded: Decoded, receipt: Receipt, block: { number: number; timeMs: number }): IncludedTransaction {
  const { outcome, net } = receipt;
  const hasFailed = outcome !== undefined && outcome.result !== 'SUCCESS';
  const info = withoutZeros({
    id: decoded.id,
    fee: receipt.fee,
    blockNumber: block.number,
    blockTimeStamp: block.timeMs,
    contractResult: [outcome?.returned.toString('hex') ?? ''],
    contract_address: receipt.contract,
    receipt: withoutZeros({
      ...{ energy_usage: receipt.energyUsage, energy_fee: receipt.energyFee, energy_usage_total: outcome?.energyUsed },
      ...{ net_usage: net.usage, net_fee: net.fee, result: outcome?.result, energy_penalty_total: outcome?.energyPenalty },
    }),
    log: outcome?.logs.length ? outcome.logs.map((log) => withoutZeros({ ...log, topics: log.topics })) : undefined,
    result: hasFailed ? 'FAILED' : undefined,
    resMessage: hasFailed ? Buffer.from(outcome.reason).toString('hex') : undefined,
    internal_transactions: outcome?.internal.length
      ? outcome.internal.map(({ from, to, value, rejected }) => ({
          hash: decoded.id,
          caller_address: from.toString('hex'),
          transferTo_address: to.toString('hex'),
          callValueInfo: [withoutZeros({ callValue: value })],
          note: Buffer.from('call').toString('hex'),
          ...(rejected || hasFailed ? { rejected: true } : {}),
        }))
      : undefined,
  });
  const bytes = transactionBytes(decoded.transaction).toString('hex');
  return { id: decoded.id, bytes, contractRet: outcome?.result ?? 'SUCCESS', info };
}

const base58 = (hex: Json | undefined): Json | undefined => (typeof hex === 'string' ? toBase58(Buffer.from(hex, 'hex')) : hex);
const mapList = (list: Json | undefined, change: (entry: JsonObject) => JsonObject): Json | undefined =>
  Array.isArray(list) ? list.map((entry) => (isObject(entry) ? change(entry) : entry)) : list;

/** With `visible`: addresses as T…, also those of logs, and the reason as text. */
export function showInfo(info: JsonObject, visible: boolean): JsonObject {
  if (!visible) return info;
  const shown: JsonObject = {
    ...info,
    contract_address: base58(info.contract_address),
    resMessage: typeof info.resMessage === 'string' ? Buffer.from(info.resMessage, 'hex').toString() : undefined,
    log: mapList(info.log, (log) => ({
      ...log,
      address: base58(withPrefix(Buffer.from(asText(log.address), 'hex')).toString('hex')),
    })),
    internal_transactions: mapList(info.internal_transactions, (entry) => ({
      ...entry,
      caller_address: base58(entry.caller_address),
      transferTo_address: base58(entry.transferTo_address),
    })),
  };
  return Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined));
}
