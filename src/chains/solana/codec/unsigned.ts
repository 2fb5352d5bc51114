import type { TokenProgram } from './programs';

/** The messages that this gateway signs; keys and hashes have 32 bytes. */
export interface UnsignedTransaction {
  /** Fee payer, only signer and owner of what is paid. */
  owner: Buffer;
  /** A wallet: tokens go to its associated token account. */
  recipient: Buffer;
  /** Lamports, or atomic units of the token. */
  amount: bigint;
  /** null: SOL. `creates`: the recipient's token account, where it is missing. */
  token: { mint: Buffer; program: TokenProgram; decimals: number; creates: boolean } | null;
  /** Of a recent block: only a chain that has it executes the message, and only for 150 blocks. */
  blockhash: Buffer;
  /** Most compute units that it may take. */
  units: number;
  /** Priority fee, millionths of a lamport for a compute unit of the limit. */
  price: bigint;
  /** A text that the chain shows to everybody; null: none. */
  memo: string | null;
}
