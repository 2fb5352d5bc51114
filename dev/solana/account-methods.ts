/** Methods about accounts. */
import { type Account, readDecimals, readTokenAccount, toUiAmount } from './accounts';
import { readAddress } from './addresses';
import type { Method } from './block-methods';
import type { Block } from './history';
import type { Json } from './json';
import { maxProcessingAge, programs } from './parameters';
import { invalidParams } from './rpc-error';
import { showAccount } from './show';
import { readConfig, readInteger, type View, withContext } from './view';

const maxAccounts = 100;
const maxFeeAccounts = 128;

const getAccountInfo: Method = (view, params) => {
  const config = readConfig(params, 1);
  const block = view.block(config);
  const find = (key: string): Account | undefined => view.account(key, block);
  return withContext(block, showAccount(find(readAddress(params[0])), config, find));
};

const getMultipleAccounts: Method = (view, params) => {
  const [keys] = params;
  if (!Array.isArray(keys)) throw invalidParams('`params` should have at least 1 argument(s)');
  if (keys.length > maxAccounts) throw invalidParams(`Too many inputs provided; max ${maxAccounts}`);
  const config = readConfig(params, 1);
  const block = view.block(config);
  const find = (key: string): Account | undefined => view.account(key, block);
  return withContext(
    block,
    keys.map((key) => showAccount(find(readAddress(key)), config, find)),
  );
};

/** All accounts of a program at a block. */
function ownedAt(view: View, program: string, block: Block): [string, Account][] {
  const { svm, history } = view.chain;
  const keys = new Set([...svm.ownedBy(program).map(([key]) => key), ...history.changedSince(block.height)]);
  return [...keys].flatMap((key): [string, Account][] => {
    const account = view.account(key, block);
    return account?.owner === program ? [[key, account]] : [];
  });
}

const getTokenAccountsByOwner: Method = (view, params) => {
  const owner = readAddress(params[0]);
  const filter = readConfig(params, 1);
  const config = readConfig(params, 2);
  const block = view.block(config);
  const find = (key: string): Account | undefined => view.account(key, block);
  const mint = filter.mint === undefined ? undefined : readAddress(filter.mint);
  if (mint && readDecimals(find(mint)) === undefined) throw invalidParams('Invalid param: could not find mint');
  const program = mint ? (find(mint) as Account).owner : readAddress(filter.programId);
  if (program !== programs.token && program !== programs.token2022)
    throw invalidParams('Invalid param: unrecognized Token program id');
  const accounts = ownedAt(view, program, block).filter(([, account]) => {
    const token = readTokenAccount(account);
    return token?.owner === owner && (!mint || token.mint === mint);
  });
  return withContext(
    block,
    accounts.map(([pubkey, account]) => ({ pubkey, account: showAccount(account, config, find) })),
  );
};

const getTokenAccountBalance: Method = (view, params) => {
  const block = view.block(readConfig(params, 1));
  const token = readTokenAccount(view.account(readAddress(params[0]), block));
  const decimals = token && readDecimals(view.account(token.mint, block));
  if (!token || decimals === undefined) throw invalidParams('Invalid param: could not find account');
  return withContext(block, toUiAmount(token.amount, decimals));
};

/** Of each recent block the least that was paid; for accounts the least that was paid by who wrote to one of them (agave: prioritization_fee_cache). */
const getRecentPrioritizationFees: Method = (view, params) => {
  const keys = params[0] ?? [];
  if (!Array.isArray(keys) || keys.length > maxFeeAccounts)
    throw invalidParams(`Too many inputs provided; max ${maxFeeAccounts}`);
  const accounts = keys.map(readAddress);
  const { history } = view.chain;
  const head = view.blockOf('processed').height;
  const fees: Json[] = [];
  for (let height = Math.max(history.first.height, head - maxProcessingAge + 1); height <= head; height += 1) {
    const block = history.at(height);
    if (block) fees.push({ slot: block.slot, prioritizationFee: leastFee(block, accounts) });
  }
  return fees;
};

function leastFee({ transactions }: Block, accounts: string[]): bigint {
  const least = (prices: bigint[]): bigint => prices.reduce((low, price) => (price < low ? price : low), prices[0] ?? 0n);
  const paidFor = accounts.map((key) =>
    least(transactions.filter(({ writable }) => writable.includes(key)).map(({ unitPrice }) => unitPrice)),
  );
  return [least(transactions.map(({ unitPrice }) => unitPrice)), ...paidFor].reduce((high, fee) => (fee > high ? fee : high), 0n);
}

export const accountMethods: Record<string, Method> = {
  ...{ getAccountInfo, getMultipleAccounts, getTokenAccountsByOwner, getTokenAccountBalance, getRecentPrioritizationFees },
  getBalance: (view, params) => {
    const block = view.block(readConfig(params, 1));
    return withContext(block, view.account(readAddress(params[0]), block)?.lamports ?? 0n);
  },
  getMinimumBalanceForRentExemption: ({ chain }, params) => chain.svm.rent(BigInt(readInteger(params[0], 'data length'))),
};
