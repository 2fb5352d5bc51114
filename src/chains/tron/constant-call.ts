import { readNumber, readList, readObject } from './answers';

/** What a call would do now. */
export interface ConstantCall {
  outcome: 'succeeded' | 'reverted';
  /** All that it takes. */
  energy: bigint;
  /** The part of it that is the penalty of the dynamic energy model. */
  penalty: bigint;
}

/** Exceptions of the machine, as answers name them: the contract has failed, and the node has not, unless it was too slow. */
const machineException = /vm\.program\.Program\$(?!OutOfTime)/;

/** A node has answered, and does not say what the call would do. */
export class NotExecuted extends Error {
  override readonly name = 'NotExecuted';
}

/** @throws NotExecuted; Error for what is no answer. */
export function readConstantCall(answer: unknown): ConstantCall {
  const { result, energy_used: energy, energy_penalty: penalty, transaction } = readObject(answer);
  const { result: isExecuted, message } = readObject(result);
  if (isExecuted !== true) {
    // a node that does not execute calls at all says that the contract is not valid
    if (!machineException.test(toText(message))) throw new NotExecuted('the node could not execute the call');
    return { outcome: 'reverted', energy: 0n, penalty: 0n };
  }
  const [ret] = readList(readObject(transaction).ret);
  const hasFailed = ret !== undefined && readObject(ret).ret === 'FAILED';
  return {
    outcome: hasFailed ? 'reverted' : 'succeeded',
    energy: BigInt(readNumber(energy)),
    penalty: BigInt(readNumber(penalty)),
  };
}

/** Messages are hex, unless texts were asked for. */
const toText = (message: unknown): string =>
  typeof message === 'string' ? `${message} ${Buffer.from(message, 'hex').toString()}` : '';
