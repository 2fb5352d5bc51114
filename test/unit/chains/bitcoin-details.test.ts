import { readDetails, toPrepared } from '../../../src/chains/bitcoin/details';
import type { JsonObject } from '../../../src/chains/types';
import { coin } from '../../bitcoin';

const details = { rate: 7n, current: 5n, outbid: 0n, selection: null };
const read = (changes: JsonObject) => () => {
  const prepared = toPrepared(details, 1n);
  return readDetails({ ...prepared, details: { ...(prepared.details as JsonObject), ...changes } });
};

it('are read as they were made', () => {
  expect(read({})()).toEqual(details);
  const selected = { ...details, outbid: 10n ** 15n, selection: { coins: [coin(1, 5n)], fee: 3n } };
  expect(readDetails(toPrepared(selected, 3n))).toEqual(selected);
});

it.each<[string, JsonObject]>([
  ['no rate', { rate: null }],
  ['a rate of 0', { rate: '0' }],
  ['a negative rate', { rate: '-1' }],
  ['a rate that is a number', { rate: 7 }],
  ['a rate in hex', { rate: '0x7' }],
  ['a rate with a part', { rate: '7.5' }],
  ['a rate of more than all coins', { rate: '1'.padEnd(17, '0') }],
  ['a negative current rate', { current: '-1' }],
  ['nothing to outbid', { outbid: '' }],
  ['a negative amount to outbid', { outbid: '-5' }],
  ['text to outbid', { outbid: 'much' }],
])('with %s they are refused', (_name, changes) => {
  expect(read(changes)).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
});

it('of another family they are refused', () => {
  expect(() => readDetails({ ...toPrepared(details, 1n), details: { gasLimit: '21000' } })).toThrow(/not of a Bitcoin chain/);
});
