/** How a transaction is checked and executed: java-tron, Manager.processTransaction, TransferActuator, VMActuator. */
import { isAddress } from './address';
import type { Decoded } from './decoded';
import type { TransferContract, TriggerSmartContract } from './messages';
import { invalid } from './refusal';
import { energyLimit, type Moment, type NetBill, payBandwidth, payEnergy, payMemo } from './resources';
import { getAccount, getContract, type Layer, newAccount, putAccount } from './state';
import { type Outcome, runContract } from './vm';

/** What a block keeps of an execution (Tron.proto: TransactionInfo), in sun and energy. */
export interface Receipt {
  fee: bigint;
  net: NetBill;
  energyUsage: bigint;
  energyFee: bigint;
  /** Undefined for a transfer of TRX. */
  outcome?: Outcome;
  /** Hex of the contract called. */
  contract?: string;
}

/**
 * Executes a transaction whose signature, expiration and reference are checked. Failed contracts pay as well: that is no refusal.
 * @throws Refusal for what no block takes; the layer is then to be thrown away
 */
export async function execute(layer: Layer, decoded: Decoded, moment: Moment & { number: number }): Promise<Receipt> {
  const { owner, raw, transfer, call } = decoded;
  const createsAccount = transfer !== undefined && !getAccount(layer, transfer.to_address);
  const net = payBandwidth(layer, owner, { bytes: decoded.bytes, signatures: decoded.signatures.length, createsAccount }, moment);
  const fee = net.fee + payMemo(layer, owner, raw.data, moment.parameters);
  if (transfer) {
    const own = moveTrx(layer, transfer, moment);
    return { fee: fee + own, net, energyUsage: 0n, energyFee: 0n };
  }
  if (!call) throw invalid('Unknown contract type');
  const outcome = await callContract(layer, call, raw.fee_limit, moment);
  const energy = payEnergy(layer, owner, outcome.energyUsed, moment);
  return {
    ...{ fee: fee + energy.fee, net, energyUsage: energy.usage, energyFee: energy.fee, outcome },
    contract: call.contract_address.toString('hex'),
  };
}

/**
 * The checks of TransferActuator.validate.
 * @returns the fee for a new account, in sun
 * @throws Refusal
 */
export function validateTransfer(layer: Layer, { owner_address, to_address, amount }: TransferContract, moment: Moment): bigint {
  if (!isAddress(owner_address)) throw invalid('Invalid ownerAddress!');
  if (!isAddress(to_address)) throw invalid('Invalid toAddress!');
  if (to_address.equals(owner_address)) throw invalid('Cannot transfer TRX to yourself.');
  const owner = getAccount(layer, owner_address);
  if (!owner) throw invalid('Validate TransferContract error, no OwnerAccount.');
  if (amount <= 0n) throw invalid('Amount must be greater than 0.');
  const to = getAccount(layer, to_address);
  if (to?.type === 'Contract') throw invalid('Cannot transfer TRX to a smartContract.');
  const fee = to ? 0n : moment.parameters.newAccountFeeSun;
  if (BigInt.asIntN(64, amount + fee) !== amount + fee) throw invalid('long overflow');
  if (owner.balance < amount + fee) throw invalid('Validate TransferContract error, balance is not sufficient.');
  return fee;
}

function moveTrx(layer: Layer, transfer: TransferContract, moment: Moment): bigint {
  const fee = validateTransfer(layer, transfer, moment);
  const owner = getAccount(layer, transfer.owner_address) ?? newAccount(0);
  putAccount(layer, transfer.owner_address, { ...owner, balance: owner.balance - transfer.amount - fee });
  const to = getAccount(layer, transfer.to_address) ?? newAccount(moment.headTimeMs);
  putAccount(layer, transfer.to_address, { ...to, balance: to.balance + transfer.amount });
  return fee;
}

async function callContract(
  layer: Layer,
  { owner_address, contract_address, call_value, data, call_token_value, token_id }: TriggerSmartContract,
  feeLimit: bigint,
  moment: Moment & { number: number },
): Promise<Outcome> {
  const contract = getContract(layer, contract_address);
  if (!contract) throw invalid('No contract or not a smart contract');
  if (call_value < 0n) throw invalid('callValue must be >= 0');
  if (call_token_value < 0n) throw invalid('tokenValue must be >= 0');
  if (token_id <= 1_000_000n && token_id !== 0n) throw invalid('tokenId must be > 1000000');
  if (call_token_value > 0n) throw invalid('the simulator has no TRC-10 tokens');
  const { maxFeeLimitSun } = moment.parameters;
  if (feeLimit < 0n || feeLimit > maxFeeLimitSun) throw invalid(`feeLimit must be >= 0 and <= ${maxFeeLimitSun}`);
  const owner = getAccount(layer, owner_address) ?? newAccount(0);
  if (owner.balance < call_value) {
    throw invalid('Validate InternalTransfer error, balance is not sufficient.');
  }
  return runContract(layer, {
    ...{ caller: owner_address, contract: contract_address, data, value: call_value },
    energyLimit: energyLimit(owner, feeLimit, call_value, moment),
    block: { number: moment.number, timeMs: moment.headTimeMs },
    energyFactor: contract.energyFactor,
  });
}
