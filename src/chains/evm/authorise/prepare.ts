import { type Address, domainSeparator, encodeFunctionData, erc20Abi, parseAbi } from 'viem';
import { GatewayError } from '../../../platform/errors';
import type { AuthorisationAction, ChainDefinition, Hex, Prepared, TransactionIntent } from '../../types';
import { parseChainId } from '../chain-id';
import { getPayment } from '../codec/payment';
import { permit2Address } from '../payments/contracts';
import { hasCode, tryCall } from '../payments/simulate';
import type { RpcCall } from '../rpc';
import { toMethod } from './bytes';
import { toPreparedAuthorisation, validSinceSeconds } from './details';
import { spenderOf } from './digests';

const tokenAbi = parseAbi([
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function nonces(address owner) view returns (uint256)',
]);

/**
 * The window of a payment that is to be authorised, from now, and the permit that it needs: Permit2 moves only what the account has
 * allowed it.
 * @throws GatewayError would_revert when nobody could carry it out; Error for what the node did not answer
 */
export async function prepareAuthorisation(
  call: RpcCall,
  chain: ChainDefinition,
  intent: TransactionIntent,
  action: AuthorisationAction,
): Promise<Prepared> {
  const { tokenContract, amount } = getPayment(intent);
  const token = tokenContract as Address;
  const balance = await readWord(call, token, balanceOf(intent.from));
  if (balance === null || balance < amount) throw refused(chain, 'the account does not have the amount');
  const permitNonce = action.method === 'eip3009' ? null : await findPermitNonce(call, chain, intent, action);
  if (action.method === 'eip3009' || permitNonce !== null) await assertDomain(call, chain, token, action);
  const now = BigInt(Math.floor(Date.now() / 1000));
  return toPreparedAuthorisation({ validAfter: now - validSinceSeconds, validBefore: now + BigInt(action.seconds), permitNonce });
}

/** null: the account has allowed it already. */
async function findPermitNonce(
  call: RpcCall,
  chain: ChainDefinition,
  intent: TransactionIntent,
  { method, withAllowance }: AuthorisationAction,
): Promise<bigint | null> {
  const { tokenContract, amount } = getPayment(intent);
  const token = tokenContract as Address;
  const settling = toMethod(method);
  if (settling === 'eip3009') return null;
  const [isServed, allowed] = await Promise.all([
    hasCode(call, spenderOf(settling)),
    readWord(call, token, allowance(intent.from)),
  ]);
  if (!isServed) throw refused(chain, 'the x402 proxy is not deployed there');
  if (allowed !== null && allowed >= amount) return null;
  if (!withAllowance)
    throw refused(chain, 'the account has given Permit2 no allowance, and the seller takes no permit (eip2612GasSponsoring)');
  const owner = intent.from as Address;
  const nonce = await readWord(call, token, encodeFunctionData({ abi: tokenAbi, functionName: 'nonces', args: [owner] }));
  if (nonce === null) throw refused(chain, 'the token takes no permits (EIP-2612)');
  return nonce;
}

/** Nobody could carry out what is signed for another domain, and the amount would be held until it expires. */
async function assertDomain(
  call: RpcCall,
  chain: ChainDefinition,
  token: Address,
  { domain }: AuthorisationAction,
): Promise<void> {
  const separator = await readWord(call, token, encodeFunctionData({ abi: tokenAbi, functionName: 'DOMAIN_SEPARATOR' }));
  // not every token shows it
  if (separator === null || domain === null) return;
  const expected = domainSeparator({ domain: { ...domain, chainId: parseChainId(chain), verifyingContract: token } });
  if (BigInt(expected) !== separator)
    throw refused(chain, `the token has another EIP-712 domain than ${domain.name} ${domain.version}`);
}

const balanceOf = (owner: string): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [owner as Address] });
const allowance = (owner: string): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [owner as Address, permit2Address] });

/** The word that a function returns; null: the contract has no such function. */
async function readWord(call: RpcCall, to: Address, data: Hex): Promise<bigint | null> {
  const answer = await tryCall(call, { to, data });
  return 'result' in answer && answer.result.length === 66 ? BigInt(answer.result) : null;
}

const refused = ({ name }: ChainDefinition, reason: string): GatewayError =>
  new GatewayError('would_revert', `The payment would be reverted on ${name}: ${reason}`);
