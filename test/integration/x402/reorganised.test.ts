import { type Address, type Hex, keccak256, parseEther, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { AccountEntity } from '../../../src/accounts/entity';
import { authorizationDigest } from '../../../src/chains/evm/payments/typed-data';
import { findAwaited } from '../../../src/following/observations';
import { verifyLedger, type VerifyOptions } from '../../../src/ledger/verify';
import { GatewayError } from '../../../src/platform/errors';
import { Alarms } from '../../../src/platform/alarms';
import { correctReorged } from '../../../src/transfers/confirm/reconcile-reorg';
import { readSettlements } from '../../../src/x402/settlement/state';
import { createTestLedger } from '../../ledger';
import { type BuiltWallet, randomAddress, signAs } from '../../factories';
import { createFollowFixture, type FollowFixture } from '../following/fixture';
import { allowSettling, buildSettler, claim, claimBy } from './settlement-fixture';

/** What a settlement costs its settler, on a chain that is reorganised: the ledger says what the chain says. */

jest.setTimeout(120_000);

const payer = privateKeyToAccount(keccak256(toHex('test: payer')));
const authorised = 1_000n;

let fixture: FollowFixture;
let settler: AccountEntity;
let wallet: BuiltWallet;
beforeEach(async () => {
  fixture = await createFollowFixture();
  ({ account: settler, wallet } = await buildSettler(fixture.database, fixture.chain));
  await fixture.send(settler, parseEther('1'));
  await fixture.mint(payer, authorised);
  await fixture.mine(5);
  await fixture.follow();
});
afterEach(() => fixture.close());

const usdc = () => fixture.chain.tokens.find(({ symbol }) => symbol === 'USDC')?.contract as Address;

/** Signed by its payer, accepted and begun, signed by its settler, and sent. */
async function send(): Promise<string> {
  const { database, chain, alice, ledger, onChain } = fixture;
  const [nonce, payTo, validBefore] = [keccak256('0x01'), randomAddress() as Address, 4_000_000_000n];
  const hash = authorizationDigest(
    { name: 'USD Coin', version: '2', chainId: 1, verifyingContract: usdc() },
    { from: payer.address, to: payTo, value: authorised, validAfter: 0n, validBefore, nonce },
  );
  const claimed = claimBy(alice.clientId, settler.address, {
    ...{ method: 'eip3009', chain: chain.name, token: usdc(), payer: payer.address, payTo, nonce, validBefore },
    ...{ amount: authorised, signature: await payer.sign({ hash }) },
  });
  await allowSettling(database, claimed);
  const txId = await claim(database, claimed);
  const next = { txId, attempt: 1, kind: 'first' as const };
  const begun = await ledger.beginAttempt({ ...next, prepared: await onChain.prepareAttempt(next) });
  if (begun.outcome !== 'begun') throw new Error(`not begun: ${JSON.stringify(begun)}`);
  await ledger.recordSigned({ txId, attempt: 1, signatures: signAs(wallet, settler, begun.unsigned) });
  expect(await onChain.broadcast({ txId, attempt: 1 })).toMatchObject({ outcome: 'accepted' });
  await ledger.markSubmitted({ txId, attempt: 1 });
  return txId;
}
const settle = async (txId: string) => {
  await fixture.mine(fixture.chain.confirmations);
  await fixture.follow();
  return fixture.ledger.settleTransfer({ txId });
};

const balanceOnChain: NonNullable<VerifyOptions['balanceOnChain']> = ({ address, contractAddress }) =>
  contractAddress === null ? fixture.anvil.client.getBalance({ address: address as Hex }) : Promise.resolve(null);
const verify = () => verifyLedger(fixture.database.manager, { balanceOnChain });
const available = async () => (await fixture.balance(settler, 'ETH')).available;

test('between its inclusion and its end the ledger has the balance of the chain, and after it', async () => {
  const txId = await send();
  await fixture.mine();
  await fixture.follow();
  expect((await fixture.attempts(txId))[0]).toMatchObject({ success: true, debited: '1000', received: '1000' });
  expect(await available()).toBe(parseEther('1'));
  expect(await verify()).toEqual([]);
  expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
  expect(await available()).toBeLessThan(parseEther('1'));
  expect(await verify()).toEqual([]);
});

test('one that has ended and comes into another block has cost its settler what it costs there', async () => {
  const { anvil, mine, follow, transaction, options, client, chain } = fixture;
  const snapshot = await anvil.client.snapshot();
  const txId = await send();
  await settle(txId);
  const [before, paid] = [await transaction(txId), await available()];

  await anvil.client.revert({ id: snapshot });
  await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_234_567_890n });
  await mine(chain.confirmations + 2);
  const onConfirmedReorged = (it: string) => correctReorged({ ...options, client }, { txId: it });
  await follow({ onConfirmedReorged });
  // it is sent again, and in no block yet
  expect(await available()).toBe(parseEther('1'));
  expect(await verify()).toEqual([]);
  await mine(2);
  await follow({ onConfirmedReorged });
  await onConfirmedReorged(txId);

  const after = await transaction(txId);
  expect(after).toMatchObject({ status: 'CONFIRMED', tx_hash: before.tx_hash, fee: before.fee });
  expect(after.block_hash).not.toBe(before.block_hash);
  expect(await available()).not.toBe(paid);
  expect(await verify()).toEqual([]);
});

