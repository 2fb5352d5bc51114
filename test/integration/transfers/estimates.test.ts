import { formatUnits, parseUnits } from 'viem';
import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';
import { acceptTransfer } from '../../../src/transfers/accept/accept';
import { estimateTransfer } from '../../../src/transfers/accept/estimate';
import type { TransferRequest } from '../../../src/transfers/accept/request';
import { newId } from '../../../src/platform/ids';
import { buildTransferRequest, fundAccount } from '../../factories';
import { acceptDependencies } from '../../ledger';
import { describeFamilies, type FamilyScene } from '../families/scene';
import { begun, type Fixture, registry } from '../ledger/fixture';
import { useFundedFixture } from './fixture';

/** What is estimated is what the same request holds directly afterwards; see also test/integration/http/estimate.test.ts. */

jest.setTimeout(120_000);

describeFamilies('estimates', ({ chain: name, symbol, decimals, amount: worth, newAddress }, create) => {
  const { family, tokens } = loadRegistry('local', [name]).get(name);
  /** What a family does not have has no test. */
  const testWhere = (holds: boolean) => (title: string, run: () => Promise<void>) => {
    if (holds) test(title, run);
  };
  const whereMemo = testWhere(getFamily(family).carriesMemo === true);
  const whereTokens = testWhere(tokens.length > 0);
  let scene: FamilyScene;
  beforeAll(async () => {
    scene = await create({});
    const { alice, deposit, mine, chain, follow } = scene;
    // two outputs where balances are outputs
    for (const part of ['0.4', '0.6']) await deposit(alice, parseUnits(worth(part), decimals));
    await mine(chain.confirmations);
    await follow();
  });
  afterAll(() => scene.close());

  const deps = () => acceptDependencies(scene.database, scene.registry, { getFamily: scene.getFamily });
  const held = async (txId: string) =>
    (
      await scene.database.query<{ symbol: string; amount: string }[]>(
        `select symbol, sum(amount)::text as amount from ledger_entries join ledger_postings using (posting_id)
          where tx_id = $1 and kind = 'lock' and bucket = 'LOCKED' group by symbol`,
        [txId],
      )
    )
      .map(({ symbol: of, amount }) => [of, BigInt(amount)] as const)
      .sort();
  /** Estimates a request and then has it accepted, with the fee levels that the node of the chain has given. */
  const compare = async (changes: Partial<TransferRequest>): Promise<bigint> => {
    const request = buildTransferRequest(scene.alice, scene.chain, { toAddress: newAddress(), ...changes });
    const estimated = await estimateTransfer(deps(), { ...request, txId: newId() });
    expect(estimated).toMatchObject({ refusal: null, needsApproval: false });
    const { txId } = await acceptTransfer(deps(), request);
    const { fee_locked: fee } = await scene.transaction(txId);
    expect(estimated.feeBound).toBe(BigInt(String(fee)));
    expect(estimated.feeBound).toBeGreaterThan(0n);
    expect(estimated.balances.map(({ symbol: of, taken }) => [of, taken]).sort()).toEqual(await held(txId));
    await scene.ledger.cancelTransfer({ txId });
    return estimated.feeBound ?? 0n;
  };

  test('of the native coin: the bound, and what it takes', async () => {
    // of one output, and of two
    for (const part of ['0.1', '0.5']) await compare({ tokenSymbol: symbol, amount: worth(part) });
  });

  whereMemo('with a memo on the chain', async () => {
    const amount = worth('0.1');
    const plain = await compare({ amount });
    expect(await compare({ amount, memo: 'x'.repeat(80), memoOnChain: true })).toBeGreaterThanOrEqual(plain);
  });

  whereTokens('of a token: its amount, and the bound of the coin', async () => {
    const [{ token } = {}] = await scene.database.query<{ token?: string }[]>(
      'select symbol as token from ledger_accounts where account_id = $1 and symbol <> $2 limit 1',
      [scene.alice.accountId, symbol],
    );
    if (token === undefined) throw new Error('the account has added no token');
    await fundAccount(scene.database, scene.alice, scene.chain, token, 10n ** 12n);
    await compare({ tokenSymbol: token, amount: '1.5' });
  });

  test('what is there is what the ledger has, to the last unit', async () => {
    const request = buildTransferRequest(scene.alice, scene.chain, { toAddress: newAddress(), amount: worth('0.1') });
    const { available } = await scene.balance(scene.alice, symbol);
    const [coin] = (await estimateTransfer(deps(), request)).balances;
    expect(coin?.available).toBe(available);
    const all = { ...request, txId: newId(), amount: formatUnits(available, decimals) };
    const { refusal } = await estimateTransfer(deps(), all);
    const thrown = await acceptTransfer(deps(), all).catch((error: unknown) => error);
    expect(refusal).toEqual(thrown);
    expect(refusal?.extra).toMatchObject({ available: formatUnits(available, decimals) });
  });
});

describe('warnings', () => {
  let fixture: Fixture;
  const { locked, request } = useFundedFixture((it) => (fixture = it));
  const estimate = (changes: Partial<TransferRequest> = {}) =>
    estimateTransfer(acceptDependencies(fixture.database, registry), request(changes));

  test('waits_for_operator, while an earlier transfer of the account is parked after its signing has begun', async () => {
    expect((await estimate()).warnings).toEqual([]);
    const txId = await locked({ amount: '1' });
    await begun(fixture, { txId });
    expect((await estimate()).warnings).toEqual([]);
    await fixture.ledger.parkTransfer({ txId, code: 'stuck', reason: 'fees are beyond the bound' });
    expect((await estimate()).warnings).toEqual([{ code: 'waits_for_operator', message: expect.any(String) }]);
    // what is refused waits for nothing
    expect(await estimate({ amount: '1000000' })).toMatchObject({ refusal: { code: 'insufficient_balance' }, warnings: [] });
  });
});
