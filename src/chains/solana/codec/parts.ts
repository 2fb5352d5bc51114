import { fromHex } from '../../../platform/hex';
import type { Hex } from '../../types';
import { isAuthorisation, readAuthorisation } from '../authorise/bytes';
import type { TokenProgram } from './programs';
import { decodeSettlement, isSettlement } from './settlement';
import { associatedTokenAccount } from './token-account';
import { decode } from './transaction';

/** What every message of the gateway has, whether it pays or settles. Keys and hashes have 32 bytes. */
export interface MessageParts {
  /** The signer whose key the gateway has. */
  signer: Buffer;
  /** It pays the fee. */
  isFeePayer: boolean;
  blockhash: Buffer;
  /** What is signed. */
  message: Buffer;
  /** Of the others, who have signed before, and stand behind it; in their order. */
  signatures: Buffer[];
  /** Lamports that leave the signer beside the fee. */
  coins: bigint;
  /** Accounts between which tokens move; null: SOL is paid. */
  tokens: { source: Buffer; destination: Buffer } | null;
}

/** @throws Error for bytes that this gateway would never build. */
export function readParts(unsigned: Hex): MessageParts {
  if (isSettlement(unsigned)) {
    const { settler: signer, transfer, transaction } = decodeSettlement(unsigned);
    const { message, blockhash, signatures } = transaction;
    return { signer, isFeePayer: true, blockhash, message, signatures: signatures.slice(1), coins: 0n, tokens: transfer };
  }
  if (isAuthorisation(unsigned)) {
    const authorisation = readAuthorisation(unsigned);
    const { owner: signer, blockhash, message } = authorisation;
    const tokens = toTokenAccounts(authorisation, authorisation);
    return { signer, isFeePayer: false, blockhash, message, signatures: [], coins: 0n, tokens };
  }
  const { owner: signer, blockhash, recipient, amount, token } = decode(unsigned);
  const tokens = token && toTokenAccounts({ owner: signer, recipient }, token);
  const message = fromHex(unsigned);
  return { signer, isFeePayer: true, blockhash, message, signatures: [], coins: token ? 0n : amount, tokens };
}

const toTokenAccounts = (
  { owner, recipient }: { owner: Buffer; recipient: Buffer },
  { mint, program }: { mint: Buffer; program: TokenProgram },
): NonNullable<MessageParts['tokens']> => ({
  source: associatedTokenAccount(owner, mint, program),
  destination: associatedTokenAccount(recipient, mint, program),
});
