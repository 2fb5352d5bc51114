import { readList, readNumber, readObject } from './answers';

/** What the network's committee has set: those that have a part in fees (java-tron, Wallet.getChainParameters). */
export interface Parameters {
  /** Sun for a byte. */
  bandwidthPrice: bigint;
  /** Sun for a unit of energy. */
  energyPrice: bigint;
  /** Sun for a recipient that is new to the chain: its account, and what is burnt in place of the bytes' price. */
  newAccountFee: bigint;
  /** Sun for a memo. */
  memoFee: bigint;
  /** Sun: highest fee limit. */
  maxFeeLimit: bigint;
  /** Dynamic energy model, ten-thousandths: of growth at a maintenance, and highest penalty. 0n: off. */
  penaltyIncrease: bigint;
  highestPenalty: bigint;
}

/** @throws Error for an answer without the prices. */
export function readParameters(answer: unknown): Parameters {
  const values = new Map(
    readList(readObject(answer).chainParameter).map((entry) => {
      const { key, value } = readObject(entry);
      return [key, value] as const;
    }),
  );
  // what is 0 is left out
  const read = (key: string): bigint => {
    const value = readNumber(values.get(key));
    if (value < 0) throw new Error('a chain parameter is negative');
    return BigInt(value);
  };
  const isDynamic = read('getAllowDynamicEnergy') === 1n;
  const parameters = {
    bandwidthPrice: read('getTransactionFee'),
    energyPrice: read('getEnergyFee'),
    newAccountFee: read('getCreateNewAccountFeeInSystemContract') + read('getCreateAccountFee'),
    memoFee: read('getMemoFee'),
    maxFeeLimit: read('getMaxFeeLimit'),
    penaltyIncrease: isDynamic ? read('getDynamicEnergyIncreaseFactor') : 0n,
    highestPenalty: isDynamic ? read('getDynamicEnergyMaxFactor') : 0n,
  };
  if (parameters.bandwidthPrice === 0n || parameters.energyPrice === 0n || parameters.maxFeeLimit === 0n)
    throw new Error('the chain parameters lack a price');
  return parameters;
}
