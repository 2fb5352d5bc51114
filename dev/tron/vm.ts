import { createCustomCommon, Hardfork, Mainnet, type ParamsDict } from '@ethereumjs/common';
import { createEVM, type EVM, type EVMResult, type Message as Call, paramsEVM } from '@ethereumjs/evm';
import { Address } from '@ethereumjs/util';
import { withPrefix } from './address';
import { Layer } from './state';
import { VmState } from './vm-state';

/** TRON's main network, as contracts see it (java-tron: Program.getChainId, the last four bytes of the genesis block's id). */
const chainId = 0x2b6653dc;

/**
 * The gas of the Cancun fork, with TVM's prices of storage and calls (java-tron: EnergyCost.java: SLOAD 50, SSTORE 20,000 or 5,000, CALL
 * 40). Nothing is refunded. A simplification: a few other operations differ.
 */
const prices: Record<string, number> = {
  ...{ coldsloadGas: 50, warmstoragereadGas: 50, coldaccountaccessGas: 40, sstoreSentryEIP2200Gas: 0 },
  ...{ sstoreInitEIP2200Gas: 19_950, sstoreCleanEIP2200Gas: 4_950, sstoreNoopEIP2200Gas: 4_950, sstoreDirtyEIP2200Gas: 4_950 },
};

/** The library's table (a group for each EIP) with these prices. */
const params: ParamsDict = Object.fromEntries(
  Object.entries(paramsEVM).map(([eip, group]) => [
    eip,
    Object.fromEntries(Object.entries(group).map(([name, price]) => [name, prices[name] ?? price])),
  ]),
);

export interface Run {
  caller: Buffer;
  contract: Buffer;
  data: Buffer;
  /** Sun. */
  value: bigint;
  energyLimit: bigint;
  block: { number: number; timeMs: number };
  /** Ten-thousandths on top. */
  energyFactor: number;
}

export interface Log {
  /** 20 bytes, hex. */
  address: string;
  topics: string[];
  data: string;
}

/** TRX that a contract moved. */
export interface InternalTransfer {
  from: Buffer;
  to: Buffer;
  /** Sun. */
  value: bigint;
  /** Undone, as the call failed. */
  rejected: boolean;
}

export interface Outcome {
  result: 'SUCCESS' | 'REVERT' | 'OUT_OF_ENERGY' | 'ILLEGAL_OPERATION' | 'BAD_JUMP_DESTINATION' | 'TRANSFER_FAILED' | 'UNKNOWN';
  /** Empty for success. */
  reason: string;
  returned: Buffer;
  energyUsed: bigint;
  /** Part of `energyUsed`. */
  energyPenalty: bigint;
  logs: Log[];
  internal: InternalTransfer[];
}

const decimals = 10_000n;

/** Executes a contract's bytecode. What it changes is in the layer, unless it fails. */
export async function runContract(layer: Layer, run: Run): Promise<Outcome> {
  const { energyLimit, block } = run;
  const factor = BigInt(run.energyFactor);
  // the penalty of the dynamic energy model counts against the limit as well (java-tron: VM.play)
  const gasLimit = (energyLimit * decimals) / (decimals + factor);
  const own = new Layer(layer);
  const evm = await createMachine(own, block.timeMs);
  const steps = watch(evm);
  const [caller, to] = [run.caller, run.contract].map((address) => new Address(address.subarray(1)));
  const { execResult } = await evm.runCall({
    ...{ caller, origin: caller, to, data: run.data, value: run.value, gasLimit, skipNonceIncrement: true },
    block: { header: toHeader(block.number, block.timeMs) },
  });
  const used = execResult.executionGasUsed;
  const failure = classify(execResult, steps.last, gasLimit);
  const isConsumed = failure && failure.result !== 'REVERT';
  if (!failure) own.mergeInto(layer);
  return {
    ...(failure ?? { result: 'SUCCESS', reason: '' }),
    returned: isConsumed ? Buffer.alloc(0) : Buffer.from(execResult.returnValue),
    energyUsed: isConsumed ? energyLimit : used + (used * factor) / decimals,
    energyPenalty: isConsumed ? energyLimit - gasLimit : (used * factor) / decimals,
    logs: failure ? [] : (execResult.logs ?? []).map(([address, topics, data]) => toLog(address, topics, data)),
    internal: steps.internal,
  };
}

