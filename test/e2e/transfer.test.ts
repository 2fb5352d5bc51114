import { formatUnits, parseUnits } from 'viem';
import { getFamily } from '../../src/chains/families';
import { loadRegistry } from '../../src/chains/registry';
import { gatewayQuery } from '../adversary/processes';
import { describeOnStack, nodeOf } from '../families';
import { fund, waitFor } from '../stack/client';
import { ledgerDifferences } from './ledger';
import { type Account, accountWith, balances, call, ends, newAccount, transactionWhen } from './support';

/** What is the same on every chain, on the whole stack. Deposits and transfers of native coins; tokens have files of their own. */

describeOnStack('accounts, deposits and transfers', (fixture) => {
  const { chain, symbol, decimals, amount: coins } = fixture;
  const atomic = (amount: string) => parseUnits(coins(amount), decimals);
  const node = () => nodeOf(chain);
  const balanceOf = async ({ account_id: id }: Account) => (await balances(id, chain))[symbol];
  const body = ({ address }: Account, to: string, amount: string) => ({
    ...{ from_address: address, to_address: to, chain },
    ...{ token_symbol: symbol, amount: coins(amount) },
  });
  const send = (...request: Parameters<typeof body>) => call('POST', '/transfer', { body: body(...request) });
  /** At once; each ends. */
  const sendAll = async (requests: Parameters<typeof body>[]) => {
    const answers = await Promise.all(requests.map((request) => send(...request)));
    expect(answers.map(({ status }) => status)).toEqual(requests.map(() => 202));
    return Promise.all(answers.map(({ body: { tx_id: id } }) => transactionWhen(id as string, ends, 180_000)));
  };
  const refusal = async (...request: Parameters<typeof body>) => {
    const answer = await send(...request);
    return [answer.status, answer.body.code as string];
  };
  /** Nothing is locked, and the ledger says what the chain does. */
  const isBalanced = async (account: Account) => {
    const balance = formatUnits(await node().balanceOf(account.address), decimals);
    expect(await balanceOf(account)).toEqual({ balance, locked_balance: '0' });
  };

  test('a deposit is DETECTED, then credited once at the required depth, listed without being added', async () => {
    const account = await newAccount(chain);
    const hash = await fund(chain, symbol, account.address, coins('0.5'));
    const deposit = await waitFor(
      async () => {
        const { body: list } = await call('GET', `/transactions?account_id=${account.account_id}`);
        expect(list.total).toBeLessThanOrEqual(1);
        const [item] = list.data;
        return item?.status === 'CONFIRMED' ? item : undefined;
      },
      { timeoutMs: 120_000 },
    );
    expect(deposit).toMatchObject({ tx_hash: hash, amount: coins('0.5'), token_symbol: symbol, transaction_type: 'INBOUND' });
    const { timeline } = (await call('GET', `/transactions/${deposit.tx_id}`)).body;
    expect(timeline.map(({ status }: { status: string }) => status)).toEqual(['DETECTED', 'CONFIRMED']);
    expect(await balanceOf(account)).toEqual({ balance: coins('0.5'), locked_balance: '0' });
  });

  test('transfers to every kind of destination: locked, signed, confirmed, settled to the last unit', async () => {
    const destinations = Object.entries(fixture.destinations());
    const account = await accountWith(
      fixture,
      destinations.map(() => '0.2'),
    );
    const sent = await sendAll(destinations.map(([, to]) => [account, to, '0.123']));
    let left = atomic('0.2') * BigInt(sent.length);
    for (const [index, [kind, to]] of destinations.entries()) {
      const transfer = sent[index] ?? {};
      expect([kind, transfer]).toMatchObject([
        kind,
        {
          status: 'CONFIRMED',
          amount: coins('0.123'),
          token_symbol: symbol,
          transaction_type: 'OUTBOUND',
          failure: null,
          live: null,
        },
      ]);
      const timeline = transfer.timeline.map(({ status }: { status: string }) => status);
      expect(timeline).toEqual(['PENDING', 'SIGNING', 'SUBMITTED', 'CONFIRMED']);
      expect(transfer.confirmations).toBeGreaterThanOrEqual(transfer.required_confirmations);
      expect([kind, await node().paid(transfer.tx_hash as string, to)]).toEqual([kind, atomic('0.123')]);
      expect(transfer.fee.symbol).toBe(symbol);
      left -= atomic('0.123') + parseUnits(transfer.fee.amount as string, decimals);
    }
    expect(await balanceOf(account)).toEqual({ balance: formatUnits(left, decimals), locked_balance: '0' });
    await isBalanced(account);
  });

  test('between two accounts of the gateway, written in another way: one OUTBOUND and one INBOUND with the same hash', async () => {
    const from = await accountWith(fixture, ['0.5']);
    const to = await newAccount(chain);
    const [sent] = await sendAll([[from, fixture.spellings(to.address)[0] ?? to.address, '0.4']]);
    expect(sent.status).toBe('CONFIRMED');
    const received = await waitFor(
      async () => {
        const { body: list } = await call('GET', `/transactions?account_id=${to.account_id}`);
        return list.data.find((item: { status: string }) => item.status === 'CONFIRMED');
      },
      { timeoutMs: 120_000 },
    );
    expect(received).toMatchObject({
      transaction_type: 'INBOUND',
      tx_hash: sent.tx_hash,
      amount: coins('0.4'),
      token_symbol: symbol,
    });
    expect((await balanceOf(to))?.balance).toBe(coins('0.4'));
    await isBalanced(from);
    await isBalanced(to);
  });

  test('many at once from few deposits: none uses what another one does, and all arrive', async () => {
    const account = await accountWith(fixture, ['0.2', '0.2', '0.2']);
    const to = fixture.newAddress();
    const sent = await sendAll(Array.from({ length: 8 }, () => [account, to, '0.01']));
    expect(sent.map(({ status }) => status)).toEqual(Array(8).fill('CONFIRMED'));
    expect(new Set(sent.map(({ tx_hash: hash }) => hash as string)).size).toBe(8);
    expect(await node().balanceOf(to)).toBe(atomic('0.08'));
    await isBalanced(account);
    expect(await ledgerDifferences()).toEqual([]);
  });

  describe('refused at once, with nothing locked:', () => {
    let account: Account;
    beforeAll(async () => {
      account = await accountWith(fixture, ['0.3']);
    });
    afterAll(async () => expect(await balanceOf(account)).toEqual({ balance: coins('0.3'), locked_balance: '0' }));

    test('what the balance does not cover, alone or with the fee', async () => {
      const insufficient = [400, 'insufficient_balance'];
      expect(await refusal(account, fixture.newAddress(), '0.300001')).toEqual(insufficient);
      expect(await refusal(account, fixture.newAddress(), '0.3')).toEqual(insufficient);
    });

    test('what is no address of the chain', async () => {
      for (const [problem, text] of fixture.invalidAddresses)
        expect([problem, ...(await refusal(account, text, '0.01'))]).toEqual([problem, 400, 'invalid_address']);
    });

    test('the account itself, in any spelling', async () => {
      for (const to of [account.address, ...fixture.spellings(account.address)])
        expect([to, ...(await refusal(account, to, '0.01'))]).toEqual([to, 400, 'invalid_parameter']);
    });

    test('a blacklisted address, in any spelling', async () => {
      const to = fixture.newAddress();
      const { family } = loadRegistry('local', [chain]).get(chain);
      await gatewayQuery(
        `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, added_by)
         select gen_random_uuid(), a.client_id, 'BLACKLIST', $1, $2, $3, u.user_id
           from accounts a join users u using (client_id) where a.account_id = $4 limit 1`,
        [chain, to, getFamily(family).parseAddress(to)?.key, account.account_id],
      );
      for (const spelled of [to, ...fixture.spellings(to)])
        expect([spelled, ...(await refusal(account, spelled, '0.01'))]).toEqual([spelled, 403, 'address_blacklisted']);
    });
  });
});
