/** What a node answers from its chain: java-tron, services/http/Get*Servlet.java; TRON's documents, api/http. */
import { keccak256 } from 'viem';
import { faucetAddress } from './genesis';
import { showInfo } from './info';
import { asText, type Json, type JsonObject, showAddress, showTransaction } from './json';
import { chainParameters } from './parameters';
import { getBlock, isShown, type NodeRequest, readAddress, readContractAddress, readNumber, readValue } from './request';
import { getContract } from './state';
import { trc20Abi } from './trc20';
import { showAccount, showAccountNet, showAccountResource, showBlock, showIncluded } from './views';

export type Handler = (request: NodeRequest) => Json | Promise<Json>;

/** GetBlockByLimitNextServlet.BLOCK_LIMIT_NUM. */
const maxBlocks = 100;

const showBlockAt = (request: NodeRequest, number: number, detail = true): JsonObject => {
  const block = getBlock(request, number);
  return block ? showBlock(block, request.visible, detail) : {};
};

function numberOfId(request: NodeRequest, id: string): number {
  const number = Number.parseInt(id.slice(0, 16), 16);
  return getBlock(request, number)?.id === id ? number : -1;
}

function getBlockByReq(request: NodeRequest): Json {
  const { id_or_num: wanted, detail } = request.body;
  const isDetailed = detail === true || detail === 'true';
  if (wanted === undefined || wanted === '') return showBlockAt(request, request.top, isDetailed);
  const text = asText(wanted);
  if (/^-\d+$/.test(text)) return { Error: 'num must be non-positive number.' };
  if (/^\d{1,18}$/.test(text)) return showBlockAt(request, Number(text), isDetailed);
  return text.length === 64
    ? showBlockAt(request, numberOfId(request, text), isDetailed)
    : { Error: 'id must be legal block hash.' };
}

function getBlocks(request: NodeRequest): Json {
  const [start, end] = [readNumber(request, 'startNum'), readNumber(request, 'endNum')];
  if (end <= start || end - start > maxBlocks) return {};
  const block = Array.from({ length: end - start }, (_, index) => showBlockAt(request, start + index));
  return { block: block.filter((shown) => 'blockID' in shown) };
}

/** The block that has the transaction, if this view shows it. */
const findIncluded = (request: NodeRequest, id: string) => {
  const block = request.chain.history.findBlockOf(id);
  return block && isShown(request, block.number) ? block.transactions.find((entry) => entry.id === id) : undefined;
};

function getTransaction(request: NodeRequest): Json {
  const id = readValue(request);
  const included = findIncluded(request, id);
  if (included) return showIncluded(included, request.visible);
  // a full node keeps what it has executed, also before a block has it (TransactionStore)
  const pending = request.view === 'now' ? request.chain.findPending(id) : undefined;
  if (!pending) return {};
  const ret: Json = [{ contractRet: pending.receipt.outcome?.result ?? 'SUCCESS' }];
  return { ...showTransaction(pending.decoded.transaction, request.visible), ret };
}

function getInfosOfBlock(request: NodeRequest): Json {
  const number = readNumber(request, 'num');
  if (number <= 0) return {};
  return (getBlock(request, number)?.transactions ?? []).map(({ info }) => showInfo(info, request.visible));
}

/** The token's origin pays nothing: its users pay all energy. */
function showContract(request: NodeRequest): Json {
  const address = readContractAddress(request);
  const contract = getContract(request.chain.state('now'), address);
  if (!contract) return {};
  return {
    origin_address: showAddress(faucetAddress, request.visible),
    contract_address: showAddress(address, request.visible),
    ...(contract.name ? { abi: { entrys: trc20Abi }, name: contract.name } : {}),
    ...{ bytecode: contract.code, consume_user_resource_percent: 100, origin_energy_limit: 10_000_000 },
    code_hash: keccak256(`0x${contract.code}`).slice(2),
  };
}

function showNode({ chain, top }: NodeRequest): Json {
  const name = (number: number): string => `Num:${number},ID:${chain.history.getBlock(number)?.id ?? ''}`;
  return {
    ...{ activeConnectCount: 1, currentConnectCount: 1, passiveConnectCount: 0, totalFlow: 0, peerList: [] },
    ...{
      beginSyncNum: chain.history.first.number,
      block: name(top),
      solidityBlock: name(Math.min(top, chain.history.solidNumber)),
    },
    configNodeInfo: { codeVersion: 'simulator', supportConstant: true, dbVersion: 2 },
    machineInfo: {},
    cheatWitnessInfoMap: {},
  };
}

export const queries: Record<string, Handler> = {
  getnowblock: (request) => showBlockAt(request, request.top),
  getblock: getBlockByReq,
  getblockbynum: (request) => showBlockAt(request, readNumber(request, 'num')),
  getblockbyid: (request) => showBlockAt(request, numberOfId(request, readValue(request))),
  getblockbylimitnext: getBlocks,
  gettransactionbyid: getTransaction,
  gettransactioninfobyid: (request) => {
    const included = findIncluded(request, readValue(request));
    return included ? showInfo(included.info, request.visible) : {};
  },
  gettransactioninfobyblocknum: getInfosOfBlock,
  getaccount: (request) => showAccount(request.chain, request.chain.state(request.view), readAddress(request), request.visible),
  getaccountnet: (request) => showAccountNet(request.chain, readAddress(request)),
  getaccountresource: (request) => showAccountResource(request.chain, readAddress(request)),
  getcontract: showContract,
  getchainparameters: ({ chain }) => ({
    chainParameter: chainParameters(chain.options.parameters).map(({ key, value }) =>
      value === undefined ? { key } : { key, value },
    ),
  }),
  getenergyprices: ({ chain }) => ({ prices: `0:${chain.options.parameters.energyFeeSun}` }),
  getbandwidthprices: ({ chain }) => ({ prices: `0:${chain.options.parameters.transactionFeeSun}` }),
  getnodeinfo: showNode,
};

/** Those that java-tron has below /walletsolidity as well (HttpApiOnSolidityService). */
export const solidQueries = [
  ...['getnowblock', 'getblock', 'getblockbynum', 'getblockbyid', 'getblockbylimitnext', 'getaccount', 'getnodeinfo'],
  ...['gettransactionbyid', 'gettransactioninfobyid', 'gettransactioninfobyblocknum', 'getenergyprices', 'getbandwidthprices'],
];
