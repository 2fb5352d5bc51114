import type { EntityManager } from 'typeorm';
import { OwnAddresses } from '../../../src/accounts/own-addresses';
import { getFamily } from '../../../src/chains/families';
import { type AddressedTransaction, withOwnAddress } from '../../../src/transactions/shown-addresses';
import type { AttestedKeys } from '../../../src/wallets/attested-keys';

describe('the own address of a transaction that belongs to no account', () => {
  const alarms: object[] = [];
  const keys = { find: () => Promise.resolve(new Map()) } as unknown as AttestedKeys;
  const addresses = new OwnAddresses(keys, getFamily, { error: (facts: object) => void alarms.push(facts) });
  const manager = { findBy: () => Promise.resolve([]) } as unknown as EntityManager;
  const transaction = (over: Partial<AddressedTransaction>): AddressedTransaction => ({
    ...{
      txId: 'tx-1',
      clientId: 'client',
      accountId: null,
      direction: 'in',
      isHeld: false,
      fromAddress: '0x01',
      toAddress: '0x02',
    },
    ...over,
  });
  beforeEach(() => void alarms.splice(0));

  test.each([
    ['names no account', { txId: 'tx-1', accountId: null }],
    ['names an account that does not exist', { txId: 'tx-2', accountId: '0190b5a4-0000-7000-8000-000000000001' }],
  ])('is not shown and raises an alarm, once, where the transaction %s', async (_what, over) => {
    for (let times = 0; times < 2; times += 1)
      expect(await withOwnAddress(manager, addresses, [transaction(over)])).toEqual(new Set());
    expect(alarms).toEqual([{ alert: 'address_differs', tx_id: over.txId }]);
  });

  test('is not looked for where the client has a payment of others settled', async () => {
    const settlement = transaction({ txId: 'tx-3', direction: 'out' });
    expect(await withOwnAddress(manager, addresses, [settlement])).toEqual(new Set(['tx-3']));
    expect(await withOwnAddress(manager, addresses, [{ ...settlement, isHeld: true }])).toEqual(new Set());
    expect(alarms).toEqual([{ alert: 'address_differs', tx_id: 'tx-3' }]);
  });
});