test('one that is reverted in its new block is an alert, and its settler has paid the fee of that block', async () => {
  const { anvil, mine, follow, transaction, options, client, chain } = fixture;
  const snapshot = await anvil.client.snapshot();
  const txId = await send();
  await settle(txId);
  await anvil.client.revert({ id: snapshot });
  // the payer spends the money meanwhile
  await anvil.client.impersonateAccount({ address: payer.address });
  await anvil.client.setBalance({ address: payer.address, value: parseEther('1') });
  await anvil.client.sendUnsignedTransaction({
    ...{ from: payer.address, to: usdc(), gas: 100_000n },
    data: `0xa9059cbb${randomAddress().slice(2).toLowerCase().padStart(64, '0')}${authorised.toString(16).padStart(64, '0')}`,
  });
  await mine(chain.confirmations + 2);
  const alerts: unknown[] = [];
  const logger = Object.create(options.logger, {
    error: { value: (alert: unknown) => void alerts.push(alert) },
  }) as typeof options.logger;
  const onConfirmedReorged = (it: string) =>
    correctReorged({ ...options, logger, alarms: new Alarms(logger), client }, { txId: it });
  await follow({ onConfirmedReorged });
  await mine(2);
  await follow({ onConfirmedReorged });
  await onConfirmedReorged(txId);
  expect(alerts).toContainEqual({ alert: 'ended_transfer_changed', tx_id: txId });
  expect(await transaction(txId)).toMatchObject({ status: 'CONFIRMED' });
  expect(await available()).toBe(await anvil.client.getBalance({ address: settler.address as Hex }));
});

test.each(['900', '0', null])(
  'one that brings the seller %s of 1000 fails when it is final, and its settler has paid the fee',
  async (received) => {
    const { chain, database, transaction } = fixture;
    const txId = await send();
    await fixture.mine();
    await fixture.follow();
    // as of a token that keeps a part for itself
    const debited = received === null ? null : String(authorised);
    await database.query('update transfer_attempts set debited = $2, received = $3 where tx_id = $1', [txId, debited, received]);
    const outcome = async () => (await readSettlements(database.manager, [txId]))[0]?.outcome;
    const hash = (await fixture.attempts(txId))[0]?.tx_hash;

    expect(chain.finalityDepth).toBeGreaterThan(chain.confirmations);
    expect(await settle(txId)).toMatchObject({ status: 'WAITING' });
    const awaited = async () => {
      const scannedTo = Number(await fixture.anvil.client.getBlockNumber());
      return (await findAwaited(database.manager, chain, scannedTo)).observations.get(txId);
    };
    expect(await awaited()).toBeUndefined();
    expect(await outcome()).toMatchObject({ outcome: 'pending', hash });
    await fixture.mine(chain.finalityDepth);
    // the chain of this test shows the whole payment, if it is asked
    await fixture.follow({ observe: () => Promise.reject(new GatewayError('chain_unavailable', 'not asked')) });
    const end = { status: 'FAILED', code: 'transfer_not_observed' };
    const alerts: object[] = [];
    const log = { error: (alert: object) => void alerts.push(alert), warn: () => undefined };
    const ledger = createTestLedger({ database, registry: fixture.registry, log });
    expect(await ledger.settleTransfer({ txId })).toMatchObject({ status: 'WAITING' });
    // as the only endpoint has shown it once more
    await database.query('update transfer_attempts set agreed_by = 1 where tx_id = $1', [txId]);
    expect(await ledger.settleTransfer({ txId })).toMatchObject(end);
    expect(await ledger.settleTransfer({ txId })).toMatchObject(end);
    expect(alerts).toEqual([{ alert: 'settlement_not_paid', tx_id: txId, chain: chain.name, symbol: 'USDC' }]);
    expect(await transaction(txId)).toMatchObject({ status: 'FAILED', failure_code: 'transfer_not_observed', tx_hash: hash });
    expect(await outcome()).toEqual({ outcome: 'failed', failure: 'unobserved', hash });
    expect(await available()).toBeLessThan(parseEther('1'));
    expect(await verify()).toEqual([]);
  },
);

test('one whose receipt was shown without its logs near the head is read again when it is final, and has paid', async () => {
  const { chain, database } = fixture;
  const txId = await send();
  await fixture.mine();
  await fixture.follow();
  await database.query('update transfer_attempts set debited = null, received = null where tx_id = $1', [txId]);
  await fixture.mine(chain.finalityDepth);
  await fixture.follow();
  expect(fixture.signals.at(-1)).toMatchObject({ txId, observation: { state: 'confirmed' } });
  expect((await fixture.attempts(txId))[0]).toMatchObject({ received: '1000' });
  expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
});
