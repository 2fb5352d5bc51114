import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createPublicClient, http, parseAbi, type Address } from 'viem';
import { privateKeyToAccount, generatePrivateKey } from 'viem/accounts';
import { devPaths } from '../../dev/paths';
import { deriveAddress } from '../../src/accounts/derivation';
import { getFamily } from '../../src/chains/families';
import { nodeIndexes } from '../../src/messages/nodes';
import { sharedWallet, stack, waitFor } from '../stack/client';
import { attestedKey, type KnownNodes } from '../verify-attestations';
import { addAsset, balances, call, fundedAccount, newAccount, transferAndWait } from './support';

const erc20 = parseAbi(['function balanceOf(address) view returns (uint256)']);
const chain = (name: string) => createPublicClient({ transport: http(stack().chains[name]?.rpc) });
const outside = (): Address => privateKeyToAccount(generatePrivateKey()).address;

describe('on EVM, beside what is the same on every chain', () => {
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
    const received = await waitFor(async () => {
      const { body } = await call('GET', `/transactions?account_id=${to.account_id}`);
      return body.data.find((item: { status: string }) => item.status === 'CONFIRMED');
    });
    expect(received).toMatchObject({ transaction_type: 'INBOUND', tx_hash: sent.tx_hash, amount: '4', token_symbol: 'USDC' });
    expect((await balances(to.account_id, 'ethereum')).USDC?.balance).toBe('4');
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
    expect(transfer).toMatchObject({ status: 'FAILED', tx_hash: null, failure: { code: 'would_revert' } });
    expect((await balances(account.account_id, 'ethereum')).ETH).toEqual({ balance: '1', locked_balance: '0' });
  });

  test('the shared wallet has one key and is ACTIVE', async () => {
    const { body } = await call('GET', `/wallets/${(await sharedWallet()).wallet_id}`);
    expect(body).toMatchObject({ status: 'ACTIVE', key_status: 'ACTIVE' });
  });

  test('a client verifies with the certificates of the nodes which key the shared wallet has', async () => {
    const { wallet_id, client_id } = await sharedWallet();
    const { body } = await call('GET', `/wallets/${wallet_id}/attestations`);
    const { public_key, chain_code } = attestedKey(body.attestations, { wallet_id, client_id }, nodeCertificates());
    const key = { keyId: '', protocol: getFamily('evm').keyProtocol, publicKey: bytes(public_key), chainCode: bytes(chain_code) };
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
