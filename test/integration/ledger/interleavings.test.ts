import * as fc from 'fast-check';
import { confirmDeposits } from '../../../src/deposits/confirm';
import { orphanDeposits } from '../../../src/deposits/orphan';
import { recordDeposits } from '../../../src/deposits/record';
import { GatewayError } from '../../../src/platform/errors';
import { newId } from '../../../src/platform/ids';
import { buildAccount, buildAsset, buildDeposit, buildTransferRequest, setFeeLevels } from '../../factories';
import { refuseAttempt } from '../../refusals';
import { base, createFixture, differences, include, sign, usdc, type Fixture } from './fixture';

/**
 * Random operations, some at once, on one account: locks, cancels, signings, replacements, inclusions with every effect a
 * chain can show, reorgs, settlements, deposits and their undoing. Whatever order they come in, the books agree.
 */

const symbols = ['ETH', 'USDC'] as const;
const gwei = 10n ** 9n;
/** The newest transfers most often, so that many are carried to their end. */
const which = fc.oneof({ weight: 3, arbitrary: fc.nat(1) }, { weight: 1, arbitrary: fc.nat(7) });
const symbol = fc.constantFrom(...symbols);

/** Seldom the first block, with the deposits that a world starts with: without them few transfers go far. */
const orphanedFrom = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 2, max: 9 }) }, { weight: 1, arbitrary: fc.constant(1) });

const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('lock' as const), symbol, amount: fc.integer({ min: 1, max: 400 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('cancel' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('end' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('park' as const), which }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('sign' as const),
      which,
      attempt: fc.constantFrom(1, 1, 1, 1, 2, 3),
      feeGwei: fc.constantFrom(2n, 8n, 300n, 2_000n, 400_000n),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('submit' as const), which, attempt: fc.constantFrom(1, 1, 2) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('include' as const),
      which,
      success: fc.constantFrom(true, true, true, false),
      moved: fc.constantFrom('all', 'all', 'all', 'less', 'more', 'zero', 'none'),
      fee: fc.constantFrom(1n, 21_000n * gwei, 10n ** 15n, 10n ** 18n),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reorg' as const), which }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('settle' as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('deposit' as const),
      symbol,
      amount: fc.integer({ min: 1, max: 500 }),
      block: fc.integer({ min: 2, max: 9 }),
      again: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('confirm' as const), head: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('orphan' as const), from: orphanedFrom }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** Allowed errors of a step in the wrong order; any other error, in particular of a database rule, is a bug. */
const outOfTurn = /no attempt|cannot begin|is not signed|nothing to settle|signing did not begin|refusals_tx_id_fkey/;

const chain = base;
let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture({ poolSize: 10 });
  // high levels, so that fees beside the amounts are large and still usual
  await setFeeLevels(fixture.database, chain, { baseFee: 100n * gwei });
});
afterAll(() => fixture.close());

async function startWorld(): Promise<World> {
  const account = await buildAccount(fixture.database, fixture.wallet, chain);
  for (const it of symbols) await buildAsset(fixture.database, account, chain, it);
  const world = new World({ ...fixture, account });
  for (const it of symbols) await world.run({ do: 'deposit', symbol: it, amount: 500, block: 1, again: false });
  await world.run({ do: 'confirm', head: 12 });
  for (const it of symbols) await world.run({ do: 'lock', symbol: it, amount: 50 });
  return world;
}

class World {
  private readonly transfers: string[] = [];
  private readonly deposits: ReturnType<typeof buildDeposit>[] = [];
  constructor(private readonly fixture: Fixture) {}

  async run(operation: Operation): Promise<void> {
    try {
      await this.perform(operation);
    } catch (error) {
      if (error instanceof GatewayError || outOfTurn.test((error as Error).message)) return;
      throw error;
    }
  }

  /** The usual next step of a transfer: steps in a random order alone seldom bring one to its end. */
  async advance(which: number): Promise<void> {
    const [row] = await this.fixture.database.query<{ status: string; included: boolean }[]>(
      `select status, exists (select 1 from transfer_attempts a where a.tx_id = t.tx_id and a.block_number is not null) as included
         from transactions t where tx_id = $1`,
      [this.transfers[which % this.transfers.length]],
    );
    if (row?.included) await this.run({ do: 'settle', which });
    else if (row?.status === 'PENDING') await this.run({ do: 'sign', which, attempt: 1, feeGwei: 2n });
    else if (row?.status === 'SIGNING') await this.run({ do: 'submit', which, attempt: 1 });
    else await this.run({ do: 'include', which, success: true, moved: 'all', fee: 21_000n * gwei });
  }

