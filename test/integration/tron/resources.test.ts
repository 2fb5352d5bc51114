import { createChainActivities } from '../../../activities/chain';
import { verifyLedger } from '../../../src/ledger/verify';
import { tronFixture } from '../../families/tron';
import { connectTron } from '../../tron-client';
import { trx, usdt } from '../../tron-simulator';
import { createTronFixture, type TronFixture } from './fixture';

jest.setTimeout(120_000);

/** What a transfer of tokens burns: nothing, the rest, or all that its limit allows; the books have what the chain has taken, and what its event says. */

let fixture: TronFixture;
beforeAll(async () => {
  fixture = await createTronFixture();
  await fixture.send(fixture.alice, trx(1_000));
  await fixture.send(fixture.alice, 500_000_000n, 'USDT');
  await fixture.mine(fixture.chain.confirmations);
  await fixture.follow();
});
afterEach(() => fixture.simulated.control('contract', { address: usdt, energyFactor: 0 }));
afterAll(() => fixture.close());

const stake = (bandwidth: number, energy: number) =>
  fixture.simulated.control('resources', { address: fixture.alice.address, bandwidth: `${bandwidth}`, energy: `${energy}` });
const receiptOf = async (txId: string) => {
  const [attempt] = await fixture.attempts(txId);
  return fixture.simulated.post('/walletsolidity/gettransactioninfobyid', { value: attempt?.tx_hash });
};
/** `whenSent`: what happens to the chain between the broadcast and the block that executes it. */
async function transferUsdt(whenSent: () => Promise<unknown> = () => Promise.resolve()) {
  const { transfer, sign, onChain, ledger, mine, follow, chain } = fixture;
  const txId = await transfer({ tokenSymbol: 'USDT', amount: '5', toAddress: tronFixture.newAddress() });
  await sign(txId, 1);
  expect(await onChain.broadcast({ txId, attempt: 1 })).toMatchObject({ outcome: 'accepted' });
  await ledger.markSubmitted({ txId, attempt: 1 });
  await whenSent();
  await mine(chain.finalityDepth);
  await follow();
  const settled = await ledger.settleTransfer({ txId });
  return { txId, settled, transaction: await fixture.transaction(txId), receipt: await receiptOf(txId) };
}
const expectBooksOfTheChain = async () => {
  const { alice, simulated, balance, database } = fixture;
  const coins = await tronFixture.node(simulated.url).balanceOf(alice.address);
  expect(await balance(alice, 'TRX')).toEqual({ available: coins, locked: 0n });
  expect(await verifyLedger(database.manager)).toEqual([]);
};

test('bandwidth and energy that are staked for: CONFIRMED with a fee of nothing', async () => {
  await stake(5_000, 100_000);
  const { settled, transaction, receipt } = await transferUsdt();
  expect(settled).toMatchObject({ status: 'CONFIRMED' });
  expect(receipt).toMatchObject({ receipt: { result: 'SUCCESS', energy_usage: receipt.receipt.energy_usage_total } });
  expect(receipt.fee).toBeUndefined();
  expect(transaction).toMatchObject({ status: 'CONFIRMED', fee: '0' });
  await expectBooksOfTheChain();
});

test('a part of the energy: the rest is burnt, and that is the fee', async () => {
  const { EnergyUsed: used = 0 } = await fixture.simulated.post('/wallet/getaccountresource', {
    address: fixture.alice.address,
    visible: true,
  });
  await stake(5_000, Number(used) + 10_000);
  const { settled, transaction, receipt } = await transferUsdt();
  expect(settled).toMatchObject({ status: 'CONFIRMED' });
  const { energy_usage: staked, energy_usage_total: total, energy_fee: burnt } = receipt.receipt;
  expect(staked).toBeGreaterThan(0);
  expect(burnt).toBe((total - staked) * 100);
  expect(transaction).toMatchObject({ fee: String(burnt) });
  await expectBooksOfTheChain();
});

test('a token that has become much dearer: OUT_OF_ENERGY, FAILED with all that the limit allows, and the tokens are back', async () => {
  await stake(0, 0);
  const before = await fixture.balance(fixture.alice, 'USDT');
  // the highest penalty of the dynamic energy model, where the fee limit has room for a fifth
  const { settled, transaction, receipt } = await transferUsdt(() =>
    fixture.simulated.control('contract', { address: usdt, energyFactor: 34_000 }),
  );
  expect(settled).toMatchObject({ status: 'FAILED' });
  expect(receipt).toMatchObject({ result: 'FAILED', receipt: { result: 'OUT_OF_ENERGY' } });
  expect(receipt.receipt.energy_penalty_total).toBeGreaterThan(0);
  expect(receipt.fee).toBeGreaterThan(0);
  expect(transaction).toMatchObject({ failure_code: 'reverted_on_chain', fee: String(receipt.fee) });
  expect(await fixture.balance(fixture.alice, 'USDT')).toEqual(before);
  await expectBooksOfTheChain();
});

// the last one: the token does nothing afterwards
test('a call that succeeds without a Transfer event has paid nobody: FAILED once two endpoints show it, and the tokens are back', async () => {
  const before = await fixture.balance(fixture.alice, 'USDT');
  const { txId, settled, receipt } = await transferUsdt(() =>
    fixture.simulated.control('contract', { address: usdt, code: '00' }),
  );
  expect(receipt).toMatchObject({ receipt: { result: 'SUCCESS' } });
  expect(receipt.log).toBeUndefined();
  // one endpoint alone may have left it out
  expect(settled).toMatchObject({ status: 'NEEDS_ATTENTION', code: 'transfer_not_observed' });
  const clients = new Map([[fixture.chain.name, connectTron(fixture.simulated, ['one', 'other'])]]);
  const activities = createChainActivities({ ...fixture.options, clients });
  expect(await activities.observe({ txId })).toMatchObject({ state: 'confirmed' });
  const failed = { status: 'FAILED', code: 'transfer_not_observed' };
  expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject(failed);
  expect(await fixture.balance(fixture.alice, 'USDT')).toEqual(before);
});
