/** Bandwidth and energy: java-tron, chainbase/src/main/java/org/tron/core/db/{ResourceProcessor,BandwidthProcessor,EnergyProcessor}.java. */
import { limits, type Parameters } from './parameters';
import { toBase58 } from './address';
import { invalid, Refusal } from './refusal';
import { type Account, getAccount, type Layer, putAccount, type Usage } from './state';

/** A slot is three seconds, whatever the time between blocks. */
export const slotMs = 3_000;
const windowSlots = BigInt((24 * 3_600_000) / slotMs);
const precision = 1_000_000n;

const divideUp = (numerator: bigint, denominator: bigint): bigint => (numerator + denominator - 1n) / denominator;

/** What is still used after the time since, plus what is used now (ResourceProcessor.increase). */
export function increase({ used, slot }: Usage, more: bigint, now: number): bigint {
  const passed = BigInt(Math.max(0, now - slot));
  const left = passed < windowSlots ? windowSlots - passed : 0n;
  const average = (divideUp(used * precision, windowSlots) * left + windowSlots / 2n) / windowSlots;
  return ((average + divideUp(more * precision, windowSlots)) * windowSlots) / precision;
}

const remaining = (usage: Usage & { limit: bigint }, now: number): bigint => {
  const left = usage.limit - increase(usage, 0n, now);
  return left > 0n ? left : 0n;
};

export interface Moment {
  /** Milliseconds, of the head block. */
  headTimeMs: number;
  slot: number;
  parameters: Parameters;
}

export interface NetBill {
  /** Bytes paid with bandwidth. */
  usage: bigint;
  /** Sun. */
  fee: bigint;
}

interface Bandwidth {
  /** Of the transaction without its results. */
  bytes: number;
  signatures: number;
  createsAccount: boolean;
}

/**
 * Takes a transaction's bandwidth: what is staked for, then the free bytes of the day, then TRX. A transfer that creates an account
 * takes no free bytes.
 * @throws Refusal
 */
export function payBandwidth(
  layer: Layer,
  owner: Buffer,
  { bytes, signatures, createsAccount }: Bandwidth,
  moment: Moment,
): NetBill {
  const { parameters, slot, headTimeMs } = moment;
  const account = getAccount(layer, owner);
  if (!account) throw invalid(`account [${toBase58(owner)}] does not exist`);
  if (createsAccount && bytes - signatures * limits.signatureBytes > parameters.maxCreateAccountBytes) {
    throw new Refusal(
      'TOO_BIG_TRANSACTION_ERROR',
      `Too big new account transaction, the size is ${bytes} bytes, maxTxSize ${parameters.maxCreateAccountBytes}`,
    );
  }
  const billed = BigInt(bytes + limits.resultBytes);
  const save = (changed: Partial<Account>): void =>
    putAccount(layer, owner, { ...account, latestOperation: headTimeMs, ...changed });
  if (billed <= remaining(account.net, slot)) {
    save({ net: { ...account.net, used: increase(account.net, billed, slot), slot } });
    return { usage: billed, fee: 0n };
  }
  const free = { ...account.free, limit: parameters.freeNetLimit };
  if (!createsAccount && billed <= remaining(free, slot)) {
    save({ free: { used: increase(account.free, billed, slot), slot } });
    return { usage: billed, fee: 0n };
  }
  const fee = createsAccount ? parameters.createAccountFeeSun : billed * parameters.transactionFeeSun;
  if (account.balance < fee) {
    throw new Refusal('BANDWITH_ERROR', `account [${toBase58(owner)}] has insufficient bandwidth[${billed}] and balance[${fee}]`);
  }
  save({ balance: account.balance - fee });
  return { usage: 0n, fee };
}

/**
 * Takes the fee of a memo (Manager.consumeMemoFee).
 * @returns sun
 * @throws Refusal
 */
export function payMemo(layer: Layer, owner: Buffer, memo: Buffer, { memoFeeSun }: Parameters): bigint {
  const account = getAccount(layer, owner);
  if (memo.length === 0 || !account) return 0n;
  if (account.balance < memoFeeSun) {
    throw new Refusal('BANDWITH_ERROR', `account ${toBase58(owner)} insufficient balance[${memoFeeSun}] to memo fee`);
  }
  putAccount(layer, owner, { ...account, balance: account.balance - memoFeeSun });
  return memoFeeSun;
}

/** The energy that a call may use: of the stake and the balance, within fee_limit (VMActuator.getAccountEnergyLimitWithFixRatio). */
export function energyLimit(account: Account, feeLimit: bigint, callValue: bigint, { slot, parameters }: Moment): bigint {
  const free = account.balance > callValue ? account.balance - callValue : 0n;
  const available = remaining(account.energy, slot) + free / parameters.energyFeeSun;
  const allowed = feeLimit / parameters.energyFeeSun;
  return available < allowed ? available : allowed;
}

/**
 * Pays for energy: the stake first, then TRX (ReceiptCapsule.payEnergyBill).
 * @throws Refusal
 */
export function payEnergy(
  layer: Layer,
  owner: Buffer,
  total: bigint,
  { slot, parameters }: Moment,
): { usage: bigint; fee: bigint } {
  const account = getAccount(layer, owner);
  if (!account || total === 0n) return { usage: 0n, fee: 0n };
  const staked = remaining(account.energy, slot);
  const usage = staked < total ? staked : total;
  const fee = (total - usage) * parameters.energyFeeSun;
  if (account.balance < fee) throw new Refusal('CONTRACT_EXE_ERROR', `${owner.toString('hex')} insufficient balance`);
  const energy = { ...account.energy, used: increase(account.energy, usage, slot), slot };
  putAccount(layer, owner, { ...account, balance: account.balance - fee, energy });
  return { usage, fee };
}
