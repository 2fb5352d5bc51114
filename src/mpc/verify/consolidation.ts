import { consolidationFees } from '../admission';
import { assertMatches } from './mismatch';
import { assertAction, assertStays, type Rule } from './ordered';

/**
 * Outputs of the account become one of its own. Their amounts are in its digests, so that what the bytes say about the fee is what the
 * chain takes; it counts against a limit of its own.
 */
export const consolidation: Rule = (ordered) => {
  const { chain, described, family } = ordered;
  assertMatches(family.spendsOutputs === true, 'kind', 'balances on this chain do not consist of outputs');
  assertAction(ordered, 'payment');
  assertStays(ordered);
  assertMatches(described.resources.length > 1, 'unsigned', 'a single output is not joined with any other');
  const fee = described.maxNetworkFee;
  return { chain: chain.name, token: consolidationFees, amount: fee, fee, recipients: [] };
};
