import { parseJson } from '../../json';
import type { DepositFound, JsonValue } from '../../types';
import { type Header, type Moved, readMovedBlock, toLamports, type TokenBalance } from '../answers';
import { readResult } from '../rpc';

/** Who has signed a transaction. */
export type Signed = Pick<Moved, 'id' | 'payer' | 'signers'>;

/** A payment that is a deposit if it is to an address of the gateway. Addresses as they are shown. */
export interface Payment extends Pick<DepositFound, 'txHash' | 'position' | 'tokenContract' | 'fromAddress' | 'toAddress'> {
  /** null: the answer does not say it exactly. */
  amount: bigint | null;
  /** Token account, in Base58; null: SOL. */
  account: string | null;
}

/** A block with what its transactions have paid in SOL and in registered tokens. It can be passed between threads. */
export interface PaidBlock extends Header {
  transactions: Signed[];
  /** Of the transactions that have succeeded. */
  payments: Payment[];
}

/** What an answer is to be read for. */
export interface Asked {
  slot: number;
  /** Of the registered tokens, in Base58. */
  mints: readonly string[];
}

/** A node shows at least 120 bytes of each: the longest response that is read, of 64 MB, has fewer. Each takes some 300 bytes on its way to another thread. */
const maxPayments = 600_000;

/**
 * The response of a node to getBlock with `transactionDetails: accounts`; null: the node says that there is no such block.
 * @throws NoAnswer for what is no JSON, RpcError for a refusal of the node, Error for every other answer that is not as it should be. Their
 * messages contain nothing of the answer.
 */
export function readPaidBlock(bytes: Buffer, { slot, mints }: Asked): PaidBlock | null {
  const answer = readResult(parseJson(bytes));
  if (answer === null) return null;
  const { transactions, ...header } = readMovedBlock(slot, answer);
  const payments = transactions.filter(({ success }) => success).flatMap((it) => [...toCoins(it), ...toTokens(mints, it)]);
  if (payments.length > maxPayments) throw new Error('the answer has more payments than a block can show');
  return { ...header, transactions: transactions.map(({ id, payer, signers }) => ({ id, payer, signers })), payments };
}

/** Whoever has more SOL than before, by whatever instruction: the position is that of the account in the transaction. */
const toCoins = ({ id, payer, keys, before, after }: Moved): Payment[] =>
  keys.flatMap((toAddress, index) => {
    // what the payer has more is of its own doing
    if (index === 0 || isUnchanged(before[index], after[index])) return [];
    const [had, has] = [toLamports(before[index]), toLamports(after[index])];
    const amount = had === null || has === null ? null : has - had;
    if (amount !== null && amount <= 0n) return [];
    return [{ txHash: id, position: String(index), account: null, tokenContract: null, fromAddress: payer, toAddress, amount }];
  });

/** Of most accounts of a transaction: nothing else is made of them. What a number does not hold exactly may have changed. */
const isUnchanged = (had: JsonValue | undefined, has: JsonValue | undefined): boolean => had === has && Number.isSafeInteger(had);

/** Of registered tokens. */
const toTokens = (mints: readonly string[], { id, payer, keys, tokensBefore, tokensAfter }: Moved): Payment[] =>
  tokensAfter.flatMap(({ account, mint, owner, amount }) => {
    const gained = amount - amountOn(tokensBefore, account);
    const key = keys[account];
    if (!mints.includes(mint) || gained <= 0n) return [];
    // another endpoint may say it; nobody would look for the deposit again
    if (key === undefined || owner === null) throw new Error('the answer does not say which token account it is, or who owns it');
    const payers = tokensBefore.filter((it) => it.mint === mint && amountOn(tokensAfter, it.account) < it.amount);
    const fromAddress = (payers.length === 1 ? payers[0]?.owner : undefined) ?? payer;
    const found = { txHash: id, position: String(account), account: key, tokenContract: mint };
    return [{ ...found, fromAddress, toAddress: owner, amount: gained }];
  });

const amountOn = (balances: TokenBalance[], account: number): bigint =>
  balances.find((it) => it.account === account)?.amount ?? 0n;
