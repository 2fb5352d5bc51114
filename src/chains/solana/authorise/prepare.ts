import { GatewayError } from '../../../platform/errors';
import { getOutput } from '../../single-payment';
import type { ChainDefinition, Prepared, TransactionIntent } from '../../types';
import { createSolanaCodec } from '../codec';
import { toBytes } from '../codec/address';
import { toBase58 } from '../codec/base58';
import { associatedTokenAccount } from '../codec/token-account';
import type { SolanaDetails } from '../details';
import { distinctPrice } from '../fees';
import { findMint } from '../mint';
import { networkOf } from '../network';
import type { Simulated, SolanaNode } from '../node';
import { maxLifeSeconds, maxPaymentUnits } from '../payments/limits';
import { isOfSettler } from '../payments/simulated';
import { blockhashNotFound } from '../simulate';
import { hasTokenAccount } from '../token-holder';
import { readAuthorisation, toOffered } from './bytes';
import { toPreparedAuthorisation } from './codec';

/** What the official client always asks for; more where a simulation says so, with a margin, in hundredths. */
const usualUnits = 20_000;
const margin = 120;
/** Millionths of a lamport. Whoever pays the fee need not like a higher one, and a simulation asks for no more. */
const usualPrice = 1n;

/**
 * A payment that somebody else pays the fee of, on the newest finalized block: no fork takes that away. Its price tells it from another one
 * of the same amount, recipient and block.
 * @throws GatewayError would_revert when nobody could carry it out; Error for what the node did not answer
 */
export async function prepareAuthorisation(
  node: SolanaNode,
  chain: ChainDefinition,
  intent: TransactionIntent,
): Promise<Prepared> {
  const { recipient, tokenContract } = getOutput(intent);
  if (tokenContract === null) throw new Error('a payment of a token is authorised');
  const [latest, [account]] = await Promise.all([node.latest(), node.accounts([tokenContract])]);
  const { program, decimals } = findMint(chain, tokenContract, account ?? null);
  const mint = toBytes(tokenContract);
  const [own = null, paid = null] = await node.accounts(
    [intent.from, recipient].map((owner) => toBase58(associatedTokenAccount(toBytes(owner), mint, program))),
  );
  if (!hasTokenAccount(chain, own, intent.from)) throw refusal(chain, 'the account has nothing of the token');
  if (!hasTokenAccount(chain, paid, recipient))
    throw refusal(chain, 'the recipient has no account for the token, and none is created');
  const details = { ...latest, price: distinctPrice(usualPrice), token: { program, decimals, creates: false } };
  const lastSecond = BigInt(Math.floor(Date.now() / 1_000) + maxLifeSeconds);
  const draft = toPreparedAuthorisation({ ...details, units: maxPaymentUnits }, lastSecond);
  const units = toUnits(chain, await node.simulate(toDraft(chain, intent, draft)));
  return toPreparedAuthorisation({ ...details, units } satisfies SolanaDetails, lastSecond);
}

/** With empty signatures, which a simulation does not look at. */
function toDraft(chain: ChainDefinition, intent: TransactionIntent, prepared: Prepared): Buffer {
  const codec = createSolanaCodec(networkOf(chain));
  const unsigned = codec.build({ chain, intent, kind: 'first', prepared, resources: [] });
  return toOffered(readAuthorisation(unsigned), Buffer.alloc(64));
}

function toUnits(chain: ChainDefinition, { error, units }: Simulated): number {
  if (error === blockhashNotFound) throw new Error('the node does not know its own block');
  if (error !== null && isOfSettler(error)) throw refusal(chain, 'who is to pay the fee has too little SOL');
  if (error !== null) throw refusal(chain, 'the account does not have the amount, or one of the two may not move the token');
  return Math.min(maxPaymentUnits, Math.max(usualUnits, Math.ceil((units * margin) / 100)));
}

const refusal = ({ name }: ChainDefinition, reason: string): GatewayError =>
  new GatewayError('would_revert', `Nobody could carry out the payment on ${name}: ${reason}`);
