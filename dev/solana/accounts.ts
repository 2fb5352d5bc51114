/** Accounts, and what those of the token programs say (spl-token-interface: Mint, Account). */
import { programs } from './parameters';
import type { Json, JsonObject } from './json';
import { toAddress } from './transactions';

export interface Account {
  lamports: bigint;
  data: Buffer;
  /** The program that owns it. */
  owner: string;
  executable: boolean;
}

export interface TokenAccount {
  mint: string;
  owner: string;
  /** Atomic units. */
  amount: bigint;
  /** Of AccountState: initialized or frozen. */
  state: 'initialized' | 'frozen';
  delegate: { address: string; amount: bigint } | undefined;
  closeAuthority: string | undefined;
}

const accountBytes = 165;
const mintBytes = 82;

const isTokenProgram = (program: string): boolean => program === programs.token || program === programs.token2022;
const option = (data: Buffer, at: number): string | undefined =>
  data.readUInt32LE(at) === 1 ? toAddress(data.subarray(at + 4, at + 36)) : undefined;

/** Token-2022 puts the kind behind the fields that both programs have. */
function isOfKind({ owner, data }: Account, bytes: number, kind: number): boolean {
  if (!isTokenProgram(owner)) return false;
  return data.length === bytes || (owner === programs.token2022 && data.length > accountBytes && data[accountBytes] === kind);
}

export function readTokenAccount(account: Account | undefined): TokenAccount | undefined {
  if (!account || !isOfKind(account, accountBytes, 2)) return undefined;
  const { data } = account;
  const delegate = option(data, 72);
  if (data[108] !== 1 && data[108] !== 2) return undefined;
  return {
    mint: toAddress(data.subarray(0, 32)),
    owner: toAddress(data.subarray(32, 64)),
    amount: data.readBigUInt64LE(64),
    state: data[108] === 2 ? 'frozen' : 'initialized',
    delegate: delegate ? { address: delegate, amount: data.readBigUInt64LE(121) } : undefined,
    closeAuthority: option(data, 129),
  };
}

export function readDecimals(account: Account | undefined): number | undefined {
  return account && isOfKind(account, mintBytes, 1) && account.data[45] === 1 ? account.data[44] : undefined;
}

export function toUiAmount(amount: bigint, decimals: number): JsonObject {
  const digits = String(amount).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const text = decimals > 0 && fraction ? `${whole}.${fraction}` : whole;
  return { amount: String(amount), decimals, uiAmount: Number(text), uiAmountString: text };
}

type Find = (address: string) => Account | undefined;

/** Only transactions that name a token program have token balances (agave: collect_token_balances). */
export function tokenBalances(keys: string[], invoked: Set<number>, find: Find): Json[] {
  if (!keys.some(isTokenProgram)) return [];
  return keys.flatMap((key, accountIndex) => {
    if (invoked.has(accountIndex) || isTokenProgram(key)) return [];
    const account = find(key);
    const token = readTokenAccount(account);
    const decimals = token && readDecimals(find(token.mint));
    if (!account || !token || decimals === undefined) return [];
    const uiTokenAmount = toUiAmount(token.amount, decimals);
    return [{ accountIndex, mint: token.mint, owner: token.owner, programId: account.owner, uiTokenAmount }];
  });
}

/** `jsonParsed`, of token accounts and mints alone; other accounts come as base64, as those that the node cannot parse. */
export function parseAccount(account: Account, find: Find): JsonObject | undefined {
  const program = account.owner === programs.token ? 'spl-token' : 'spl-token-2022';
  const shown = (type: string, info: JsonObject): JsonObject => ({
    ...{ program, parsed: { type, info }, space: account.data.length },
  });
  const token = readTokenAccount(account);
  const decimals = token ? readDecimals(find(token.mint)) : readDecimals(account);
  if (decimals === undefined) return undefined;
  const { data } = account;
  if (!token) {
    const authorities = { mintAuthority: option(data, 0) ?? null, freezeAuthority: option(data, 46) ?? null };
    return shown('mint', { ...authorities, supply: String(data.readBigUInt64LE(36)), decimals, isInitialized: true });
  }
  const { mint, owner, state, delegate, closeAuthority } = token;
  return shown('account', {
    ...{ isNative: data.readUInt32LE(109) === 1, mint, owner, state, tokenAmount: toUiAmount(token.amount, decimals) },
    ...(delegate ? { delegate: delegate.address, delegatedAmount: toUiAmount(delegate.amount, decimals) } : {}),
    ...(closeAuthority ? { closeAuthority } : {}),
  });
}
