import { parseAddress } from '../../../dev/tron/address';
import { ChainAlarms } from '../../../src/following/chain-alarms';
import type { FollowerHeartbeat } from '../../../src/messages/following';
import { type Holder, transferData, trx, usdt } from '../../tron-simulator';
import { createTronFixture, type TronFixture } from './fixture';

/** Deposits that contracts pass on, where the endpoint was started without saving internal transactions. */

let fixture: TronFixture;
let payer: Holder;
let forwarder: Holder;
/** In a block of its own, whose number it returns: alice is paid by a contract that logs nothing. */
const pay = async (amount: bigint): Promise<number> => {
  const { simulated, alice } = fixture;
  await simulated.forward(payer, forwarder, alice.addressKey, amount);
  return (await simulated.control('status')).head;
};
const nextBlock = async (): Promise<number> => {
  const [row] = await fixture.database.query<{ next_block: string }[]>('select next_block from chain_cursors');
  return Number(row?.next_block);
};
/** Follows until this block is the next one, and looks twice more. Returns how long that took from then on, ms. */
const followTo = async (block: number, changes: Parameters<TronFixture['follow']>[0] = {}): Promise<number> => {
  const stop = new AbortController();
  let [looks, since] = [0, performance.now()];
  const heartbeat = ({ nextBlock: next }: FollowerHeartbeat) => {
    if (next < block) return;
    if (looks === 0) since = performance.now();
    looks += 1;
    if (looks > 2) stop.abort();
  };
  await fixture.follow({ signal: stop.signal, heartbeat, ...changes });
  return performance.now() - since;
};
const credited = async () => (await fixture.inbound()).map(({ amount, status }) => `${amount} ${status}`);
const lackInternal = (name: string, lieFrom = 0) => fixture.simulated.control('endpoint', { name, lie: 'internal', lieFrom });

/** As many blocks as ten minutes have in this chain. */
const tenMinutes = 30;

async function begin(endpoint: string): Promise<void> {
  fixture = await createTronFixture({ endpoints: [endpoint], changes: { blockTimeMs: (10 * 60_000) / tenMinutes } });
  payer = await fixture.simulated.funded(trx(1_000));
  forwarder = await fixture.simulated.newForwarder();
}
afterEach(() => fixture.close());

test('a payment in a block after the restart waits for a block that shows what is saved, and is credited once an endpoint has it', async () => {
  await begin('restarted');
  const { simulated, connect, mine, follow, balance, alice, options } = fixture;
  const last = await pay(1n);
  await lackInternal('restarted', last + 1);
  await pay(2n);
  await mine(2);
  await followTo(last + 1);
  expect([await nextBlock(), await credited()]).toEqual([last + 1, ['1 CONFIRMED']]);
  expect(options.chainAlarms.details).toEqual({});

  const token = parseAddress(usdt);
  const relay = await simulated.newRelay(token);
  await simulated.control('faucet', { address: relay.address, amount: '1000', token: 'USDT' });
  await simulated.include(simulated.call(payer, relay.bytes, transferData(payer, 3n)), payer);
  await mine(1);
  await followTo(last + 1);
  expect([await nextBlock(), await credited()]).toEqual([last + 1, ['1 CONFIRMED']]);
  expect(options.chainAlarms.details).toEqual({ 'alarms:tron': expect.stringMatching(/^traces_missing: /) });

  const both = connect(['restarted', 'saving']);
  await follow({ client: both });
  await follow({ client: both });
  expect(await credited()).toEqual(['1 CONFIRMED', '2 CONFIRMED']);
  expect(await balance(alice, 'TRX')).toEqual({ available: 3n, locked: 0n });
  expect(options.chainAlarms.details).toEqual({});
});

test('a payment that no block around shows is waited for, then named by an alarm that outlives the follower', async () => {
  await begin('bare');
  const { database, mine, follow, options } = fixture;
  await lackInternal('bare');
  await mine(12);
  const paid = await pay(7n);
  await mine(7);
  // as often as for new blocks
  expect(await followTo(paid, { pollMs: 2_000 })).toBeGreaterThan(1_900);
  expect([await nextBlock(), options.chainAlarms.details]).toEqual([paid, {}]);

  await mine(1);
  await follow();
  expect(await nextBlock()).toBeGreaterThan(paid + 10);
  const named = { 'alarms:tron': expect.stringMatching(`^deposits_untraced: of blocks ${paid} to ${paid} `) };
  expect(options.chainAlarms.details).toEqual(named);
  const restarted = new ChainAlarms(options.logger);
  await follow({ chainAlarms: restarted });
  expect(restarted.details).toEqual(named);

  // those that follow within ten minutes are told together with it
  const second = await pay(8n);
  await mine(12);
  await follow();
  const range = { untraced_from: String(paid), untraced_to: String(second) };
  expect(await database.query('select untraced_from, untraced_to from chain_cursors')).toEqual([range]);
  // and it ends with as many blocks after the last of them, ten minutes later
  await mine(tenMinutes);
  await follow();
  const both = { 'alarms:tron': expect.stringMatching(`^deposits_untraced: of blocks ${paid} to ${second} `) };
  expect(options.chainAlarms.details).toEqual(both);
  await database.query(`update chain_cursors set untraced_at = untraced_at - interval '10 minutes'`);
  await follow();
  expect(options.chainAlarms.details).toEqual({});
  const third = await pay(9n);
  await mine(12);
  await follow();
  const anew = { untraced_from: String(third), untraced_to: String(third) };
  expect(await database.query('select untraced_from, untraced_to from chain_cursors')).toEqual([anew]);
  expect(await credited()).toEqual([]);
});