async function createMachine(layer: Layer, timeMs: number): Promise<EVM> {
  const common = createCustomCommon({ chainId }, Mainnet, { hardfork: Hardfork.Cancun });
  return createEVM({ common, stateManager: new VmState(layer, timeMs), params });
}

interface Step {
  name: string;
  fee: bigint;
}

/** Notes the last operation, for the text of a failure, and every call by a contract, also those that pay nothing (java-tron, Program.callToAddress). */
function watch(evm: EVM): { last: Step | undefined; internal: InternalTransfer[] } {
  const seen: { last: Step | undefined; internal: InternalTransfer[] } = { last: undefined, internal: [] };
  evm.events?.on('step', ({ opcode }, next) => {
    seen.last = { name: opcode.name, fee: opcode.dynamicFee ?? BigInt(opcode.fee) };
    next?.();
  });
  const starts: number[] = [];
  evm.events?.on('beforeMessage', ({ depth, value, caller, to, delegatecall }: Call, next) => {
    starts.push(seen.internal.length);
    // one by delegation shows the value of the call around it
    const paid = delegatecall ? 0n : value;
    if (depth > 0 && to)
      seen.internal.push({ from: withPrefix(caller.bytes), to: withPrefix(to.bytes), value: paid, rejected: false });
    next?.();
  });
  evm.events?.on('afterMessage', ({ execResult }, next) => {
    const start = starts.pop() ?? 0;
    if (execResult.exceptionError) for (const transfer of seen.internal.slice(start)) transfer.rejected = true;
    next?.();
  });
  return seen;
}

function toHeader(number: number, timeMs: number) {
  const zero = new Uint8Array(32);
  return {
    ...{ number: BigInt(number), timestamp: BigInt(Math.floor(timeMs / 1000)), coinbase: new Address(new Uint8Array(20)) },
    ...{ difficulty: 0n, prevRandao: zero, gasLimit: 1_000_000_000n, baseFeePerGas: 0n, getBlobGasPrice: () => 0n },
  };
}

/** java-tron: RuntimeImpl.setResultCode, and the exceptions' texts in Program.java. */
function classify(
  { exceptionError, executionGasUsed }: EVMResult['execResult'],
  last: Step | undefined,
  limit: bigint,
): Pick<Outcome, 'result' | 'reason'> | undefined {
  switch (exceptionError?.error) {
    case undefined:
      return undefined;
    case 'revert':
      return { result: 'REVERT', reason: 'REVERT opcode executed' };
    case 'out of gas':
    case 'code store out of gas':
      return {
        result: 'OUT_OF_ENERGY',
        reason: `Not enough energy for '${last?.name ?? 'CALL'}' operation executing: curInvokeEnergyLimit[${limit}], curOpEnergy[${last?.fee ?? 0n}], usedEnergy[${executionGasUsed}]`,
      };
    case 'invalid opcode':
      return { result: 'ILLEGAL_OPERATION', reason: 'Invalid operation code: opCode[fe];' };
    case 'invalid JUMP':
      return { result: 'BAD_JUMP_DESTINATION', reason: "Operation with pc isn't 'JUMPDEST'" };
    case 'insufficient balance':
      return { result: 'TRANSFER_FAILED', reason: 'transfer trx failed' };
    default:
      return { result: 'UNKNOWN', reason: exceptionError?.error ?? 'Unknown Exception' };
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const toLog = (address: Uint8Array, topics: Uint8Array[], data: Uint8Array): Log => ({
  address: hex(address),
  topics: topics.map(hex),
  data: hex(data),
});
