import type { DescribedSettlement, TransactionDescription } from '../../chains/types';
import type { SettlementFacts } from '../../messages/order';
import { houseClientId } from '../../platform/house';
import { houseGas } from '../admission';
import { assertMatches } from './mismatch';
import {
  assertAction,
  assertHouse,
  assertOneToken,
  assertTakesAuthorisations,
  type Ordered,
  getRecipients,
  type Rule,
  settlementIn,
  getSum,
} from './ordered';

/**
 * Carries out what somebody has authorised with a signature: the payer's money moves, and the house pays the fee. Where the
 * family's codec cannot say whether the payer's signature is good, only the chain does; where it is not, the fee is lost.
 */
export const settlement: Rule = (ordered) => {
  const { claims, chain, described } = ordered;
  assertHouse(ordered);
  assertAction(ordered, 'settlement');
  assertOneToken(ordered);
  const facts = settlementIn(claims);
  assertMatches(facts !== undefined, 'settlement', 'the order does not say whose payment it is');
  assertMatches(facts.client_id !== houseClientId, 'settlement.client_id', 'the house settles nothing for itself');
  const settled = assertSettles(ordered, facts);
  assertParties(ordered, settled);
  assertTakesAuthorisations(ordered, settled.contract);
  const fee = described.maxNetworkFee;
  const factory = getFactory(ordered, settled);
  return {
    chain: chain.name,
    token: houseGas,
    amount: fee,
    fee,
    recipients: getRecipients(ordered),
    ...(factory && { factory }),
  };
};

/** In canonical form; undefined: no wallet is created. */
function getFactory({ family }: Ordered, { factory }: DescribedSettlement): string | undefined {
  if (factory === undefined) return undefined;
  const parsed = family.parseAddress(factory);
  assertMatches(parsed !== null, 'unsigned', 'the factory is no address of this chain');
  return parsed.key;
}

/** Requires the authorisation of the order, for no more than it is for and while it can be executed. */
function assertSettles(ordered: Ordered, facts: SettlementFacts): DescribedSettlement {
  const { same, now } = ordered;
  const { settlement: settled, expiresAt }: TransactionDescription = ordered.described;
  assertMatches(settled !== undefined && expiresAt !== undefined, 'unsigned', 'the bytes do not say whose payment they are');
  assertMatches(facts.method === settled.method, 'settlement.method', 'the bytes use another one');
  assertMatches(same(facts.payer, settled.payer), 'settlement.payer', 'the bytes take it from another one');
  assertMatches(facts.identity === settled.identity, 'settlement.identity', 'the bytes use up another authorisation');
  assertMatches(BigInt(facts.authorised) === settled.authorised, 'settlement.authorised', 'the bytes say another amount');
  assertMatches(getSum(ordered) <= settled.authorised, 'recipients', 'the bytes take more than was authorised');
  assertMatches(facts.window_end === expiresAt, 'settlement.window_end', 'the bytes expire at another time');
  assertMatches(now < expiresAt, 'settlement.window_end', 'it is over');
  return settled;
}

/** The settling account pays the fee and is no party, unless the payer allows nobody else to settle. */
function assertParties({ described: { outputs }, from, same }: Ordered, { payer, facilitator }: DescribedSettlement): void {
  assertMatches(!same(payer, from.address), 'settlement.payer', 'it is the settling account itself');
  const isPaid = outputs.some(({ recipient }) => same(recipient, from.address));
  assertMatches(!isPaid, 'recipients', 'the bytes pay the settling account itself');
  const isAllowed = facilitator === null || same(facilitator, from.address);
  assertMatches(isAllowed, 'from', 'the payer has authorised another one to settle');
}
