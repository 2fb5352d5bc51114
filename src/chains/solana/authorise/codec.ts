import { toHex } from '../../../platform/hex';
import { parseUint256 } from '../../../platform/uint256';
import type { TransactionPlan } from '../../family';
import type { SettlementMethod } from '../../payments';
import { getOutput } from '../../single-payment';
import type { AuthorisationAction, Hex, Prepared, TransactionDescription } from '../../types';
import { toBytes } from '../codec/address';
import { fromBase58, toBase58 } from '../codec/base58';
import { messageHash } from '../codec/message-hash';
import { tokenPrograms } from '../codec/programs';
import { readDetails, type SolanaDetails, toPrepared } from '../details';
import type { SolanaNetwork } from '../network';
import { maxLifeSeconds } from '../payments/limits';
import { type Authorisation, readAuthorisation, toOffered, writeAuthorisation } from './bytes';

/** As of settlements: the payer signs the whole transaction. */
const method: SettlementMethod = 'transaction';

/** What is read from the chain before a payment is authorised. `validBefore`: seconds since the epoch. Whoever sends it pays the fee. */
export function toPreparedAuthorisation(details: SolanaDetails, validBefore: bigint): Prepared {
  const prepared = toPrepared(details, 0n);
  return { ...prepared, expiry: { ...prepared.expiry, valid_before: validBefore.toString() } };
}

/** @throws Error for a plan that readAuthorisation would refuse. */
export function buildAuthorisation({ intent, kind, prepared, resources }: TransactionPlan): Hex {
  const { action, from } = intent;
  const { recipient, tokenContract, amount } = getOutput(intent);
  if (action?.type !== 'authorisation' || kind !== 'first') throw new Error('a payment is authorised once');
  if (action.method !== method || action.facilitator === null) throw new Error('it is authorised in another way');
  if (prepared.feeBound !== '0' || resources.length > 0) throw new Error('whoever carries a payment out pays the fee');
  const { blockhash, units, price, token } = readDetails(prepared);
  const lastSecond = parseUint256(prepared.expiry?.valid_before);
  if (tokenContract === null || token === null || typeof lastSecond !== 'bigint')
    throw new Error('a payment of a token is authorised, once its time is known');
  return writeAuthorisation({
    ...{ feePayer: toBytes(action.facilitator), owner: toBytes(from), recipient: toBytes(recipient), amount },
    ...{ mint: toBytes(tokenContract), program: token.program, decimals: token.decimals, units, price, lastSecond },
    ...{ memo: action.memo ?? null, blockhash: fromBase58(blockhash, 32) as Buffer },
  });
}

/** The bytes say which block they refer to, and not how high it is. */
export function recoverAuthorisation(unsigned: Hex): Prepared {
  const { blockhash, units, price, program, decimals, lastSecond } = readAuthorisation(unsigned);
  const token = { program, decimals, creates: false };
  const facts = { blockhash: toBase58(blockhash), slot: null, lastValidBlockHeight: null };
  return toPreparedAuthorisation({ ...facts, units, price, token }, lastSecond);
}

export function describeAuthorisation({ caip2 }: SolanaNetwork, unsigned: Hex): TransactionDescription {
  const it = readAuthorisation(unsigned);
  const facilitator = toBase58(it.feePayer);
  return {
    chain: caip2,
    action: 'authorisation',
    outputs: [{ recipient: toBase58(it.recipient), tokenContract: toBase58(it.mint), amount: it.amount }],
    authorisation: {
      ...{ method, identity: messageHash(it.message), facilitator },
      ...{ contract: toBase58(tokenPrograms[it.program]), action: toAction(it, facilitator) },
    },
    maxNetworkFee: 0n,
    expiresAt: Number(it.lastSecond),
    resources: [],
  };
}

const toAction = ({ memo, message }: Authorisation & { message: Buffer }, facilitator: string): AuthorisationAction => ({
  ...{ type: 'authorisation', method, nonce: messageHash(message), seconds: maxLifeSeconds, facilitator },
  ...{ domain: null, withAllowance: false, ...(memo !== null && { memo }) },
});

/** Names a payment beside the settlement that carries it out, which may be the gateway's own: both are the same message. */
export const authorisationKey = (hash: string): string => `authorisation:${hash}`;

/**
 * The transaction as whoever pays the fee gets it. Its id is that one's signature, which nobody has yet: the hash of the message stands for it.
 * `signature`: of the account.
 */
export function assembleAuthorisation(unsigned: Hex, signature: Buffer): { id: string; bytes: Hex } {
  const authorisation = readAuthorisation(unsigned);
  return { id: `0x${messageHash(authorisation.message)}`, bytes: toHex(toOffered(authorisation, signature)) };
}

/** Ids of the chain are Base58, which has no 0. */
export const isStandIn = (id: string): boolean => id.startsWith('0x');
