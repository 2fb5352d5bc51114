import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { formatEther, type Address, type Hex } from 'viem';
import { followChainWorkflowId, transferWorkflowId } from '../../src/messages/workflow-ids';
import { Holds } from './holds';
import { randomAddress } from '../factories';
import { sharedWallet, stack, waitFor } from '../stack/client';
import { gateway, json } from '../e2e/gateway';
import { recordRun, type RecordedRun } from '../replay/record-run';
import { withTemporal } from '../stack/temporal';
import { ledgerDifferences } from '../e2e/ledger';
import { chainAt, onChain } from './transfer';
import { balances, call, ends, fundedAccount, transactionWhen, type Account } from '../e2e/support';

const chain = () => chainAt('ethereum');
const anvil = (method: string, params: unknown[]) => chain().request({ method, params } as never);

let account: Account;
beforeAll(async () => {
  account = await fundedAccount('ethereum', { ETH: '5' });
});
afterAll(async () => {
  expect(await ledgerDifferences()).toEqual([]);
});

const body = (to: string, amount = '0.1') => ({
  from_address: account.address,
  to_address: to,
  chain: 'ethereum',
  token_symbol: 'ETH',
  amount,
});
const record = (workflowId: string, name: string, options?: RecordedRun) =>
  withTemporal((client) => recordRun(client, workflowId, name, options));
const locked = async () => (await balances(account.account_id, 'ethereum')).ETH?.locked_balance;

