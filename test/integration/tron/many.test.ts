import { verifyLedger } from '../../../src/ledger/verify';
import { tronFixture } from '../../families/tron';
import { trx } from '../../tron-simulator';
import { createTronFixture } from './fixture';

jest.setTimeout(180_000);

const transfers = 100;
const atOnce = 20;

test('100 transfers of one Tron account, 20 at a time: each is executed once, and the books are those of the chain', async () => {
  const fixture = await createTronFixture({ blockMs: 200, isMining: true });
  try {
    const { alice, database, simulated, mine, follow, transfer, sign, onChain, ledger, balance, attempts, send } = fixture;
    const node = tronFixture.node(simulated.url);
    const to = tronFixture.newAddress();
    await send(alice, trx(1_000));
    await mine(fixture.chain.confirmations);
    await follow();
    const ids: string[] = [];
    const transferOne = async () => {
      const txId = await transfer({ tokenSymbol: 'TRX', amount: '1', toAddress: to });
      await sign(txId, 1);
      expect(await onChain.broadcast({ txId, attempt: 1 })).toMatchObject({ outcome: 'accepted' });
      await ledger.markSubmitted({ txId, attempt: 1 });
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

    const hashes = await Promise.all(ids.map(async (txId) => (await attempts(txId)).map(({ tx_hash: hash }) => hash)));
    expect(new Set(hashes.flat()).size).toBe(transfers);
    expect(await node.balanceOf(to)).toBe(trx(transfers));
    expect(await balance(alice, 'TRX')).toEqual({ available: await node.balanceOf(alice.address), locked: 0n });
    expect(await verifyLedger(database.manager)).toEqual([]);
  } finally {
    await fixture.close();
  }
});
