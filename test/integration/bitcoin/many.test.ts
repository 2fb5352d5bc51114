import { verifyLedger } from '../../../src/ledger/verify';
import { describeWithBtcd } from '../../stack/btcd';
import { until } from '../transfers/served';
import { createBitcoinFixture } from './fixture';

jest.setTimeout(300_000);

const outputs = 50;
const transfers = 200;
const atOnce = 20;

describeWithBtcd('many transfers of one Bitcoin account', () => {
  test('200 from 50 outputs, 20 at a time: no input is spent twice, all are confirmed, the books are those of the chain', async () => {
    const fixture = await createBitcoinFixture();
    try {
      const { alice, database, node, mine, fund, follow, pay, sign, send, ledger, unspent, balance } = fixture;
      // the faucet spends a mined output for each
      await mine(outputs);
      await fund(
        alice,
        Array.from({ length: outputs }, (_, index) => 10_000_000n + BigInt(index)),
      );
      const ids: string[] = [];
      let block: Promise<unknown> | undefined;
      /** What others hold comes back as change with the next block, which all that wait share. */
      const nextBlock = () =>
        (block ??= mine()
          .then(() => follow())
          .finally(() => (block = undefined)));
      const transferOne = async () => {
        const txId = await pay('0.01');
        await until(`${txId} is signed`, async () => {
          const waits = await sign(txId, 1).then(
            () => false,
            (error: Error) => {
              if (!/"outcome":"wait"/.test(error.message)) throw error;
              return true;
            },
          );
          if (waits) await nextBlock();
          return !waits;
        });
        expect(await send(txId, 1)).toMatchObject({ outcome: 'accepted' });
        ids.push(txId);
      };
      let left = transfers;
      const work = async () => {
        while (left > 0) {
          left -= 1;
          await transferOne();
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      await mine(fixture.chain.confirmations);
      await follow();
      for (const txId of ids) expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });

      expect(new Set(ids).size).toBe(transfers);
      const [inputs] = await database.query<{ taken: number; once: number; spent: number }[]>(
        `select count(*)::int as taken, count(distinct r.resource)::int as once,
                count(*) filter (where o.spent_by = a.tx_hash)::int as spent
           from reservations r join transfer_attempts a using (tx_id) join chain_outputs o on (o.chain, o.resource) = (r.chain, r.resource)`,
      );
      expect(inputs?.taken).toBeGreaterThanOrEqual(transfers);
      expect(inputs).toEqual({ taken: inputs?.taken, once: inputs?.taken, spent: inputs?.taken });
      expect(await node.pendingTransactions()).toBe(0);
      expect(await balance(alice, 'BTC')).toEqual({ available: await unspent(alice), locked: 0n });
      expect(await verifyLedger(database.manager)).toEqual([]);
    } finally {
      await fixture.close();
    }
  });
});
