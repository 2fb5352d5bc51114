import type { FamilyCodec, ParsedAddress } from '../../chains/family';
import { tokenByContract } from '../../chains/registry';
import type { ChainDefinition, TransactionDescription } from '../../chains/types';
import type { SettlementFacts, SigningClaims } from '../../messages/order';
import { houseClientId } from '../../platform/house';
import type { Spending } from '../admission';
import { assertMatches } from './mismatch';

/** A transaction whose bytes are those of its order, as far as this is the same for all kinds. */
export interface Ordered {
  claims: SigningClaims;
  chain: ChainDefinition;
  family: FamilyCodec;
  /** The sender, as the order says. */
  from: ParsedAddress;
  described: TransactionDescription;
  same: Comparer;
  /** Of this node's own clock, seconds since the epoch. */
  now: number;
}

/** Begins the name of what a settlement carries out among what its bytes use up; the journal reads it (migrations/mpc-node/0005). */
const settles = 'settles ';

/**
 * What the bytes use up: named by chain and account, so that it is the same thing in every transaction. The last of a settlement is the
 * authorisation and how much of it is taken: a replacement uses up the same, so that it settles the same.
 */
export function resourcesOf({ chain, from, described }: Pick<Ordered, 'chain' | 'from' | 'described'>): string[] {
  const { resources, settlement, outputs } = described;
  const taken = settlement ? [`${settles}${chain.name}/${settlement.identity}/${sumOf({ described: { outputs } })}`] : [];
  return [...resources.map((resource) => `${chain.name}/${from.key}/${resource}`), ...taken];
}

/** Addresses are equal when their canonical forms are equal; an address that cannot be parsed equals nothing. */
export type Comparer = (a: string, b: string) => boolean;

/**
 * What the bytes of one kind of transaction have to be, beyond what holds for all.
 * @returns what counts against the limits of this node
 * @throws GatewayError intent_mismatch naming the field that differs
 */
export type Rule = (ordered: Ordered) => Spending;

/** Whose payment the transaction settles, as the order says; undefined: it is no settlement. */
export const settlementIn = (claims: SigningClaims): SettlementFacts | undefined =>
  claims.kind === 'settlement' || claims.kind === 'replacement' ? claims.settlement : undefined;

/** The house signs what the gateway pays for itself and nothing else; nobody else does. The node binds keys to clients. */
export function assertHouse({ claims }: Ordered): void {
  assertMatches(claims.client_id === houseClientId, 'client_id', 'only keys of the house sign this');
}

export function assertTenant({ claims }: Ordered): void {
  assertMatches(claims.client_id !== houseClientId, 'client_id', 'keys of the house do not sign this');
}

export function assertAction({ described }: Ordered, wanted: TransactionDescription['action']): void {
  assertMatches(described.action === wanted, 'kind', `the bytes are a ${described.action}`);
}

/** Requires a single token that this node knows: limits are kept per token. */
export function assertOneToken({ described: { outputs }, chain, same }: Ordered): void {
  for (const { tokenContract } of outputs) {
    const isKnown = tokenByContract(chain, tokenContract) !== undefined;
    assertMatches(isKnown, 'recipients', 'the token is not in the registry of this node');
    const isSame = sameToken(tokenContract, outputs[0]?.tokenContract ?? null, same);
    assertMatches(isSame, 'recipients', 'the bytes move several tokens');
  }
}

export const sameToken = (a: string | null, b: string | null, same: Comparer): boolean =>
  a === null || b === null ? a === b : same(a, b);

/** What leaves the sender: all outputs are of one token. */
export const spendingOf = (ordered: Ordered): Spending => ({
  chain: ordered.chain.name,
  token: tokenByContract(ordered.chain, ordered.described.outputs[0]?.tokenContract ?? null)?.contract ?? null,
  amount: sumOf(ordered),
  fee: ordered.described.maxNetworkFee,
  recipients: recipientsOf(ordered),
});

/** Atomic units. */
export const sumOf = ({ described: { outputs } }: { described: Pick<TransactionDescription, 'outputs'> }): bigint =>
  outputs.reduce((sum, { amount }) => sum + amount, 0n);

/** Canonical forms. */
export const recipientsOf = ({ described, family }: Ordered): string[] =>
  described.outputs.flatMap(({ recipient }) => family.parseAddress(recipient)?.key ?? []);
