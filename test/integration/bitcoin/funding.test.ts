import { secp256k1 } from '@noble/curves/secp256k1.js';
import type { AccountEntity } from '../../../src/accounts/entity';
import type { Hex } from '../../../src/chains/types';
import { recordAbandonRequest } from '../../../src/transfers/operate/operator-requests';
import { verifyLedger } from '../../../src/ledger/verify';
import { metrics } from '../../../src/platform/metrics';
import { bitcoinCodec, type BitcoinPlan, buildBitcoin, signDigests } from '../../bitcoin';
import { describeWithBtcd } from '../../stack/btcd';
import { type BitcoinFixture, createBitcoinFixture } from './fixture';

const coin = 100_000_000n;
let fixture: BitcoinFixture;

/** Signed bytes of somebody who has this key. */
function signWith(key: Uint8Array, plan: Omit<BitcoinPlan, 'kind'>): Hex {
  const unsigned = buildBitcoin({ kind: 'first', ...plan });
  const digests = bitcoinCodec.signingPayloads(unsigned, plan.from).map(({ digest }) => digest);
  return bitcoinCodec.assemble(unsigned, signDigests(digests, key), plan.from).bytes;
}

describeWithBtcd('what a transfer spends', () => {
  beforeEach(async () => {
    fixture = await createBitcoinFixture({ stuckAfterMs: 0 });
  }, 60_000);
  afterEach(() => fixture.close());

  const booksAgree = async () => {
    for (const account of [fixture.alice, fixture.bob])
      expect(await fixture.balance(account, 'BTC')).toEqual({ available: await fixture.unspent(account), locked: 0n });
    expect(await verifyLedger(fixture.database.manager)).toEqual([]);
  };
  const failed = (txId: string) => fixture.ledger.failByProof({ txId });
  const observe = (txId: string) => fixture.onChain.observe({ txId });
  const losses = async () => {
    const [row] = await fixture.database.query<{ lost: string }[]>(
      `select coalesce(-sum(amount), 0) as lost from ledger_entries where bucket = 'LOSS'`,
    );
    return BigInt(row?.lost ?? 0);
  };
  const mine = async (blocks: number) => {
    await fixture.mine(blocks);
    await fixture.follow();
  };
  const sent = async (amount: string) => {
    const txId = await fixture.pay(amount);
    await fixture.sign(txId, 1);
    await fixture.send(txId, 1);
    return txId;
  };
  const prepareReplacement = async (txId: string) => {
    const next = { txId, attempt: 2, kind: 'replacement' as const };
    return fixture.ledger.beginAttempt({ ...next, prepared: await fixture.onChain.prepareAttempt(next) });
  };

  describe('a deposit that is reorganised away', () => {
    let deposit: string;
    let height: number;
    /** The block of the deposit is the newest but one; a transfer that spends it is in a pool. */
    const reorganise = async () => {
      const { node, alice } = fixture;
      deposit = await node.send(alice.address, coin);
      await mine(fixture.chain.confirmations);
      height = (await node.height()) - fixture.chain.confirmations + 1;
      return sent('0.3');
    };
    const dropDeposit = async () => {
      await fixture.node.invalidate(height);
      await fixture.node.replace(deposit, fixture.outside, coin);
    };

    test('and never comes back: the transfer fails by proof, and the books are those of the chain', async () => {
      const txId = await reorganise();
      const behind = await sent('0.1');
      await dropDeposit();
      await mine(fixture.chain.finalityDepth - 1);
      expect(await losses()).toBeGreaterThan(0n);
      expect(await observe(txId)).toEqual({ state: 'absent', hash: null, blockNumber: null, confirmations: 0, isUnfunded: true });
      expect(await observe(behind)).toMatchObject({ state: 'absent', isUnfunded: true });
      // nothing takes its place meanwhile
      expect(await prepareReplacement(txId)).toMatchObject({ outcome: 'refused', isFollowed: true });
      await expect(failed(txId)).rejects.toMatchObject({ code: 'not_cancellable' });
      await mine(1);
      for (const one of [txId, behind]) {
        expect(await observe(one)).toMatchObject({ state: 'impossible', ends: true });
        expect(await failed(one)).toMatchObject({ status: 'FAILED', code: 'funding_lost' });
      }
      expect(await losses()).toBe(0n);
      expect((await fixture.held(txId)).map(({ held }) => held)).toEqual([false]);
      await booksAgree();
    });

    test('and comes back in another block: the transfer is sent again and confirmed', async () => {
      const txId = await reorganise();
      await fixture.node.invalidate(height);
      await mine(fixture.chain.confirmations + 1);
      await observe(txId);
      await mine(fixture.chain.confirmations);
      expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
      expect(await losses()).toBe(0n);
      await booksAgree();
    });

    test.each([
      ['in the same block', 0],
      ['in an earlier block', 1],
    ])('with what it descends from, %s: the proof is found behind it', async (_where, between) => {
      const { node, alice, outside } = fixture;
      const { publicKey, secretKey } = secp256k1.keygen();
      const from = bitcoinCodec.address(publicKey).address;
      const first = await node.send(from, 2n * coin);
      await fixture.mine(between);
      const coins = [{ resource: `${first}:0`, amount: 2n * coin }];
      await node.sendRaw(signWith(secretKey, { from, coins, payments: [{ to: alice.address, amount: coin }], fee: 300n }));
      await mine(fixture.chain.confirmations);
      height = (await node.height()) - fixture.chain.confirmations - between + 1;
      const txId = await sent('0.3');
      await node.invalidate(height);
      await node.replace(first, outside, coin);
      await mine(fixture.chain.finalityDepth);
      expect(await observe(txId)).toMatchObject({ state: 'impossible', ends: true });
      expect(await failed(txId)).toMatchObject({ status: 'FAILED', code: 'funding_lost' });
    });

    test('of a parked transfer that cannot be asked about: others are told what they wait for', async () => {
      await fixture.fund(fixture.alice, [coin / 2n]);
      const other = await sent('0.3');
      const txId = await reorganise();
      await fixture.ledger.parkTransfer({ txId, code: 'stuck', reason: 'for a test' });
      await dropDeposit();
      await fixture.mine();
      fixture.signals.length = 0;
      const asked = new Set<string>();
      const observe = (id: string) => (asked.add(id), Promise.reject(new Error('not now')));
      await fixture.follow({ observe });
      expect([...asked]).toEqual([txId]);
      expect(fixture.signals.map((signal) => signal.txId)).toContain(other);
    });

    test('that was final is not watched any more', async () => {
      await reorganise();
      await mine(fixture.chain.finalityDepth + 1);
      expect(await fixture.database.query('select from output_origins where transaction = $1', [deposit])).toEqual([]);
    });
  });

  /** With the key of an account, past the gateway. */
  const signAs = (
    account: AccountEntity,
    coins: { resource: string; amount: bigint }[],
    payments: { to: string; amount: bigint }[],
    fee = 20_000n,
  ): Hex => {
    const { privateKey } = fixture.wallet.key.derive(account.derivationPath);
    return signWith(privateKey as Uint8Array, { from: account.address, fee, coins, payments });
  };
  const steal = async (account: AccountEntity, amount: bigint) => {
    const coins = (await fixture.outputs(account)).map(({ resource, amount: worth }) => ({ resource, amount: BigInt(worth) }));
    return fixture.node.sendRaw(signAs(account, coins, [{ to: fixture.outside, amount }]));
  };
  const frozen = async () => {
    const [row] = await fixture.database.query<{ frozen_reason: string | null }[]>(
      'select frozen_reason from ledger_accounts where account_id = $1',
      [fixture.alice.accountId],
    );
    return row?.frozen_reason ?? null;
  };

  describe('spent by what is no attempt of the gateway', () => {
    /** What is said while the chain is followed: who follows it no more says nothing of it. */
    const alerts = () => {
      const errors: object[] = [];
      const counts: string[] = [];
      const count = async () => counts.push(await metrics.getSingleMetricAsString('gateway_outputs_spent_elsewhere'));
      const log = { error: (facts: object) => errors.push(facts), warn() {}, info() {}, child: () => log } as never;
      const follow = () => {
        const stop = new AbortController();
        let beats = 0;
        const heartbeat = () => {
          void count();
          if ((beats += 1) > 5) stop.abort();
        };
        return fixture.follow({ logger: log, signal: stop.signal, heartbeat });
      };
      return { errors, counts, follow };
    };

    test('raises an alarm until it is final, freezes the account, and the balance is that of the chain', async () => {
      const { alice, fund, balance } = fixture;
      await fund(alice, [coin]);
      const id = await steal(alice, 40_000_000n);
      await fixture.mine();
      const { errors, counts, follow } = alerts();
      await follow();
      expect(errors).toContainEqual(
        expect.objectContaining({ alert: 'outputs_spent_elsewhere', transaction: id, amount: '40020000' }),
      );
      expect(await balance(alice, 'BTC')).toEqual({ available: coin - 40_020_000n, locked: 0n });
      expect(await frozen()).toMatch(id);
      const ofChain = (value: number) => expect.stringContaining(`{chain="bitcoin"} ${value}`) as string;
      expect(counts.at(-1)).toEqual(ofChain(1));
      await fixture.mine(fixture.chain.finalityDepth);
      await follow();
      expect(counts.at(-1)).toEqual(ofChain(0));
      expect(await metrics.getSingleMetricAsString('gateway_outputs_spent_elsewhere')).not.toContain('bitcoin');
      await booksAgree();
    });

    test('is given back with its block', async () => {
      const { alice, fund, node, outside, balance } = fixture;
      await fund(alice, [coin]);
      await steal(alice, 40_000_000n);
      await mine(1);
      await node.invalidate(await node.height());
      const [{ resource, amount } = { resource: '', amount: '' }] = await fixture.outputs(alice);
      // in its place, so that it does not come back
      const less = signAs(alice, [{ resource, amount: BigInt(amount) }], [{ to: outside, amount: 10_000n }], 100_000n);
      await node.sendRaw(less);
      await mine(2);
      expect(await balance(alice, 'BTC')).toEqual({ available: coin - 110_000n, locked: 0n });
      await booksAgree();
    });

    test('while a transfer holds it: the transfer is impossible, does not end by itself, and what it held is not paid twice', async () => {
      const { alice, fund } = fixture;
      await fund(alice, [coin]);
      const txId = await fixture.pay('0.9');
      await fixture.sign(txId, 1);
      await steal(alice, 80_000_000n);
      await mine(fixture.chain.finalityDepth);
      expect(await losses()).toBeGreaterThan(0n);
      const seen = await observe(txId);
      expect(seen).toMatchObject({ state: 'impossible' });
      expect(seen.ends).toBeUndefined();
      await expect(failed(txId)).rejects.toMatchObject({ code: 'not_cancellable' });
      await recordAbandonRequest(fixture.database.manager, { txId, attempt: 1, operator: 'somebody' });
      expect(await failed(txId)).toMatchObject({ status: 'FAILED', code: 'abandoned' });
      expect(await losses()).toBe(0n);
      await booksAgree();
    });

    test('ends what spends the change of the transfer that was to spend it, which waits for an operator itself', async () => {
      const { alice, fund } = fixture;
      await fund(alice, [coin]);
      const first = await sent('0.1');
      const behind = await sent('0.1');
      await steal(alice, 40_000_000n);
      await mine(fixture.chain.finalityDepth - 1);
      expect(await observe(behind)).toMatchObject({ state: 'absent' });
      await mine(1);
      expect(await observe(behind)).toMatchObject({ state: 'impossible', ends: true });
      expect((await observe(first)).ends).toBeUndefined();
      expect(await failed(behind)).toMatchObject({ status: 'FAILED', code: 'funding_lost' });
      await recordAbandonRequest(fixture.database.manager, { txId: first, attempt: 1, operator: 'somebody' });
      expect(await failed(first)).toMatchObject({ status: 'FAILED' });
      await booksAgree();
    });

    test('does not count what an attempt has spent', async () => {
      await fixture.fund(fixture.alice, [coin]);
      const txId = await sent('0.3');
      await mine(fixture.chain.confirmations);
      expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
      expect(await frozen()).toBeNull();
      expect(await fixture.database.query('select from foreign_spends')).toEqual([]);
      await booksAgree();
    });
  });
});