describe('every way a transfer ends', () => {
  test('CONFIRMED', async () => {
    const { body: accepted } = await call('POST', '/transfer', { body: body(randomAddress()) });
    await transactionWhen(accepted.tx_id as string, ['CONFIRMED']);
    await record(transferWorkflowId(accepted.tx_id as string), 'transfer-confirmed');
    await record(followChainWorkflowId('ethereum'), 'follow-chain', { isOpen: true });
  });

  test('refused: the answer is the error, nothing is kept, and the same key gets the same answer', async () => {
    const holds = await Holds.install(stack().postgres.url);
    try {
      // the balance suffices before the other transfer's hold and not after it: the refusal comes from the locked balance
      await holds.hold('accept: insert');
      // what is held for longer than its statement may take is answered 503, and is sent again
      const post = () =>
        waitFor(async () => {
          const answer = await call('POST', '/transfer', { body: body(randomAddress(), '4') });
          return answer.status !== 503 && answer;
        });
      const first = post();
      await holds.reached('accept: insert', 30_000);
      const second = post();
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await holds.release('accept: insert');
      const answers = await Promise.all([first, second]);
      expect(answers.map(({ status }) => status).sort()).toEqual([202, 400]);
      const accepted = answers.find(({ status }) => status === 202);
      expect(answers.find(({ status }) => status === 400)?.body.code).toBe('insufficient_balance');
      await call('POST', `/transactions/${accepted?.body.tx_id}/cancel`);
      await transactionWhen(accepted?.body.tx_id as string, ends);
    } finally {
      await holds.remove();
    }
    const request = { body: body(randomAddress(), '4.999999'), headers: { 'idempotency-key': randomUUID() } };
    const refused = await call('POST', '/transfer', request);
    expect(refused.body.code).toBe('insufficient_balance');
    const again = await call('POST', '/transfer', request);
    expect(again.body).toEqual(refused.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });

  test('REJECTED: a rule that passed at acceptance fails at screening', async () => {
    const { wallet_id: walletId } = await sharedWallet();
    const before = (await balances(account.account_id, 'ethereum')).ETH;
    const holds = await Holds.install(stack().postgres.url);
    const database = new Client({ connectionString: stack().postgres.url });
    await database.connect();
    let txId: string;
    try {
      await holds.hold('accept: COMMIT');
      const posted = call('POST', '/transfer', { body: body(randomAddress()) });
      await holds.reached('accept: COMMIT', 30_000);
      await database.query(`update wallets set status = 'SUSPENDED' where wallet_id = $1`, [walletId]);
      await holds.release('accept: COMMIT');
      txId = (await posted).body.tx_id as string;
      const rejected = await transactionWhen(txId, ends);
      expect(rejected).toMatchObject({ status: 'REJECTED', tx_hash: null, failure: { code: 'wallet_not_active' } });
    } finally {
      await database.query(`update wallets set status = 'ACTIVE' where wallet_id = $1`, [walletId]);
      await database.end();
      await holds.remove();
    }
    expect((await balances(account.account_id, 'ethereum')).ETH).toEqual(before);
    await record(transferWorkflowId(txId), 'transfer-rejected');
  });

  test('CANCELLED: always possible before signing, and a second cancel gets the same answer', async () => {
    const [pid] = stack().processes['chain:ethereum'] ?? [];
    process.kill(Number(pid), 'SIGSTOP');
    let txId: string;
    try {
      txId = (await call('POST', '/transfer', { body: body(randomAddress()) })).body.tx_id as string;
      const cancelled = await call('POST', `/transactions/${txId}/cancel`);
      expect([cancelled.status, cancelled.body.status]).toEqual([200, 'CANCELLED']);
    } finally {
      process.kill(Number(pid), 'SIGCONT');
    }
    const again = await call('POST', `/transactions/${txId}/cancel`);
    expect([again.status, again.body.status]).toEqual([200, 'CANCELLED']);
    expect(await locked()).toBe('0');
    await record(transferWorkflowId(txId), 'transfer-cancelled');
  });

  test('FAILED before signing: the chain would refuse it', async () => {
    const refuser = randomAddress();
    await anvil('anvil_setCode', [refuser, '0x60006000fd']);
    const { body: accepted } = await call('POST', '/transfer', { body: body(refuser) });
    const failed = await transactionWhen(accepted.tx_id as string, ends);
    expect(failed).toMatchObject({ status: 'FAILED', fee: null, failure: { code: 'would_revert' } });
    expect(await locked()).toBe('0');
    await record(transferWorkflowId(accepted.tx_id as string), 'transfer-failed-before-signing');
  });

  test('FAILED on chain: the amount is back, the fee is gone', async () => {
    const to = randomAddress();
    const before = await onChain('ethereum', account.address);
    const holds = await Holds.install(stack().postgres.url);
    let txId: string;
    try {
      await holds.hold('broadcast: recordSigned');
      txId = (await call('POST', '/transfer', { body: body(to) })).body.tx_id as string;
      await holds.reached('broadcast: recordSigned', 60_000);
      // an address without code when gas was estimated now reverts
      await anvil('anvil_setCode', [to, '0x60006000fd']);
      await holds.release('broadcast: recordSigned');
    } finally {
      await holds.remove();
    }
    const failed = await transactionWhen(txId, ends);
    expect(failed).toMatchObject({ status: 'FAILED', failure: { code: 'reverted_on_chain' } });
    const receipt = await chain().getTransactionReceipt({ hash: failed.tx_hash as Hex });
    expect(receipt.status).toBe('reverted');
    expect(await onChain('ethereum', account.address)).toBe(before - receipt.gasUsed * receipt.effectiveGasPrice);
    expect(await locked()).toBe('0');
    expect(failed.timeline.map(({ status }: { status: string }) => status)).toEqual([
      'PENDING',
      'SIGNING',
      'SUBMITTED',
      'FAILED',
    ]);
    await record(transferWorkflowId(txId), 'transfer-failed-on-chain');
  });

  test('CONFIRMED after a replacement: stuck, signed again on the same nonce at a higher fee, executed once', async () => {
    const to = randomAddress();
    const nonce = await chain().getTransactionCount({ address: account.address as Address });
    await anvil('evm_setIntervalMining', [0]);
    let txId: string;
    try {
      txId = (await call('POST', '/transfer', { body: body(to) })).body.tx_id as string;
      await waitFor(async () => (await attempts(txId)).filter(({ broadcast_at }) => broadcast_at).length === 2, {
        timeoutMs: 120_000,
        intervalMs: 500,
      });
    } finally {
      await anvil('evm_setIntervalMining', [1]);
    }
    const confirmed = await transactionWhen(txId, ends);
    const [first, second] = await attempts(txId);
    expect(confirmed).toMatchObject({ status: 'CONFIRMED', tx_hash: second?.tx_hash });
    expect([first?.nonce, second?.nonce]).toEqual([String(nonce), String(nonce)]);
    expect(await onChain('ethereum', to)).toBe(100_000_000_000_000_000n);
    await record(transferWorkflowId(txId), 'transfer-confirmed-replaced');
  });

  test('CONFIRMED although the chain dropped it: broadcast again', async () => {
    const to = randomAddress();
    await anvil('evm_setIntervalMining', [0]);
    let txId: string;
    try {
      txId = (await call('POST', '/transfer', { body: body(to) })).body.tx_id as string;
      await transactionWhen(txId, ['SUBMITTED']);
      const [first] = await attempts(txId);
      await anvil('anvil_dropTransaction', [first?.tx_hash]);
    } finally {
      await anvil('evm_setIntervalMining', [1]);
    }
    const confirmed = await transactionWhen(txId, ends, 120_000);
    expect(confirmed.status).toBe('CONFIRMED');
    expect(await onChain('ethereum', to)).toBe(100_000_000_000_000_000n);
    await record(transferWorkflowId(txId), 'transfer-confirmed-forgotten');
  });

  test('NEEDS_ATTENTION: a transfer without the expected effect waits for an operator, with its funds locked', async () => {
    const usdc = await fundedAccount('ethereum', { ETH: '1', USDC: '5' });
    const contract = stack().chains.ethereum?.tokens.USDC as Address;
    const code = await chain().getCode({ address: contract });
    const holds = await Holds.install(stack().postgres.url);
    let txId: string;
    try {
      await holds.hold('broadcast: recordSigned');
      const request = {
        from_address: usdc.address,
        to_address: randomAddress(),
        chain: 'ethereum',
        token_symbol: 'USDC',
        amount: '2',
      };
      txId = (await call('POST', '/transfer', { body: request })).body.tx_id as string;
      await holds.reached('broadcast: recordSigned', 60_000);
      // the token returns success and moves nothing
      await anvil('anvil_setCode', [contract, '0x600160005260206000f3']);
      await holds.release('broadcast: recordSigned');
      const parked = await transactionWhen(txId, ['NEEDS_ATTENTION']);
      expect(parked.failure.code).toBe('transfer_not_observed');
      expect((await balances(usdc.account_id, 'ethereum')).USDC).toEqual({ balance: '3', locked_balance: '2' });
    } finally {
      await anvil('anvil_setCode', [contract, code]);
      await holds.remove();
    }
    await record(transferWorkflowId(txId), 'transfer-needs-attention', { isOpen: true });
  });

  test('FAILED after an operator abandons it: a cancellation uses up the nonce, everything but the fee is unlocked', async () => {
    const from = await fundedAccount('ethereum', { ETH: '1' });
    const address = from.address as Address;
    const { gasLimit } = (await anvil('eth_getBlockByNumber', ['latest', false])) as { gasLimit: string };
    const to = randomAddress();
    const holds = await Holds.install(stack().postgres.url);
    let txId: string;
    try {
      await holds.hold('broadcast: recordSigned');
      txId = (await call('POST', '/transfer', { body: { ...body(to), from_address: address } })).body.tx_id as string;
      await holds.reached('broadcast: recordSigned', 60_000);
      // no block has room for it: the chain refuses the signed bytes
      await anvil('evm_setBlockGasLimit', ['0x4e20']);
      await holds.release('broadcast: recordSigned');
      const parked = await transactionWhen(txId, ['NEEDS_ATTENTION']);
      expect(parked.failure.code).toBe('broadcast_rejected');
      expect(Number((await balances(from.account_id, 'ethereum')).ETH?.locked_balance)).toBeGreaterThan(0.1);
    } finally {
      await anvil('evm_setBlockGasLimit', [gasLimit]);
      await holds.remove();
    }
    expect(await json('transfers', 'abandon', txId, '--yes')).toEqual({ tx_id: txId, status: 'abandoning' });
    // or it has ended already
    await transactionWhen(txId, ['SUBMITTED', ...ends]);
    expect((await gateway(['transfers', 'abandon', txId, '--yes'])).code).toBe(1);
    const failed = await transactionWhen(txId, ends);
    expect(failed).toMatchObject({ status: 'FAILED', failure: { code: 'abandoned' }, fee: { symbol: 'ETH' } });
    const { attempts: signed } = await json('transfers', 'show', txId);
    expect(signed.map(({ kind, resources }: { kind: string; resources: string }) => [kind, resources])).toEqual([
      ['first', '0'],
      ['cancellation', '0'],
    ]);
    expect(await onChain('ethereum', to)).toBe(0n);
    expect((await balances(from.account_id, 'ethereum')).ETH).toEqual({
      balance: formatEther(await onChain('ethereum', address)),
      locked_balance: '0',
    });
    const acts = await json('audit', 'list', '--subject', txId, '--action', 'transfer.abandoned');
    // newest first: the second one is refused by the workflow, or before it is asked if the chain has executed the cancellation already
    expect(acts.at(-1)).toMatchObject({ outcome: 'success', actor_type: 'operator', detail: { status: 'NEEDS_ATTENTION' } });
    await record(transferWorkflowId(txId), 'transfer-failed-abandoned');
  });
});

interface Attempt {
  nonce: string;
  tx_hash: string | null;
  broadcast_at: Date | null;
}

async function attempts(txId: string): Promise<Attempt[]> {
  const database = new Client({ connectionString: stack().postgres.url });
  await database.connect();
  try {
    return (
      await database.query<Attempt>(
        `select r.resource as nonce, a.tx_hash, a.broadcast_at
           from transfer_attempts a join attempt_reservations using (tx_id, attempt) join reservations r using (reservation_id)
          where a.tx_id = $1 order by a.attempt`,
        [txId],
      )
    ).rows;
  } finally {
    await database.end();
  }
}
