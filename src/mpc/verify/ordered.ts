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

/** Prefix of the resource that names the authorisation of a settlement; the journal reads it (migrations/mpc-node/0005). */
const settles = 'settles ';

/**
 * The resources that the bytes use up. Each is named by chain and account, so that it has the same name in every transaction. A
 * settlement has one more: the authorisation, with the amount that is taken of it. A replacement has to use up the same resources, so
 * it settles the same authorisation and amount.
 */
export function getResources({ chain, from, described }: Pick<Ordered, 'chain' | 'from' | 'described'>): string[] {
  const { resources, settlement, outputs } = described;
  const taken = settlement ? [`${settles}${chain.name}/${settlement.identity}/${getSum({ described: { outputs } })}`] : [];
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

/** Nothing leaves the account but the fee: everything else goes back to it. */
export function assertStays({ claims: { kind }, described, from, same }: Ordered): void {
  for (const { recipient, tokenContract, amount } of described.outputs) {
    assertMatches(tokenContract === null, 'recipients', `a ${kind} moves no token`);
    assertMatches(amount === 0n, 'recipients', `a ${kind} moves nothing`);
    assertMatches(same(recipient, from.address), 'recipients', `a ${kind} goes to the account itself`);
  }
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

/** A token is `contract` only where this node knows that it takes authorisations; a family uses other contracts by its own list. */
export function assertTakesAuthorisations({ described: { outputs }, chain, same }: Ordered, contract: string): void {
  for (const { tokenContract } of outputs) {
    const isToken = tokenContract !== null && same(tokenContract, contract);
    const token = tokenByContract(chain, tokenContract);
    assertMatches(!isToken || token?.takesAuthorisations === true, 'recipients', 'the token takes no authorisations');
  }
}

export const sameToken = (a: string | null, b: string | null, same: Comparer): boolean =>
  a === null || b === null ? a === b : same(a, b);

/** What leaves the sender: all outputs are of one token. */
export const getSpending = (ordered: Ordered): Spending => ({
  chain: ordered.chain.name,
  token: tokenByContract(ordered.chain, ordered.described.outputs[0]?.tokenContract ?? null)?.contract ?? null,
  amount: getSum(ordered),
  fee: ordered.described.maxNetworkFee,
  recipients: getRecipients(ordered),
});

/** Atomic units. */
export const getSum = ({ described: { outputs } }: { described: Pick<TransactionDescription, 'outputs'> }): bigint =>
  outputs.reduce((sum, { amount }) => sum + amount, 0n);

/** Canonical forms. */
export const getRecipients = ({ described, family }: Ordered): string[] =>
  described.outputs.flatMap(({ recipient }) => family.parseAddress(recipient)?.key ?? []);
