import { checkOperations, endRun, fieldsSentBy, type Target } from '../properties/run';
import { api, sharedWallet, stack } from '../stack/client';
import { openApi } from './openapi';
import { newAccount } from './support';

/** Sends valid and invalid requests, generated from the OpenAPI document, to every operation of the running stack. */

const runsPerOperation = 80;
/** Each costs a key generation of some 11 seconds. */
const walletsAtMost = 1;
/** Ten failed logins a minute would block this machine for the tests that follow. */
const loginsAtMost = 4;
/** An account on a chain with keys of its own has none in time while the nodes generate those of other files' wallets. */
const retryForMs = 60_000;

afterAll(endRun);

test('every request gets a documented answer', async () => {
  const { wallet_id } = await sharedWallet();
  const { account_id, address } = await newAccount('ethereum');
  const { body } = await api().request<{ data: { tx_id: string; status: string }[] }>('GET', '/transactions');
  const { document } = await openApi();
  let [wallets, logins] = [0, 0];
  const target: Target = {
    ...{ baseUrl: stack().base_url, retryForMs },
    token: () => api().accessToken(),
    document,
    known: {
      id: [wallet_id, account_id],
      wallet_id: [wallet_id],
      account_id: [account_id],
      // others are cancelled, while the tests that have sent them wait for their ends
      tx_id: body.data.flatMap(({ tx_id, status }) => (status === 'CONFIRMED' ? [tx_id] : [])),
      chain: ['ethereum', 'base'],
      from_address: [address],
      to_address: ['0x52908400098527886E0F7030069857D2E4169EE7'],
      token_symbol: ['ETH', 'USDC'],
      symbol: ['ETH', 'USDC', 'USDT'],
      amount: ['1', '0.5', '0'],
      page: [1, 2],
      page_size: [1, 100],
    },
    sends: ({ operation }, { body: sent }) => {
      if (operation.operationId === 'createToken') return (logins += 1) <= loginsAtMost;
      if (operation.operationId !== 'createWallet' || !isWallet(sent)) return true;
      wallets += 1;
      return wallets <= walletsAtMost;
    },
    // five wrong codes would lock the second factor of this user for the tests that follow
    finish: (_, request) => {
      const { mfa_code, ...rest } = fieldsSentBy(request) ?? {};
      return typeof mfa_code === 'string' && /^\d{6}$/.test(mfa_code) ? { ...request, body: JSON.stringify(rest) } : request;
    },
  };
  const { failures } = await checkOperations(
    document,
    () => Promise.resolve(target),
    () => runsPerOperation,
  );
  expect(failures.join('\n\n')).toBe('');
});

/** True for a body that makes a wallet. */
function isWallet(body: string | null): boolean {
  try {
    const { wallet_name, description, ...rest } = JSON.parse(body ?? '') as Record<string, unknown>;
    return typeof wallet_name === 'string' && typeof description !== 'object' && Object.keys(rest).length === 0;
  } catch {
    return false;
  }
}
