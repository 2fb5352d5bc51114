/** Building, calling and sending: java-tron, {Transfer,TriggerSmartContract,TriggerConstantContract,Broadcast,BroadcastHex}Servlet.java. */
import { toFunctionSelector } from 'viem';
import { buildTransaction } from './build';
import { parseTransaction } from './decoded';
import { validateTransfer } from './execute';
import {
  BadJson,
  fromJson,
  type Json,
  type JsonObject,
  readHex,
  readInteger,
  readTransaction,
  showTransaction,
  stringify,
  transactionId,
} from './json';
import { parameterSchemas, type Transaction, type TransferContract, type TriggerSmartContract } from './messages';
import { limits } from './parameters';
import { MalformedMessage, UnknownField } from './protobuf';
import type { Handler } from './queries';
import { invalid, Refusal } from './refusal';
import type { NodeRequest } from './request';
import { getAccount, getContract, Layer } from './state';
import { type Outcome, runContract } from './vm';

/** Takes a transaction; how, is decided by the faults that are on. */
export type Submit = (transaction: Transaction, endpoint: string) => Promise<string>;

const showMessage = (text: string, visible: boolean): string => (visible ? text : Buffer.from(text).toString('hex'));

function createTransaction({ chain, body, visible }: NodeRequest): Json {
  const transfer = fromJson(parameterSchemas.TransferContract ?? {}, body, visible) as unknown as TransferContract;
  try {
    validateTransfer(new Layer(chain.state('now')), transfer, chain.moment());
  } catch (error) {
    if (error instanceof Refusal) return { Error: `class org.tron.core.exception.ContractValidateException : ${error.reason}` };
    throw error;
  }
  const transaction = buildTransaction(chain, 'TransferContract', transfer, {
    memo: readMemo(body, visible),
    permissionId: readPermission(body),
  });
  return { ...showTransaction(transaction, visible), visible };
}

const readPermission = (body: JsonObject): number => Number(readInteger(body.Permission_id ?? 0, 32));

function readMemo(body: JsonObject, visible: boolean): Buffer {
  const text = typeof body.extra_data === 'string' ? body.extra_data : '';
  return visible ? Buffer.from(text) : readHex(text);
}

/** @throws BadJson */
function readCall({ body, visible }: NodeRequest): TriggerSmartContract {
  const selector = body.function_selector;
  const call = fromJson(parameterSchemas.TriggerSmartContract ?? {}, body, visible) as unknown as TriggerSmartContract;
  if (typeof selector !== 'string' || selector === '') return call;
  const parameter = typeof body.parameter === 'string' ? body.parameter : '';
  return { ...call, data: Buffer.concat([Buffer.from(toFunctionSelector(selector).slice(2), 'hex'), readHex(parameter)]) };
}

/** The shape of TransactionExtention, also for what is refused. */
async function answerCall(visible: boolean, answer: () => Json | Promise<Json>): Promise<Json> {
  const refused = (code: string, text: string): Json => ({ result: { code, message: showMessage(text, visible) } });
  try {
    return await answer();
  } catch (error) {
    if (error instanceof Refusal && error.code === 'CONTRACT_VALIDATE_ERROR') return refused(error.code, error.reason);
    if (error instanceof BadJson)
      return refused('OTHER_ERROR', `class ${error.javaClass} : ${error.message}`.replaceAll('"', "'"));
    throw error;
  }
}

const missing = (text: string): BadJson => new BadJson('java.security.InvalidParameterException', text);

const triggerSmart: Handler = (request) =>
  answerCall(request.visible, () => {
    const { chain, body, visible } = request;
    if (!body.owner_address) throw missing("owner_address isn't set.");
    if (!body.contract_address) throw missing("contract_address isn't set.");
    const call = readCall(request);
    if (!getContract(chain.state('now'), call.contract_address)) throw invalid('No contract or not a valid smart contract');
    const extra = { feeLimit: readInteger(body.fee_limit ?? 0, 64), permissionId: readPermission(body) };
    const transaction = buildTransaction(chain, 'TriggerSmartContract', call, extra);
    return { result: { result: true }, transaction: { ...showTransaction(transaction, visible), visible } };
  });

const exceptionClasses: Partial<Record<Outcome['result'], string>> = {
  OUT_OF_ENERGY: 'org.tron.core.vm.program.Program$OutOfEnergyException',
  ILLEGAL_OPERATION: 'org.tron.core.vm.program.Program$IllegalOperationException',
  BAD_JUMP_DESTINATION: 'org.tron.core.vm.program.Program$BadJumpDestinationException',
};

