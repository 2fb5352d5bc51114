import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createPublicClient, http, parseAbi, type Address } from 'viem';
import { privateKeyToAccount, generatePrivateKey } from 'viem/accounts';
import { devPaths } from '../../dev/paths';
import { deriveAddress } from '../../src/accounts/derivation';
import { getFamily } from '../../src/chains/families';
import { nodeIndexes } from '../../src/messages/nodes';
import { fund, sharedWallet, stack, waitFor } from '../stack/client';
import { attestedKey, type KnownNodes } from '../verify-attestations';
import { addAsset, balances, call, fundedAccount, newAccount, transferAndWait, transactionWhen } from './support';

const erc20 = parseAbi(['function balanceOf(address) view returns (uint256)']);
const chain = (name: string) => createPublicClient({ transport: http(stack().chains[name]?.rpc) });
const outside = (): Address => privateKeyToAccount(generatePrivateKey()).address;

describe('transfers and deposits on the whole stack', () => {
  test.each(['ethereum', 'base'])('native coin on %s: locked, signed, confirmed, settled to the last unit', async (name) => {
    const account = await fundedAccount(name, { ETH: '2' });
    const to = outside();
    const transfer = await transferAndWait({
      from_address: account.address,
      to_address: to,
      chain: name,
      token_symbol: 'ETH',
      amount: '0.75',
    });

    expect(transfer).toMatchObject({
      status: 'CONFIRMED',
      amount: '0.75',
      token_symbol: 'ETH',
      transaction_type: 'OUTBOUND',
      failure: null,
    });
    expect(transfer.timeline.map(({ status }: { status: string }) => status)).toEqual([
      'PENDING',
      'SIGNING',
      'SUBMITTED',
      'CONFIRMED',
    ]);
    expect(transfer.confirmations).toBeGreaterThanOrEqual(transfer.required_confirmations);
    expect(await chain(name).getBalance({ address: to })).toBe(750_000_000_000_000_000n);
    const receipt = await chain(name).getTransactionReceipt({ hash: transfer.tx_hash });
    expect(receipt.status).toBe('success');

    // the ledger and the chain agree
    const onChain = await chain(name).getBalance({ address: account.address as Address });
    const { ETH } = await balances(account.account_id, name);
    expect(ETH).toEqual({ balance: decimal(onChain, 18), locked_balance: '0' });
    expect(transfer.fee).toEqual({ amount: decimal(receipt.gasUsed * receipt.effectiveGasPrice, 18), symbol: 'ETH' });
  });

  test.each(['USDC', 'USDT'])('%s: token and fee are posted apart', async (symbol) => {
    const account = await fundedAccount('ethereum', { ETH: '1', [symbol]: '100' });
    const to = outside();
    const transfer = await transferAndWait({
      from_address: account.address,
      to_address: to,
      chain: 'ethereum',
      token_symbol: symbol,
      amount: '12.345678',
    });

    expect(transfer.status).toBe('CONFIRMED');
    const contract = stack().chains.ethereum?.tokens[symbol] as Address;
    expect(await chain('ethereum').readContract({ address: contract, abi: erc20, functionName: 'balanceOf', args: [to] })).toBe(
      12_345_678n,
    );
    const after = await balances(account.account_id, 'ethereum');
    expect(after[symbol]).toEqual({ balance: '87.654322', locked_balance: '0' });
    expect(after.ETH).toEqual({
      balance: decimal(await chain('ethereum').getBalance({ address: account.address as Address }), 18),
      locked_balance: '0',
    });
  });

  test('between two accounts of the gateway: one OUTBOUND and one INBOUND with the same hash', async () => {
    const from = await fundedAccount('ethereum', { ETH: '1', USDC: '10' });
    const to = await newAccount('ethereum');
    await addAsset(to.account_id, 'USDC', 'ethereum');
    const sent = await transferAndWait({
      from_address: from.address,
      to_address: to.address,
      chain: 'ethereum',
      token_symbol: 'USDC',
      amount: '4',
    });
    const received = await waitFor(
      async () => {
        const { body } = await call('GET', `/transactions?account_id=${to.account_id}`);
        return body.data.find((item: { status: string }) => item.status === 'CONFIRMED');
      },
      { timeoutMs: 30_000 },
    );
    expect(received).toMatchObject({ transaction_type: 'INBOUND', tx_hash: sent.tx_hash, amount: '4', token_symbol: 'USDC' });
    expect((await balances(to.account_id, 'ethereum')).USDC?.balance).toBe('4');
  });

  test('a deposit is DETECTED, then credited once at the required depth', async () => {
    const account = await newAccount('base');
    await addAsset(account.account_id, 'USDC', 'base');
    const hash = await fund('base', 'USDC', account.address, '7.5');
    const seen = new Set<string>();
    const deposit = await waitFor(
      async () => {
        const { body } = await call('GET', `/transactions?account_id=${account.account_id}`);
        expect(body.total).toBeLessThanOrEqual(1);
        const [item] = body.data;
        if (item) seen.add(item.status);
        return item?.status === 'CONFIRMED' ? item : undefined;
      },
      { timeoutMs: 30_000, intervalMs: 50 },
    );
    expect(deposit).toMatchObject({ tx_hash: hash, amount: '7.5', transaction_type: 'INBOUND' });
    expect([...seen]).toEqual(['DETECTED', 'CONFIRMED']);
    expect((await balances(account.account_id, 'base')).USDC).toEqual({ balance: '7.5', locked_balance: '0' });
  });

  test('a native deposit is listed without being added, and can be spent', async () => {
    const account = await newAccount('base');
    await fund('base', 'ETH', account.address, '0.5');
    await waitFor(async () => (await balances(account.account_id, 'base')).ETH?.balance === '0.5', { timeoutMs: 30_000 });
    const transfer = await transferAndWait({
      from_address: account.address.toLowerCase(),
      to_address: outside(),
      chain: 'base',
      token_symbol: 'ETH',
      amount: '0.1',
    });
    expect(transfer.status).toBe('CONFIRMED');
  });

  test('many transfers of one account at once: every nonce is used once and all arrive', async () => {
    const account = await fundedAccount('ethereum', { ETH: '3' });
    const to = outside();
    const transfers = await Promise.all(
      Array.from({ length: 8 }, () =>
        transferAndWait({ from_address: account.address, to_address: to, chain: 'ethereum', token_symbol: 'ETH', amount: '0.1' }),
      ),
    );
    expect(transfers.map(({ status }) => status)).toEqual(Array(8).fill('CONFIRMED'));
    expect(new Set(transfers.map(({ tx_hash }) => tx_hash)).size).toBe(8);
    expect(await chain('ethereum').getBalance({ address: to })).toBe(800_000_000_000_000_000n);
    expect(await chain('ethereum').getTransactionCount({ address: account.address as Address })).toBe(8);
  });

  test('a recipient that refuses the coin: FAILED before anything is signed, everything unlocked', async () => {
    const account = await fundedAccount('ethereum', { ETH: '1' });
    const refuser = outside();
    // a contract whose code always reverts
    await chain('ethereum').request({ method: 'anvil_setCode', params: [refuser, '0x60006000fd'] } as never);
    const transfer = await transferAndWait({
      from_address: account.address,
      to_address: refuser,
      chain: 'ethereum',
      token_symbol: 'ETH',
      amount: '0.1',
    });
    expect(transfer).toMatchObject({ status: 'FAILED', tx_hash: null, failure: { code: 'reverted_on_chain' } });
    expect((await balances(account.account_id, 'ethereum')).ETH).toEqual({ balance: '1', locked_balance: '0' });
  });

  test('a live status while it runs, none once it has ended', async () => {
    const account = await fundedAccount('ethereum', { ETH: '1' });
    const { body } = await call('POST', '/transfer', {
      body: { from_address: account.address, to_address: outside(), chain: 'ethereum', token_symbol: 'ETH', amount: '0.1' },
    });
    // accepted before its workflow has started
    const live = await waitFor(async () => (await call('GET', `/transactions/${body.tx_id}`)).body.live);
    expect(live).toEqual({ step: expect.any(String), attempt: expect.any(Number), detail: expect.any(String) });
    const ended = await transactionWhen(body.tx_id, ['CONFIRMED']);
    expect(ended.live).toBeNull();
  });

  test('the shared wallet has one key and is ACTIVE', async () => {
    const { body } = await call('GET', `/wallets/${(await sharedWallet()).wallet_id}`);
    expect(body).toMatchObject({ status: 'ACTIVE', key_status: 'ACTIVE' });
  });

  test('a client verifies with the certificates of the nodes which key the shared wallet has', async () => {
    const { wallet_id, client_id } = await sharedWallet();
    const { body } = await call('GET', `/wallets/${wallet_id}/attestations`);
    const { public_key, chain_code } = attestedKey(body.attestations, { wallet_id, client_id }, nodeCertificates());
    const key = { keyId: '', publicKey: bytes(public_key), chainCode: bytes(chain_code) };
    const { address } = await newAccount('ethereum');
    const { total } = (await call('GET', `/accounts?wallet_id=${wallet_id}`)).body;
    const derived = Array.from({ length: total }, (_, index) => deriveAddress(key, getFamily('evm'), index).address);
    expect(derived).toContain(address);
  });
});

const bytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');

/** As the operators of the nodes would give them to a client. */
function nodeCertificates(): KnownNodes {
  const { secrets } = devPaths(path.dirname(process.env.GATEWAY_TEST_STACK ?? ''));
  return Object.fromEntries(
    nodeIndexes.map((node) => [node, [readFileSync(path.join(secrets, `mpc-${node}.cert.pem`), 'utf8')]]),
  );
}

function decimal(atomic: bigint, decimals: number): string {
  const digits = atomic.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`.replace(/\.?0+$/, '');
}
