import type { ChainRegistry } from '../../chains/registry';
import type { ChainDefinition } from '../../chains/types';

/** Of a token with a value of about one dollar, in units of the token. */
const tokenUnits = { maxAmount: 100_000n, maxPerKeyAndDay: 500_000n, maxPerDay: 2_000_000n };
/** Of the native coin: what is paid out, as a multiple of the highest fee that a transaction of the chain may have. */
const nativeFees = { maxAmount: 1_000n, maxPerKeyAndDay: 5_000n, maxPerDay: 20_000n };
/** What the house pays for payments and for joining outputs, and the sums of fees, in the same way. */
const houseFees = { maxAmount: 1n, maxPerKeyAndDay: 1_000n, maxPerDay: 1_000n };

type Multiples = Record<keyof typeof tokenUnits, bigint>;

const times = ({ maxAmount, maxPerKeyAndDay, maxPerDay }: Multiples, unit: bigint) => ({
  maxAmount: (maxAmount * unit).toString(),
  maxPerKeyAndDay: (maxPerKeyAndDay * unit).toString(),
  maxPerDay: (maxPerDay * unit).toString(),
});

function chainLimits({ tokens, maxNetworkFee }: ChainDefinition) {
  return {
    maxFee: maxNetworkFee.toString(),
    maxFeesPerKeyAndDay: (maxNetworkFee * houseFees.maxPerKeyAndDay).toString(),
    maxFeesPerDay: (maxNetworkFee * 10n * houseFees.maxPerDay).toString(),
    tokens: {
      native: times(nativeFees, maxNetworkFee),
      gas: times(houseFees, maxNetworkFee),
      consolidation: times(houseFees, maxNetworkFee),
      ...Object.fromEntries(
        tokens.flatMap(({ contract, decimals }) =>
          contract === null ? [] : [[contract, times(tokenUnits, 10n ** BigInt(decimals))]],
        ),
      ),
    },
    houseDestinations: [],
  };
}

/** A limits file for a node to begin with (src/mpc/limits.ts); its operator is to set it to what the deployment really moves. */
export const initialNodeLimits = ({ all }: ChainRegistry): string =>
  JSON.stringify({ chains: Object.fromEntries(all.map((chain) => [chain.name, chainLimits(chain)])) }, null, 2);
