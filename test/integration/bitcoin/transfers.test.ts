import { toScript } from '../../../src/chains/bitcoin/codec/address';
import { virtualSize } from '../../../src/chains/bitcoin/sizes';
import { verifyLedger } from '../../../src/ledger/verify';
import { formatAmount } from '../../../src/platform/money';
import { faucetAddress } from '../../../dev/bitcoin';
import { bitcoinCodec } from '../../bitcoin';
import { describeWithBtcd } from '../../stack/btcd';
import { addOutputs, type BitcoinFixture, createBitcoinFixture } from './fixture';

const coin = 100_000_000n;
let fixture: BitcoinFixture;

describeWithBtcd('on Bitcoin', () => {
  beforeEach(async () => {
    fixture = await createBitcoinFixture({ stuckAfterMs: 0 });
  }, 60_000);
  afterEach(() => fixture.close());

  const booksAgree = async () => {
    for (const account of [fixture.alice, fixture.bob])
      expect(await fixture.balance(account, 'BTC')).toEqual({ available: await fixture.unspent(account), locked: 0n });
    expect(await verifyLedger(fixture.database.manager)).toEqual([]);
  };

  describe('deposits', () => {
    test('are detected in a block, credited once at depth, and found after everything was down', async () => {
      const { node, alice, mine, follow, inbound, balance, outputs } = fixture;
      const id = await node.fund(alice.address, coin);
      await follow();
      expect(await inbound()).toEqual([
        { tx_hash: id, position: '0', status: 'DETECTED', amount: String(coin), token_symbol: 'BTC' },
      ]);
      expect(await balance(alice, 'BTC')).toEqual({ available: 0n, locked: 0n });
      await mine(30);
      await Promise.all([follow(), follow()]);
      expect((await inbound()).map(({ status }) => status)).toEqual(['CONFIRMED']);
      expect(await outputs(alice)).toEqual([{ resource: `${id}:0`, amount: String(coin), spent_by: null }]);
      await booksAgree();
    });

    test('show their sender where the transaction does', async () => {
      const { database, node, alice, follow } = fixture;
      await node.fund(alice.address, coin);
      await follow();
      const [row] = await database.query<{ from_address: string }[]>('select from_address from transactions');
      expect(row?.from_address).toMatch(/^bcrt1q/);
    });

    test('of 0 satoshis are none, and the follower goes on behind them', async () => {
      const { node, alice, mine, follow, inbound, outputs } = fixture;
      await node.fund(alice.address, 0n);
      const id = await node.send(alice.address, coin);
      await mine(fixture.chain.confirmations);
      await follow();
      expect((await inbound()).map(({ tx_hash: hash, status }) => [hash, status])).toEqual([[id, 'CONFIRMED']]);
      expect((await outputs(alice)).map(({ resource }) => resource)).toEqual([`${id}:0`]);
      await booksAgree();
    });

    test('of mining rewards are credited, and can be spent, when 100 blocks confirm them', async () => {
      const { database, alice, node, mine, follow } = fixture;
      await database.query(
        `insert into accounts (account_id, wallet_id, client_id, family, chain, network, address, address_key, key_id, key_protocol,
           derivation_path, address_index)
         select gen_random_uuid(), wallet_id, client_id, family, chain, network, $2, $3, key_id, key_protocol, 'm/0/99', 99
           from accounts where account_id = $1`,
        [alice.accountId, faucetAddress, bitcoinCodec.parseAddress(faucetAddress)?.key],
      );
      await follow();
      const newest = async () => {
        const [row] = await database.query<Record<string, number>[]>(
          `select max(block_number) filter (where status = 'CONFIRMED')::int as credited, max(block_number)::int as detected,
                  min(required_confirmations) as depth, (select max(block_number) from chain_outputs
                    where spendable_from < (select next_block from chain_cursors))::int as spendable
             from transactions where direction = 'in'`,
        );
        return row;
      };
      const height = await node.height();
      expect(await newest()).toEqual({ credited: height - 99, detected: height, depth: 100, spendable: height - 99 });
      await mine();
      await follow();
      expect(await newest()).toMatchObject({ credited: height - 98, spendable: height - 98 });
      expect(await verifyLedger(database.manager)).toEqual([]);
    });

    test('that a reorganisation moves to another block are taken back and credited again', async () => {
      const { node, alice, mine, follow, fund, inbound, balance, outputs } = fixture;
      await fund(alice, [coin]);
      await node.invalidate((await node.height()) - 1);
      await mine(3);
      await follow();
      expect((await inbound()).map(({ status }) => status)).toEqual(['ORPHANED', 'CONFIRMED']);
      expect(await balance(alice, 'BTC')).toEqual({ available: coin, locked: 0n });
      expect(await outputs(alice)).toHaveLength(1);
      await booksAgree();
    });

    test('that a reorganisation removes for good are taken back, with their outputs', async () => {
      const { node, alice, outside, mine, follow, inbound, balance, outputs } = fixture;
      const id = await node.send(alice.address, coin);
      await mine(2);
      await follow();
      expect(await balance(alice, 'BTC')).toEqual({ available: coin, locked: 0n });
      await node.invalidate((await node.height()) - 1);
      await node.replace(id, outside, coin);
      await mine(3);
      await follow();
      expect((await inbound()).map(({ status }) => status)).toEqual(['ORPHANED']);
      expect(await balance(alice, 'BTC')).toEqual({ available: 0n, locked: 0n });
      expect(await outputs(alice)).toEqual([]);
      await booksAgree();
    });
  });

  describe('transfers', () => {
    test('between two accounts: out and in with one id, the change stays, fee and change are exact', async () => {
      const { alice, bob, fund, pay, sign, send, settle, inbound, balance, unspent, transaction, held, mine, follow } = fixture;
      await fund(alice, [coin]);
      // a P2WPKH input and two P2WPKH outputs
      const fee = 141n * (await fixture.rate());
      const txId = await pay('0.3', bob.address);
      const { hash } = await sign(txId, 1);
      expect(await send(txId, 1)).toMatchObject({ outcome: 'accepted', hash });
      expect(await send(txId, 1)).toMatchObject({ outcome: 'accepted', hash });
      expect(await fixture.onChain.observe({ txId })).toMatchObject({ state: 'pending', hash });
      expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
      expect(await transaction(txId)).toMatchObject({ status: 'CONFIRMED', tx_hash: hash, fee: String(fee) });
      expect(await unspent(alice)).toBe(coin - 30_000_000n - fee);
      expect(await balance(bob, 'BTC')).toEqual({ available: 30_000_000n, locked: 0n });
      expect((await inbound()).filter(({ tx_hash: id }) => id === hash)).toEqual([
        expect.objectContaining({ position: '0', amount: '30000000', status: 'CONFIRMED' }),
      ]);
      await booksAgree();
      await mine(fixture.chain.finalityDepth);
      await follow();
      expect((await transaction(txId)).finalized_at).not.toBeNull();
      expect(await held(txId)).toMatchObject([{ attempts: [1], held: true }]);
    });

    test('spend no input twice, wait for what others hold, and go on with their change', async () => {
      const { alice, fund, pay, sign, send, settle, outputs, begin } = fixture;
      await fund(alice, [coin, coin]);
      const ids = [await pay('0.5'), await pay('0.5'), await pay('0.5')] as const;
      await Promise.all([sign(ids[0], 1), sign(ids[1], 1)]);
      expect(await begin(ids[2])).toMatchObject({ outcome: 'wait' });
      for (const txId of ids.slice(0, 2)) await send(txId, 1);
      // their change may be spent with one confirmation
      await fixture.mine();
      await fixture.follow();
      await sign(ids[2], 1);
      expect(await send(ids[2], 1)).toMatchObject({ outcome: 'accepted' });
      await fixture.mine(fixture.chain.confirmations);
      await fixture.follow();
      for (const txId of ids) expect(await settle(txId, 0)).toMatchObject({ status: 'CONFIRMED' });
      const spent = (await outputs(alice)).filter(({ spent_by: by }) => by !== null);
      // the third one takes the change of both
      expect(spent).toHaveLength(4);
      await booksAgree();
    });

    test('wait where they could be paid with what others hold, and too many small outputs are free', async () => {
      const { alice, fund, pay, sign, begin } = fixture;
      await fund(alice, [coin]);
      await sign(await pay('0.3'), 1);
      await addOutputs(fixture, 80, 1_400n);
      expect(await begin(await pay('0.0009'))).toMatchObject({
        outcome: 'wait',
        reason: expect.stringMatching(/^Other transfers/),
      });
    });

    test('wait where the outputs do not suffice at a rate that is far above the usual, and end at a usual one', async () => {
      const { alice, fund, pay, begin, database } = fixture;
      await fund(alice, [coin]);
      const txId = await pay('0.99');
      expect(await begin(txId, { rate: '13000' })).toMatchObject({ outcome: 'wait', reason: expect.stringMatching(/rate/) });
      await database.query('update chain_outputs set amount = 90000000');
      expect(await begin(txId)).toMatchObject({ outcome: 'refused', code: 'insufficient_balance' });
    });

    test('gather inputs, and pay what is left over as fee where it would be dust', async () => {
      const { alice, fund, pay, sign, send, settle, attempts, transaction, rate } = fixture;
      await fund(
        alice,
        Array.from({ length: 6 }, () => 100_000n),
      );
      const fee = (await rate()) * virtualSize(5, [toScript(alice.addressKey)]) + 166n;
      const txId = await pay(formatAmount(500_000n - fee, 8));
      await sign(txId, 1);
      const [{ digests }] = (await attempts(txId))[0]?.signers as [{ digests: string[] }];
      expect(digests).toHaveLength(5);
      await send(txId, 1);
      expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
      expect(await transaction(txId)).toMatchObject({ fee: String(fee) });
      await booksAgree();
    });

    test('of amounts that nodes do not relay are refused at once', async () => {
      await fixture.fund(fixture.alice, [coin]);
      await expect(fixture.pay('0.00000293')).rejects.toMatchObject({ code: 'business_error' });
      await expect(fixture.pay('0.00000294')).resolves.toBeDefined();
    });

    test('that the balance does not cover with its fee are refused at once', async () => {
      await fixture.fund(fixture.alice, [coin]);
      await expect(fixture.pay('1')).rejects.toMatchObject({ code: 'insufficient_balance' });
      expect(await fixture.balance(fixture.alice, 'BTC')).toEqual({ available: coin, locked: 0n });
    });
  });
});