const triggerConstant: Handler = (request) =>
  answerCall(request.visible, async () => {
    const { chain, body, visible } = request;
    if (!body.owner_address) throw missing("owner_address isn't set.");
    if (!body.contract_address) throw missing('the simulator deploys no contracts');
    const call = readCall(request);
    const outcome = await chain.serially(() => callConstant(request, call));
    const { result, reason } = outcome;
    if (result !== 'SUCCESS' && result !== 'REVERT') {
      throw new BadJson(exceptionClasses[result] ?? 'java.lang.RuntimeException', reason);
    }
    const transaction = buildTransaction(chain, 'TriggerSmartContract', call, { memo: readMemo(body, visible) });
    return {
      result: { result: true, ...(reason ? { message: showMessage(reason, visible) } : {}) },
      energy_used: outcome.energyUsed,
      ...(outcome.energyPenalty > 0n ? { energy_penalty: outcome.energyPenalty } : {}),
      constant_result: [outcome.returned.toString('hex')],
      ...(outcome.logs.length > 0 ? { logs: outcome.logs.map((log) => ({ ...log })) } : {}),
      transaction: { ret: [reason ? { ret: 'FAILED' } : {}], visible, ...withoutResults(showTransaction(transaction, visible)) },
    };
  });

const withoutResults = ({ ret: _, ...transaction }: JsonObject): JsonObject => transaction;

function callConstant({ chain, view }: NodeRequest, call: TriggerSmartContract): Promise<Outcome> {
  const layer = new Layer(chain.state(view));
  const contract = getContract(layer, call.contract_address);
  if (!contract) throw invalid('Smart contract is not exist.');
  if (call.call_value > (getAccount(layer, call.owner_address)?.balance ?? 0n)) {
    throw invalid('Validate InternalTransfer error, balance is not sufficient.');
  }
  const { number, timeMs } = chain.head;
  return runContract(layer, {
    ...{ caller: call.owner_address, contract: call.contract_address, data: call.data, value: call.call_value },
    ...{ energyLimit: limits.constantEnergy, block: { number, timeMs }, energyFactor: contract.energyFactor },
  });
}

/** A node whose vm.estimateEnergy is off, as most are. */
const estimateEnergy: Handler = ({ visible }) => ({
  result: { code: 'CONTRACT_VALIDATE_ERROR', message: showMessage('this node does not support estimate energy', visible) },
});

type Sent = { code: 'SUCCESS' | Refusal['code']; message: string };

async function send(submit: Submit, transaction: Transaction, endpoint: string): Promise<Sent> {
  try {
    await submit(transaction, endpoint);
    return { code: 'SUCCESS', message: '' };
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, message: error.message };
    throw error;
  }
}

async function broadcast(submit: Submit, { body, visible, endpoint }: NodeRequest): Promise<Json> {
  const transaction = readTransaction(body, visible);
  const txid = transactionId(transaction).toString('hex');
  const { code, message } = await send(submit, transaction, endpoint);
  return code === 'SUCCESS' ? { result: true, txid } : { code, message: showMessage(message, visible), txid };
}

async function broadcastHex(submit: Submit, { body, endpoint }: NodeRequest): Promise<Json> {
  const text = typeof body.transaction === 'string' ? body.transaction : '';
  if (!/^([0-9a-f]{2})*$/i.test(text)) return { Error: 'class org.bouncycastle.util.encoders.DecoderException : not hex' };
  try {
    const transaction = parseTransaction(Buffer.from(text, 'hex'));
    const { code, message } = await send(submit, transaction, endpoint);
    const shown = stringify(transaction.raw_data ? showTransaction(transaction, true) : {});
    return { result: code === 'SUCCESS', code, message, transaction: shown, txid: transactionId(transaction).toString('hex') };
  } catch (error) {
    // stricter than the network, which keeps fields that it does not know
    if (error instanceof UnknownField) return { result: false, code: 'OTHER_ERROR', message: `Error: ${error.message}` };
    if (error instanceof MalformedMessage) {
      return { Error: `class com.google.protobuf.InvalidProtocolBufferException : ${error.message}` };
    }
    throw error;
  }
}

export const commands = (submit: Submit): Record<string, Handler> => ({
  createtransaction: createTransaction,
  triggersmartcontract: triggerSmart,
  triggerconstantcontract: triggerConstant,
  estimateenergy: estimateEnergy,
  broadcasttransaction: (request) => broadcast(submit, request),
  broadcasthex: (request) => broadcastHex(submit, request),
});
