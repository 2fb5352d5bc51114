/**
 * The messages of transactions and block headers.
 * Source: java-tron 4.8, protocol/src/main/protos/core/Tron.proto, core/contract/{balance,smart}_contract.proto.
 */
import type { Schema } from './protobuf';

export interface RawTransaction {
  ref_block_bytes: Buffer;
  ref_block_num: bigint;
  ref_block_hash: Buffer;
  /** Milliseconds. */
  expiration: bigint;
  auths: Buffer[];
  /** The memo. */
  data: Buffer;
  contract: Contract[];
  scripts: Buffer;
  timestamp: bigint;
  /** Sun. */
  fee_limit: bigint;
}

export interface Contract {
  type: number;
  parameter?: { type_url: string; value: Buffer };
  provider: Buffer;
  ContractName: Buffer;
  Permission_id: number;
}

export interface Result {
  fee: bigint;
  ret: number;
  contractRet: number;
}

export interface Transaction {
  raw_data?: RawTransaction;
  signature: Buffer[];
  ret: Result[];
}

export interface TransferContract {
  owner_address: Buffer;
  to_address: Buffer;
  /** Sun. */
  amount: bigint;
}

export interface TriggerSmartContract {
  owner_address: Buffer;
  contract_address: Buffer;
  /** Sun. */
  call_value: bigint;
  data: Buffer;
  call_token_value: bigint;
  token_id: bigint;
}

export interface HeaderRaw {
  /** Milliseconds. */
  timestamp: bigint;
  txTrieRoot: Buffer;
  parentHash: Buffer;
  number: bigint;
  witness_address: Buffer;
  version: number;
}

/** Tron.proto, ContractType. */
export const contractTypes: Record<number, string> = {
  0: 'AccountCreateContract',
  1: 'TransferContract',
  2: 'TransferAssetContract',
  4: 'VoteWitnessContract',
  5: 'WitnessCreateContract',
  6: 'AssetIssueContract',
  8: 'WitnessUpdateContract',
  9: 'ParticipateAssetIssueContract',
  10: 'AccountUpdateContract',
  11: 'FreezeBalanceContract',
  12: 'UnfreezeBalanceContract',
  13: 'WithdrawBalanceContract',
  14: 'UnfreezeAssetContract',
  15: 'UpdateAssetContract',
  16: 'ProposalCreateContract',
  17: 'ProposalApproveContract',
  18: 'ProposalDeleteContract',
  19: 'SetAccountIdContract',
  30: 'CreateSmartContract',
  31: 'TriggerSmartContract',
  33: 'UpdateSettingContract',
  41: 'ExchangeCreateContract',
  42: 'ExchangeInjectContract',
  43: 'ExchangeWithdrawContract',
  44: 'ExchangeTransactionContract',
  45: 'UpdateEnergyLimitContract',
  46: 'AccountPermissionUpdateContract',
  48: 'ClearABIContract',
  49: 'UpdateBrokerageContract',
  51: 'ShieldedTransferContract',
  52: 'MarketSellAssetContract',
  53: 'MarketCancelOrderContract',
  54: 'FreezeBalanceV2Contract',
  55: 'UnfreezeBalanceV2Contract',
  56: 'WithdrawExpireUnfreezeContract',
  57: 'DelegateResourceContract',
  58: 'UnDelegateResourceContract',
  59: 'CancelAllUnfreezeV2Contract',
};

/** Tron.proto, Transaction.Result.contractResult. */
export const contractResults: Record<number, string> = {
  0: 'DEFAULT',
  1: 'SUCCESS',
  2: 'REVERT',
  3: 'BAD_JUMP_DESTINATION',
  4: 'OUT_OF_MEMORY',
  5: 'PRECOMPILED_CONTRACT',
  6: 'STACK_TOO_SMALL',
  7: 'STACK_TOO_LARGE',
  8: 'ILLEGAL_OPERATION',
  9: 'STACK_OVERFLOW',
  10: 'OUT_OF_ENERGY',
  11: 'OUT_OF_TIME',
  12: 'JVM_STACK_OVER_FLOW',
  13: 'UNKNOWN',
  14: 'TRANSFER_FAILED',
  15: 'INVALID_CODE',
};

const anySchema: Schema = { 1: { name: 'type_url', kind: 'string' }, 2: { name: 'value', kind: 'bytes' } };

const contractSchema: Schema = {
  1: { name: 'type', kind: 'enum', values: contractTypes },
  2: { name: 'parameter', kind: 'message', message: anySchema },
  3: { name: 'provider', kind: 'bytes' },
  4: { name: 'ContractName', kind: 'bytes', format: 'text' },
  5: { name: 'Permission_id', kind: 'int32' },
};

export const rawSchema: Schema = {
  1: { name: 'ref_block_bytes', kind: 'bytes' },
  3: { name: 'ref_block_num', kind: 'int64' },
  4: { name: 'ref_block_hash', kind: 'bytes' },
  8: { name: 'expiration', kind: 'int64' },
  9: { name: 'auths', kind: 'bytes', repeated: true },
  10: { name: 'data', kind: 'bytes' },
  11: { name: 'contract', kind: 'message', repeated: true, message: contractSchema },
  12: { name: 'scripts', kind: 'bytes' },
  14: { name: 'timestamp', kind: 'int64' },
  18: { name: 'fee_limit', kind: 'int64' },
};

const resultSchema: Schema = {
  1: { name: 'fee', kind: 'int64' },
  2: { name: 'ret', kind: 'enum', values: { 0: 'SUCESS', 1: 'FAILED' } },
  3: { name: 'contractRet', kind: 'enum', values: contractResults },
};

export const transactionSchema: Schema = {
  1: { name: 'raw_data', kind: 'message', message: rawSchema },
  2: { name: 'signature', kind: 'bytes', repeated: true },
  5: { name: 'ret', kind: 'message', repeated: true, message: resultSchema },
};

export const headerSchema: Schema = {
  1: { name: 'timestamp', kind: 'int64' },
  2: { name: 'txTrieRoot', kind: 'bytes' },
  3: { name: 'parentHash', kind: 'bytes' },
  7: { name: 'number', kind: 'int64' },
  9: { name: 'witness_address', kind: 'bytes', format: 'address' },
  10: { name: 'version', kind: 'int32' },
};

/** The contracts that the simulator executes, by their names. */
export const parameterSchemas: Record<string, Schema> = {
  TransferContract: {
    1: { name: 'owner_address', kind: 'bytes', format: 'address' },
    2: { name: 'to_address', kind: 'bytes', format: 'address' },
    3: { name: 'amount', kind: 'int64' },
  },
  TriggerSmartContract: {
    1: { name: 'owner_address', kind: 'bytes', format: 'address' },
    2: { name: 'contract_address', kind: 'bytes', format: 'address' },
    3: { name: 'call_value', kind: 'int64' },
    4: { name: 'data', kind: 'bytes' },
    5: { name: 'call_token_value', kind: 'int64' },
    6: { name: 'token_id', kind: 'int64' },
  },
};
