import { GatewayError } from '../../platform/errors';
import { tokenByContract } from '../registry';
import type { ChainDefinition } from '../types';
import type { Account } from './answers';
import { toBase58 } from './codec/base58';
import { type TokenProgram, tokenPrograms } from './codec/programs';

export interface Mint {
  program: TokenProgram;
  decimals: number;
}

/** Layout of a mint (spl-token-interface, state.rs: Mint), and of what Token-2022 adds behind it. */
const mintBytes = 82;
const decimalsAt = 44;
const isInitializedAt = 45;
const extensionsAt = 166;
/**
 * Extensions that change what a transfer does (spl-token-2022-interface, ExtensionType): TransferFeeConfig, NonTransferable, TransferHook.
 */
const refused: ReadonlyMap<number, string> = new Map([
  [1, 'it keeps a fee of transfers'],
  [9, 'it cannot be transferred'],
  [14, 'a program of its issuer takes part in transfers'],
]);

/** A mint of one of the two token programs; a text: why the gateway does not move the token. */
export function readMint(account: Account | null): Mint | string {
  const found = (Object.keys(tokenPrograms) as TokenProgram[]).find((name) => toBase58(tokenPrograms[name]) === account?.program);
  if (!account || !found) return 'it is no token';
  const { data } = account;
  if (data.length < mintBytes || data[isInitializedAt] !== 1) return 'it is no token';
  const reason = found === 'token-2022' ? findRefused(data) : undefined;
  return reason ?? { program: found, decimals: data[decimalsAt] as number };
}

/** Of a token that is paid; amounts were counted in the decimals of the registry. @throws GatewayError would_revert where it is not moved. */
export function findMint(chain: ChainDefinition, contract: string, account: Account | null): Mint {
  const mint = readMint(account);
  if (typeof mint === 'string') throw new GatewayError('would_revert', `The token is not moved on ${chain.name}: ${mint}`);
  if ((tokenByContract(chain, contract)?.decimals ?? mint.decimals) !== mint.decimals)
    throw new GatewayError('would_revert', `The token has other decimals on ${chain.name} than it is registered with`);
  return mint;
}

function findRefused(data: Buffer): string | undefined {
  for (let position = extensionsAt; position + 4 <= data.length;) {
    const reason = refused.get(data.readUInt16LE(position));
    if (reason !== undefined) return reason;
    position += 4 + data.readUInt16LE(position + 2);
  }
  return undefined;
}
