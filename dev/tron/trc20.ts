import type { JsonObject } from './json';

const param = (type: string, name = ''): JsonObject => (name ? { name, type } : { type });
const read = (name: string, inputs: JsonObject[], output: string): JsonObject => ({
  ...{ name, inputs, outputs: [param(output)], stateMutability: 'View', type: 'Function' },
});
const write = (name: string, inputs: JsonObject[]): JsonObject => ({
  name,
  inputs,
  stateMutability: 'Nonpayable',
  type: 'Function',
});
const event = (name: string, first: string, second: string): JsonObject => ({
  name,
  inputs: [
    { ...param('address', first), indexed: true },
    { ...param('address', second), indexed: true },
    param('uint256', 'value'),
  ],
  type: 'Event',
});

/** What every token has (TIP-20), as getcontract shows it (smart_contract.proto: SmartContract.ABI.Entry). */
export const trc20Abi: JsonObject[] = [
  read('name', [], 'string'),
  read('symbol', [], 'string'),
  read('decimals', [], 'uint8'),
  read('totalSupply', [], 'uint256'),
  read('balanceOf', [param('address', 'who')], 'uint256'),
  read('allowance', [param('address', 'owner'), param('address', 'spender')], 'uint256'),
  write('transfer', [param('address', 'to'), param('uint256', 'value')]),
  write('approve', [param('address', 'spender'), param('uint256', 'value')]),
  event('Transfer', 'from', 'to'),
  event('Approval', 'owner', 'spender'),
];
