import { TransactionEntity } from '../../../src/transactions/entity';
import { buildTransferRequest } from '../../factories';
import { type Fixture, createFixture, differences, ether, ethereum, fund, usdc } from '../ledger/fixture';

type Changes = Parameters<typeof buildTransferRequest>[2];

/** For each test a fixture whose account holds 10 ETH and 1000 USDC; after each the books must agree. */
export function useFundedFixture(take: (fixture: Fixture) => void) {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await createFixture({ poolSize: 5 });
    await fund(fixture, 'ETH', 10n * ether);
    await fund(fixture, 'USDC', 1000n * usdc);
    take(fixture);
  });
  afterEach(async () => {
    expect(await differences(fixture)).toEqual([]);
    await fixture.close();
  });

  const request = (changes: Changes = {}) =>
    buildTransferRequest(fixture.account, ethereum, { tokenSymbol: 'USDC', amount: '10', ...changes });
  const row = (txId: string) => fixture.database.manager.findOneByOrFail(TransactionEntity, { txId });
  const locked = async (changes: Changes = {}) => (await fixture.ledger.lockTransfer(request(changes))).txId;
  return { request, row, locked };
}