  private async perform(it: Operation): Promise<unknown> {
    const { ledger, database, account } = this.fixture;
    const transfer = 'which' in it ? (this.transfers[it.which % Math.max(1, this.transfers.length)] ?? newId()) : '';
    switch (it.do) {
      case 'lock': {
        const request = buildTransferRequest(account, chain, { tokenSymbol: it.symbol, amount: displayed(it.amount) });
        this.transfers.unshift(request.txId);
        return ledger.lockTransfer(request);
      }
      case 'cancel':
        return ledger.cancelTransfer({ txId: transfer });
      case 'end':
        await refuseAttempt(database, { txId: transfer });
        return ledger.endTransfer({ txId: transfer });
      case 'park':
        return ledger.parkTransfer({ txId: transfer, code: 'stuck', reason: 'test' });
      case 'sign':
        return sign(this.fixture, transfer, it.attempt, { maxFeePerGas: it.feeGwei * gwei });
      case 'submit':
        return ledger.markSubmitted({ txId: transfer, attempt: it.attempt });
      case 'include':
        return this.include(transfer, it);
      case 'reorg':
        return database.query(
          `update transfer_attempts a set block_number = null, block_hash = null, included_id = null, agreed_by = null from transactions t
            where t.tx_id = a.tx_id and t.ended_at is null and a.tx_id = $1`,
          [transfer],
        );
      case 'settle':
        return ledger.settleTransfer({ txId: transfer });
      case 'deposit': {
        const old = this.deposits[0];
        const found =
          it.again && old
            ? { ...old, blockNumber: it.block }
            : buildDeposit(account, chain, it.symbol, unit(it.symbol) * BigInt(it.amount), { blockNumber: it.block });
        this.deposits.unshift(found);
        return database.transaction((manager) => recordDeposits(manager, chain, [found]));
      }
      case 'confirm':
        return database.transaction((manager) => confirmDeposits(manager, chain, it.head));
      case 'orphan':
        return database.transaction((manager) => orphanDeposits(manager, chain, it.from, { error: () => undefined }));
    }
  }

  /** Like the follower: at most one attempt of a transfer is included, and ended transfers do not change. */
  private async include(txId: string, { success, moved, fee }: Extract<Operation, { do: 'include' }>): Promise<void> {
    const [row] = await this.fixture.database.query<
      { attempt: number; amount: string; included: boolean; contract_address: string | null }[]
    >(
      `select a.attempt, t.amount, t.contract_address, exists (select 1 from transfer_attempts i where i.tx_id = t.tx_id and i.block_number is not null) as included
         from transactions t join transfer_attempts a using (tx_id) where t.tx_id = $1 and a.signed is not null and t.ended_at is null
        order by random() limit 1`,
      [txId],
    );
    if (!row || row.included) return;
    const amount = BigInt(row.amount);
    const debited = { all: amount, less: amount - 1n, more: amount + unit('USDC'), zero: 0n, none: null }[
      row.contract_address === null ? 'all' : moved
    ];
    await include(this.fixture, txId, row.attempt, { success, fee, debited: success ? debited : null });
  }
}

/** Hundredths of a coin: amounts and fees are of the same order, so that balances are sometimes too small. */
const unit = (of: string): bigint => (of === 'ETH' ? 10n ** 16n : usdc / 100n);
const displayed = (hundredths: number): string => `${Math.floor(hundredths / 100)}.${String(hundredths % 100).padStart(2, '0')}`;

/** Two inclusions of one transfer at once would be two attempts included: the follower is one, so these never run together. */
const group = fc
  .array(operation, { minLength: 1, maxLength: 6, size: 'max' })
  .filter((it) => it.filter((one) => one.do === 'include').length < 2);

test('the ledger verifies after any interleaving', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ together: group, advanced: which }), { minLength: 3, maxLength: 20, size: 'max' }),
      async (groups) => {
        const world = await startWorld();
        for (const { together, advanced } of groups) {
          await Promise.all(together.map((one) => world.run(one)));
          await world.advance(advanced);
        }
        expect(await differences(fixture)).toEqual([]);
      },
    ),
    { numRuns: Number(process.env.LEDGER_RUNS ?? 25), endOnFailure: true },
  );
  // the generator must reach every state of a transfer, otherwise the property proves little
  const reached = await fixture.database.query<{ state: string }[]>(
    "select distinct direction || ' ' || status as state from transactions",
  );
  const outbound = ['CONFIRMED', 'FAILED', 'CANCELLED', 'NEEDS_ATTENTION', 'PENDING', 'SIGNING', 'SUBMITTED'];
  expect(reached.map((it) => it.state)).toEqual(expect.arrayContaining(['in ORPHANED', ...outbound.map((it) => `out ${it}`)]));
}, 300_000);
