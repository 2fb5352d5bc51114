/** Blocks and accounts as the HTTP API shows them: Util.printBlock, Wallet.getAccount, getAccountNet, getAccountResource. */
import { type Block, type IncludedTransaction, toHeader } from './blocks';
import type { Chain } from './chain';
import { parseTransaction } from './decoded';
import { type JsonObject, showAddress, showTransaction, toJson } from './json';
import { contractResults, headerSchema } from './messages';
import { totals } from './parameters';
import type { Message } from './protobuf';
import { increase, slotMs } from './resources';
import { type Account, getAccount, type Readable, type Usage } from './state';

const resultNumbers = new Map(Object.entries(contractResults).map(([number, name]) => [name, Number(number)]));

export function showIncluded({ bytes, contractRet }: IncludedTransaction, visible: boolean): JsonObject {
  const transaction = parseTransaction(Buffer.from(bytes, 'hex'));
  const ret = [{ fee: 0n, ret: 0, contractRet: resultNumbers.get(contractRet) ?? 0 }];
  return showTransaction({ ...transaction, ret }, visible);
}

export function showBlock(block: Block, visible: boolean, detail = true): JsonObject {
  const header = toJson(headerSchema, toHeader(block) as unknown as Message, visible);
  const transactions = block.transactions.map((included) => showIncluded(included, visible));
  return {
    blockID: block.id,
    block_header: { raw_data: header, witness_signature: block.signature },
    ...(detail && transactions.length > 0 ? { transactions } : {}),
  };
}

const withoutZeros = (values: Record<string, bigint>): JsonObject =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== 0n));

/** TRON's documents, api/http/account/getaccount: operations of the default active permission. */
const activeOperations = '7fff1fc0033efb0f000000000000000000000000000000000000000000000000';
const timeOf = (usage: Usage): bigint => BigInt(usage.slot * slotMs);

export function showAccount(chain: Chain, state: Readable, address: Buffer, visible: boolean): JsonObject {
  const account = getAccount(state, address);
  if (!account) return {};
  const { slot } = chain.moment();
  const keys = [{ address: showAddress(address, visible), weight: 1 }];
  const isContract = account.type === 'Contract';
  const permissions = {
    owner_permission: { permission_name: 'owner', threshold: 1, keys },
    active_permission: [
      { ...{ type: 'Active', id: 2, permission_name: 'active', threshold: 1 }, operations: activeOperations, keys },
    ],
  };
  return {
    address: showAddress(address, visible),
    ...(isContract ? { type: 'Contract' } : {}),
    ...withoutZeros({
      balance: account.balance,
      create_time: BigInt(account.createTime),
      latest_opration_time: BigInt(account.latestOperation),
      net_usage: increase(account.net, 0n, slot),
      free_net_usage: increase(account.free, 0n, slot),
      latest_consume_time: timeOf(account.net),
      latest_consume_free_time: timeOf(account.free),
    }),
    account_resource: withoutZeros({
      energy_usage: increase(account.energy, 0n, slot),
      latest_consume_time_for_energy: timeOf(account.energy),
    }),
    ...(isContract ? {} : permissions),
    frozenV2: [{}, { type: 'ENERGY' }, { type: 'TRON_POWER' }],
  };
}

const showNet = (chain: Chain, { free, net }: Account): Record<string, bigint> => {
  const { slot, parameters } = chain.moment();
  return {
    freeNetUsed: increase(free, 0n, slot),
    freeNetLimit: parameters.freeNetLimit,
    NetUsed: increase(net, 0n, slot),
    NetLimit: net.limit,
    TotalNetLimit: totals.net,
    TotalNetWeight: totals.netWeight,
  };
};

export function showAccountNet(chain: Chain, address: Buffer): JsonObject {
  const account = getAccount(chain.state('now'), address);
  return account ? withoutZeros(showNet(chain, account)) : {};
}

export function showAccountResource(chain: Chain, address: Buffer): JsonObject {
  const account = getAccount(chain.state('now'), address);
  if (!account) return {};
  return withoutZeros({
    ...showNet(chain, account),
    EnergyUsed: increase(account.energy, 0n, chain.moment().slot),
    EnergyLimit: account.energy.limit,
    TotalEnergyLimit: totals.energy,
    TotalEnergyWeight: totals.energyWeight,
  });
}
