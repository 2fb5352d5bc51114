import type { EntityManager } from 'typeorm';
import type { AttemptState, ChainClient } from '../../chains/chain-client';
import { readChainClient } from '../../chains/clients';
import { createFindOrigins } from '../../chains/origins';
import { findReservations } from '../../chains/reservations';
import type { ChainDefinition } from '../../chains/types';
import { ConfigError } from '../../platform/config';
import { formatAmount } from '../../platform/money';
import { printable } from '../../platform/printable';
import { within } from '../../platform/within';
import { getSignedType } from '../../signed-types';
import type { TransactionEntity } from '../../transactions/entity';
import type { Attempts } from '../../transfers/attempts';
import { toKnownAttempt } from '../../transfers/confirm/known-attempt';

/** All questions of one page together. */
const askTimeoutMs = 10_000;
const maxProblemLength = 200;

export interface ChainView {
  /** `answered` also where there was nothing to ask about; `not_asked`: the command has no endpoint of the chain, or no rows to ask about. */
  state: 'answered' | 'silent' | 'not_asked';
  /** One sentence. */
  note: string;
  head: number | null;
  /** What the chain shows now, by number of the attempt. */
  attempts: Record<number, string>;
}

/** Returns the client of a chain by its name. @throws ConfigError where the environment has no endpoint of it. */
export type GetClient = (chain: string) => ChainClient;

/** Clients of these chains, with the endpoints of the environment (CHAIN_<NAME>_RPC_URLS). */
export const clientsOfEnvironment =
  (chains: readonly ChainDefinition[]): GetClient =>
  (name) => {
    const chain = chains.find((candidate) => candidate.name === name);
    if (!chain) throw new ConfigError(`GATEWAY_ENV is of another environment: it has no ${name}`);
    return readChainClient(chain);
  };

/** Asks one node what it shows of a transaction, with a time-out; stores nothing, and sends nothing. Never throws. */
export async function viewChain(
  manager: EntityManager,
  getClient: GetClient,
  tx: TransactionEntity,
  attempts: Attempts,
): Promise<ChainView> {
  const unknown = { head: null, attempts: {} };
  let client: ChainClient;
  try {
    client = getClient(tx.chain);
  } catch (error) {
    if (error instanceof ConfigError) return { ...unknown, state: 'not_asked', note: `Not asked: ${error.message}` };
    throw error;
  }
  // what the database does not answer is not the endpoint's silence
  let question: Question | null;
  try {
    question = await loadQuestion(manager, tx, attempts);
  } catch (error) {
    return { ...unknown, state: 'not_asked', note: `Not asked, since its rows cannot be read: ${toProblem(error)}` };
  }
  try {
    return await within(ask(client, tx, question), askTimeoutMs, () => new Error('no answer in time'));
  } catch (error) {
    return { ...unknown, state: 'silent', note: `The endpoint of ${tx.chain} did not answer: ${toProblem(error)}` };
  }
}

const toProblem = (error: unknown): string => printable(error instanceof Error ? error.message : 'no answer', maxProblemLength);

/** What `status` of a chain's client takes. */
type Question = Parameters<ChainClient['status']>;

/** Null where nothing of it is signed. */
async function loadQuestion(manager: EntityManager, tx: TransactionEntity, attempts: Attempts): Promise<Question | null> {
  if (!tx.isSigned || attempts.all.length === 0) return null;
  const intent = await getSignedType(tx.transactionType).loadIntent(manager, tx);
  const known = attempts.all.map((attempt) => toKnownAttempt(intent, attempt));
  return [known, await findReservations(manager, tx.txId), createFindOrigins(manager, tx.chain)];
}

async function ask(client: ChainClient, tx: TransactionEntity, question: Question | null): Promise<ChainView> {
  const { number: head } = await client.head();
  if (question) {
    const states = await client.status(...question);
    const shown = states.map(({ attempt, ...state }): [number, string] => [attempt, describeState(client, state)]);
    return { state: 'answered', note: 'One node was asked', head, attempts: Object.fromEntries(shown) };
  }
  const note = tx.direction === 'in' ? await describeBlock(client, tx) : 'Nothing of it is signed: there is nothing to ask about';
  return { state: 'answered', note, head, attempts: {} };
}

/** In one sentence without its full stop. */
export function describeState({ chain: { native } }: Pick<ChainClient, 'chain'>, state: AttemptState): string {
  switch (state.state) {
    case 'absent':
      if (state.isUnfunded) return 'absent: a reorganisation has removed what it spends';
      return state.isUnagreed ? 'absent: one endpoint shows that it can never be executed, others do not yet' : 'absent';
    case 'pending':
      return `in the pool as ${state.id}`;
    case 'included': {
      const { blockNumber, success, fee } = state.effect;
      const cost = `fee ${formatAmount(fee, native.decimals)} ${native.symbol}`;
      return `${success ? 'executed' : 'failed'} in block ${blockNumber}, ${state.depth} deep, as ${state.id}, ${cost}`;
    }
    case 'impossible':
      return state.proof.used_by === undefined
        ? 'can never be executed any more'
        : `can never be executed any more: ${state.proof.used_by} has used up what it spends`;
  }
}

async function describeBlock(client: ChainClient, { blockNumber, blockHash }: TransactionEntity): Promise<string> {
  if (blockNumber === null) return 'No block is on record: there is nothing to ask about';
  const block = await client.block(Number(blockNumber));
  if (block?.hash === blockHash) return `Block ${blockNumber} is on the chain as it is on record`;
  return block ? `The chain has another block ${blockNumber} than the one on record` : `The node has no block ${blockNumber}`;
}
