import { sign } from './address';
import { referenceOf } from './blocks';
import type { Chain } from './chain';
import { transactionId } from './json';
import { parameterSchemas, type Transaction } from './messages';
import { encode } from './protobuf';

const types = { TransferContract: 1, TriggerSmartContract: 31 };

interface Extra {
  /** Sun. */
  feeLimit?: bigint;
  memo?: Buffer;
  permissionId?: number;
}

/** An unsigned transaction that refers to the last solidified block, good for a minute: java-tron, Wallet.createTransactionCapsule and setTransaction. */
export function buildTransaction(chain: Chain, type: keyof typeof types, parameter: object, extra: Extra = {}): Transaction {
  const { bytes, hash } = referenceOf(chain.history.getBlock(chain.history.solidNumber) ?? chain.head);
  const nothing = Buffer.alloc(0);
  const value = encode(parameterSchemas[type] ?? {}, parameter);
  return {
    signature: [],
    ret: [],
    raw_data: {
      ...{ ref_block_bytes: bytes, ref_block_num: 0n, ref_block_hash: hash, auths: [], scripts: nothing },
      ...{ expiration: BigInt(chain.head.timeMs + 60_000), timestamp: BigInt(Date.now()), fee_limit: extra.feeLimit ?? 0n },
      data: extra.memo ?? nothing,
      contract: [
        {
          ...{ type: types[type], provider: nothing, ContractName: nothing, Permission_id: extra.permissionId ?? 0 },
          parameter: { type_url: `type.googleapis.com/protocol.${type}`, value },
        },
      ],
    },
  };
}

export const signTransaction = (transaction: Transaction, key: Buffer): Transaction => ({
  ...transaction,
  signature: [sign(transactionId(transaction), key)],
});
