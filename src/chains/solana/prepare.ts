import { GatewayError } from '../../platform/errors';
import { fromHex } from '../../platform/hex';
import { NotEstimated } from '../endpoints';
import { silenceAsNotEstimated } from '../unanswered';
import type { ChainDefinition, Prepared, TransactionIntent, TransactionOutput } from '../types';
import type { Account } from './answers';
import { createSolanaCodec } from './codec';
import { isJsonObject } from '../json';
import { getPayment } from '../single-payment';
import { toBytes } from './codec/address';
import { toBase58 } from './codec/base58';
import { writeLength } from './codec/message';
import { programs, tokenPrograms } from './codec/programs';
import { associatedTokenAccount } from './codec/token-account';
import { maxUnits } from './codec/transaction';
import { type SolanaDetails, toPrepared } from './details';
import { accountRent, distinctPrice, maxFee } from './fees';
import { fetchPrice } from './levels';
import { findMint } from './mint';
import { networkOf } from './network';
import type { Simulated, SolanaNode } from './node';
import { hasTokenAccount } from './token-holder';

/** On the units that a simulation has taken: the state may be another one when a block executes it. In hundredths, and at least. */
const margin = 120;
const leastUnits = 1_000;
/** Bytes of a token account of the Token program; of Token-2022, with the owner fixed, which every associated account has. */
const accountBytes = { token: 165, 'token-2022': 170 };

interface Context {
  node: SolanaNode;
  chain: ChainDefinition;
  /** What the sender has, lamports. */
  balance: bigint;
}

/**
 * Refers to the newest finalized block: no fork takes that away. The fee bound is what the message can cost at most.
 * @throws GatewayError would_revert; NotEstimated where the node shows less SOL than the transaction takes, or nothing of the token.
 */
export async function prepareTransfer(node: SolanaNode, chain: ChainDefinition, intent: TransactionIntent): Promise<Prepared> {
  const payment = getPayment(intent);
  const [latest, accounts] = await Promise.all([
    node.latest(),
    node.accounts([intent.from, payment.recipient, ...(payment.tokenContract === null ? [] : [payment.tokenContract])]),
  ]);
  const [sender, recipient, mint] = accounts as [Account | null, Account | null, Account | null | undefined];
  const context = { node, chain, balance: sender?.lamports ?? 0n };
  assertPayable(chain, recipient, intent.allowsProgram ?? false);
  const { token, writes } =
    mint === undefined
      ? { token: null, writes: [payment.recipient] }
      : await prepareToken(context, { from: intent.from, mint, ...payment });
  const price = distinctPrice(await fetchPrice(node, [intent.from, ...writes]));
  const draft: SolanaDetails = { ...latest, units: maxUnits, price, token };
  // the price of all units is not what it will pay
  const simulated = await silenceAsNotEstimated(chain, () => node.simulate(buildDraft(chain, intent, { ...draft, price: 0n })));
  const units = toUnits(chain, simulated);
  const fee = maxFee({ units, price, creates: token?.creates ? token.program : null });
  await assertCovered(context, token === null ? payment.amount : 0n, fee, token === null && !recipient ? payment.amount : null);
  // it was not the sender: the simulation says only what is left without the priority fee
  if (findShort(simulated) > 0) throw refusal(chain);
  return toPrepared({ ...draft, units }, fee);
}

/**
 * Programs and token accounts have other owners than the System program; whoever is new to the chain has none. SOL in a token account only
 * its owner gets back, by closing it, and a token account of a token account nobody can use.
 */
function assertPayable({ name }: ChainDefinition, recipient: Account | null, allowsProgram: boolean): void {
  if (!recipient || recipient.program === toBase58(programs.system)) return;
  const isToken = Object.values(tokenPrograms).some((program) => toBase58(program) === recipient.program);
  if (allowsProgram && !isToken) return;
  const what = isToken ? 'a token account or a token: name the wallet that owns it' : 'an account of a program';
  throw new GatewayError('would_revert', `The recipient is no wallet on ${name}, but ${what}`);
}

async function prepareToken(
  { node, chain }: Context,
  { from, recipient, tokenContract, mint }: TransactionOutput & { from: string; mint: Account | null },
): Promise<{ token: NonNullable<SolanaDetails['token']>; writes: string[] }> {
  const { program, decimals } = findMint(chain, tokenContract as string, mint);
  const bytes = toBytes(tokenContract as string);
  const writes = [from, recipient].map((owner) => toBase58(associatedTokenAccount(toBytes(owner), bytes, program)));
  const [own = null, account = null] = await node.accounts(writes);
  if (!hasTokenAccount(chain, own, from)) throw new NotEstimated(`${chain.name}: the account has nothing of the token`);
  const creates = !hasTokenAccount(chain, account, recipient);
  if (creates && (await node.minimumBalance(accountBytes[program])) > accountRent[program])
    throw new GatewayError('would_revert', `A token account costs more on ${chain.name} than a transaction may`);
  return { token: { program, decimals, creates }, writes };
}

/** With an empty signature, which a simulation does not look at. */
function buildDraft(chain: ChainDefinition, intent: TransactionIntent, details: SolanaDetails): Buffer {
  const prepared = toPrepared(details, 0n);
  const message = createSolanaCodec(networkOf(chain)).build({ chain, intent, kind: 'first', prepared, resources: [] });
  return Buffer.concat([writeLength(1), Buffer.alloc(64), fromHex(message)]);
}

/** What is too little for an account to keep, `assertCovered` explains. */
function toUnits(chain: ChainDefinition, simulated: Simulated): number {
  const { error, units } = simulated;
  if (error === 'BlockhashNotFound') throw new Error('the node does not know its own block');
  if (error === 'AccountNotFound' || error === 'InsufficientFundsForFee') throw tooLittle(chain);
  if (error !== null && findShort(simulated) < 0) throw refusal(chain);
  // a node need not count the units of what it refuses
  if (error !== null && units === 0) return maxUnits;
  return Math.min(maxUnits, Math.max(leastUnits, Math.ceil((units * margin) / 100)));
}

const tooLittle = ({ name }: ChainDefinition): NotEstimated =>
  new NotEstimated(`${name}: the account has less SOL than the transaction takes`);

const refusal = ({ name }: ChainDefinition): GatewayError =>
  new GatewayError('would_revert', `${name} would refuse this transfer`);

/** Position in the message of the account that would keep less than it has to (TransactionError: InsufficientFundsForRent); -1: none. */
function findShort({ error }: Simulated): number {
  const found = isJsonObject(error) ? error.InsufficientFundsForRent : undefined;
  return isJsonObject(found) && typeof found.account_index === 'number' ? found.account_index : -1;
}

/**
 * An account has nothing, or what the chain demands of an account without data. `given`: what a recipient that is new to the chain gets; null:
 * there is none.
 */
async function assertCovered({ node, chain, balance }: Context, paid: bigint, fee: bigint, given: bigint | null): Promise<void> {
  const left = balance - paid - fee;
  if (left < 0n) throw tooLittle(chain);
  const least = await node.minimumBalance(0);
  if (left > 0n && left < least)
    throw new GatewayError('would_revert', `Less than ${least} lamports would be left, which ${chain.name} does not allow`);
  if (given !== null && given < least)
    throw new GatewayError('would_revert', `The recipient is new to ${chain.name} and has to get ${least} lamports at least`);
}
