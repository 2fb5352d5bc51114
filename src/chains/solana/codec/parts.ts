import { fromHex } from '../../../platform/hex';
import type { Hex } from '../../types';
import { decodeSettlement, isSettlement } from './settlement';
import { associatedTokenAccount } from './token-account';
import { decode } from './transaction';

/** What every message of the gateway has, whether it pays or settles. Keys and hashes have 32 bytes. */
export interface MessageParts {
  /** Fee payer, and the signer whose key the gateway has. */
  feePayer: Buffer;
  blockhash: Buffer;
  /** What is signed. */
  message: Buffer;
  /** Of the others, who have signed before; in their order. */
  signatures: Buffer[];
  /** Lamports that leave the fee payer beside the fee. */
  coins: bigint;
  /** Accounts between which tokens move; null: SOL is paid. */
  tokens: { source: Buffer; destination: Buffer } | null;
}

/** @throws Error for bytes that this gateway would never build. */
export function readParts(unsigned: Hex): MessageParts {
  if (isSettlement(unsigned)) {
    const { settler: feePayer, transfer, transaction } = decodeSettlement(unsigned);
    const { message, blockhash, signatures } = transaction;
    return { feePayer, blockhash, message, signatures: signatures.slice(1), coins: 0n, tokens: transfer };
  }
  const { owner: feePayer, blockhash, recipient, amount, token } = decode(unsigned);
  const tokens = token && {
    source: associatedTokenAccount(feePayer, token.mint, token.program),
    destination: associatedTokenAccount(recipient, token.mint, token.program),
  };
  return { feePayer, blockhash, message: fromHex(unsigned), signatures: [], coins: token ? 0n : amount, tokens };
}
