import { fromContractForm, isUsable } from './address';
import { readMessage, type Shape, writeMessage } from './protobuf';

/** The one payment of a transaction. Addresses have 21 bytes. */
export interface Call {
  recipient: Buffer;
  /** Contract of a TRC-20 token; null: TRX. */
  token: Buffer | null;
  /** Sun, or atomic units of the token. */
  amount: bigint;
}

/** Those of Tron.proto, ContractType, that are signed. */
export const callTypes: ReadonlyMap<bigint, string> = new Map([
  [1n, 'TransferContract'],
  [31n, 'TriggerSmartContract'],
]);

/** balance_contract.proto: owner_address, to_address, amount. */
const transferShape: Shape = { 1: 'bytes', 2: 'bytes', 3: 'number' };
/** smart_contract.proto: owner_address, contract_address, data; without call_value, call_token_value and token_id. */
const triggerShape: Shape = { 1: 'bytes', 2: 'bytes', 4: 'bytes' };

/** transfer(address,uint256). */
const selector = Buffer.from('a9059cbb', 'hex');
const wordBytes = 32;
const paddingBytes = 12;
const maxAmount = 2n ** 256n - 1n;

/** Data of transfer(address,uint256): 68 bytes. */
export function encodeTransfer(recipient: Buffer, amount: bigint): Buffer {
  if (amount < 0n || amount > maxAmount) throw new Error('the amount is out of range');
  const word = amount.toString(16).padStart(2 * wordBytes, '0');
  return Buffer.concat([selector, Buffer.alloc(paddingBytes), recipient.subarray(1), Buffer.from(word, 'hex')]);
}

export function writeCall(owner: Buffer, { recipient, token, amount }: Call): { type: bigint; name: string; value: Buffer } {
  if (token === null) {
    const value = writeMessage([
      [1, owner],
      [2, recipient],
      [3, amount],
    ]);
    return { type: 1n, name: 'TransferContract', value };
  }
  const value = writeMessage([
    [1, owner],
    [2, token],
    [4, encodeTransfer(recipient, amount)],
  ]);
  return { type: 31n, name: 'TriggerSmartContract', value };
}

/** `value`: of the contract's parameter. @throws Error for anything but a payment that the chain executes. */
export function readCall(name: string, value: Buffer): { owner: Buffer; call: Call } {
  const { owner, call } = name === 'TransferContract' ? readTransfer(value) : readTrigger(value);
  if (!isUsable(call.recipient)) throw new Error('the recipient is no address');
  if (call.token !== null && !isUsable(call.token)) throw new Error('the token is no address');
  if (call.amount === 0n) throw new Error('nothing is paid');
  if (call.token === null && call.recipient.equals(owner)) throw new Error('TRX is not paid to its owner');
  return { owner, call };
}

function readTransfer(value: Buffer): { owner: Buffer; call: Call } {
  const transfer = readMessage(value, transferShape);
  return { owner: transfer.bytes(1), call: { recipient: transfer.bytes(2), token: null, amount: transfer.number(3) } };
}

function readTrigger(value: Buffer): { owner: Buffer; call: Call } {
  const trigger = readMessage(value, triggerShape);
  const { recipient, amount } = readTransferData(trigger.bytes(4));
  return { owner: trigger.bytes(1), call: { recipient, token: trigger.bytes(2), amount } };
}

function readTransferData(data: Buffer): Pick<Call, 'recipient' | 'amount'> {
  const [start, end] = [selector.length + paddingBytes, selector.length + wordBytes];
  if (data.length !== end + wordBytes || !data.subarray(0, start).equals(Buffer.concat([selector, Buffer.alloc(paddingBytes)])))
    throw new Error('only transfer(address,uint256) is called');
  return {
    recipient: fromContractForm(data.subarray(start, end)),
    amount: BigInt(`0x${data.subarray(end).toString('hex')}`),
  };
}
