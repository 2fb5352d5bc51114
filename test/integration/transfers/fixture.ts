import { TransactionEntity } from '../../../src/transactions/entity';
import { buildTransferRequest } from '../../factories';
import { type Bench, createBench, differences, ether, ethereum, fund, usdc } from '../ledger/fixture';

type Changes = Parameters<typeof buildTransferRequest>[2];

/** For each test a bench whose account holds 10 ETH and 1000 USDC; after each the books must agree. */
export function useFundedBench(take: (bench: Bench) => void) {
  let bench: Bench;
  beforeEach(async () => {
    bench = await createBench({ poolSize: 5 });
    await fund(bench, 'ETH', 10n * ether);
    await fund(bench, 'USDC', 1000n * usdc);
    take(bench);
  });
  afterEach(async () => {
    expect(await differences(bench)).toEqual([]);
    await bench.close();
  });

  const request = (changes: Changes = {}) =>
    buildTransferRequest(bench.account, ethereum, { tokenSymbol: 'USDC', amount: '10', ...changes });
  const row = (txId: string) => bench.database.manager.findOneByOrFail(TransactionEntity, { txId });
  const locked = async (changes: Changes = {}) => (await bench.ledger.lockTransfer(request(changes))).txId;
  return { request, row, locked };
}
