import { address, generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { associatedTokenAddress } from '../../../dev/solana/addresses';
import { programs } from '../../../dev/solana/parameters';
import { createAssociated, sol, TestChain, transferSol, transferToken, unitPrice, usdc } from '../../solana-chain';
import { throughProgram } from '../../solana-program';
import { throughTable } from '../../solana-table';

let chain: TestChain;
let alice: KeyPairSigner;
let bob: KeyPairSigner;

beforeEach(async () => {
  chain = await TestChain.start({ confirmed: 1, finalized: 2, skipEvery: 0 });
  alice = await chain.funded(sol(10), 50_000_000n);
  bob = await generateKeyPairSigner();
});
afterEach(() => TestChain.stopAll());

const withVersion = { maxSupportedTransactionVersion: 0, encoding: 'json' } as const;

/** In a block, which is finalized. */
async function included(...[instructions, version]: [Parameters<TestChain['sign']>[1], ('legacy' | 0)?]) {
  const signed = await chain.sign(alice, instructions, undefined, version);
  await chain.send(signed);
  await chain.mine(3);
  const found = await chain.rpc.getTransaction(signed.id, withVersion).send();
  if (!found?.meta) throw new Error('not in a block');
  return { ...signed, ...found, meta: found.meta };
}

describe('a transaction', () => {
  test('of SOL: balances before and after, fee, logs', async () => {
    const before = await chain.balance(alice.address);
    const { meta, transaction, slot } = await included([transferSol(alice.address, bob.address, sol(1)), unitPrice(1_000_000n)]);
    // two instructions of built-in programs, 3,000 units each
    const fee = 5_000n + 6_000n;
    expect(meta).toMatchObject({ err: null, fee, logMessages: expect.arrayContaining([`Program ${programs.system} success`]) });
    expect(transaction.message.accountKeys).toEqual([alice.address, bob.address, programs.system, programs.computeBudget]);
    expect(meta.preBalances.slice(0, 2)).toEqual([before, 0n]);
    expect(meta.postBalances.slice(0, 2)).toEqual([before - sol(1) - fee, sol(1)]);
    expect(meta.preTokenBalances).toEqual([]);
    const fees = await chain.rpc.getRecentPrioritizationFees([alice.address]).send();
    expect(fees.find((entry) => entry.slot === slot)?.prioritizationFee).toBe(1_000_000n);
    expect(fees.at(-1)?.prioritizationFee).toBe(0n);
  });

  test('of a token: token balances, inner instructions of the account that is created', async () => {
    const create = await createAssociated(alice.address, bob.address);
    const { meta, transaction, slot } = await included([create, await transferToken(alice.address, bob.address, 7_000_000n)]);
    const account = await associatedTokenAddress(bob.address, usdc, programs.token);
    const accountIndex = transaction.message.accountKeys.indexOf(account);
    expect(meta.preTokenBalances?.map(({ uiTokenAmount }) => uiTokenAmount.amount)).toEqual(['50000000']);
    expect(meta.postTokenBalances?.find((entry) => entry.accountIndex === accountIndex)).toEqual({
      ...{ accountIndex, mint: usdc, owner: bob.address, programId: programs.token },
      uiTokenAmount: { amount: '7000000', decimals: 6, uiAmount: 7, uiAmountString: '7' },
    });
    const [inner] = meta.innerInstructions ?? [];
    expect(inner?.index).toBe(0);
    expect(inner?.instructions.length).toBeGreaterThan(2);
    const block = await chain.rpc.getBlock(slot, withVersion).send();
    expect(block?.transactions).toHaveLength(1);
    expect(block?.transactions[0]).toMatchObject({ meta, version: 0 });
    const owned = await chain.rpc
      .getTokenAccountsByOwner(bob.address, { mint: address(usdc) }, { encoding: 'jsonParsed' })
      .send();
    expect(owned.value.map((entry) => [entry.pubkey, entry.account.data.parsed.info.tokenAmount.amount])).toEqual([
      [account, '7000000'],
    ]);
    const all = await chain.rpc
      .getTokenAccountsByOwner(alice.address, { programId: address(programs.token) }, { encoding: 'base64' })
      .send();
    expect(all.value).toHaveLength(1);
  });

  test('with a memo: its text is in the logs', async () => {
    const memo = {
      programAddress: address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
      data: new Uint8Array(Buffer.from('note 7')),
    };
    const { meta } = await included([transferSol(alice.address, bob.address, sol(1)), memo]);
    expect(meta.err).toBeNull();
    expect(meta.logMessages?.join()).toContain('note 7');
  });

  test('of a Token-2022 token', async () => {
    const mint = (await generateKeyPairSigner()).address;
    const { value } = await chain.rpc.getAccountInfo(address(usdc), { encoding: 'base64', commitment: 'processed' }).send();
    const account = { address: mint, lamports: String(sol(1)), data: value?.data[0], owner: programs.token2022 };
    await chain.client.call('account', account);
    await chain.client.fundToken(mint, alice.address, 9n);
    const create = await createAssociated(alice.address, bob.address, mint, programs.token2022);
    const { meta } = await included([create, await transferToken(alice.address, bob.address, 4n, mint, programs.token2022)]);
    expect(meta.err).toBeNull();
    expect(meta.postTokenBalances?.map((entry) => [entry.programId, entry.owner, entry.uiTokenAmount.amount]).sort()).toEqual(
      [
        [programs.token2022, alice.address, '5'],
        [programs.token2022, bob.address, '4'],
      ].sort(),
    );
    const owned = await chain.rpc.getTokenAccountsByOwner(bob.address, { mint }, { encoding: 'jsonParsed' }).send();
    expect(owned.value[0]?.account.data.parsed.info.tokenAmount.amount).toBe('4');
  });

  test('that fails is in its block and has paid', async () => {
    const before = await chain.balance(alice.address);
    const { meta, id } = await included([transferSol(alice.address, bob.address, sol(1_000))]);
    expect(meta.err).toEqual({ InstructionError: [0n, { Custom: 1n }] });
    expect(meta.logMessages).toContain(`Program ${programs.system} failed: custom program error: 0x1`);
    expect(await chain.balance(alice.address)).toBe(before - 5_000n);
    expect((await chain.status(id))?.err).toEqual(meta.err);
  });

  test('that leaves an account below rent fails', async () => {
    const { meta } = await included([transferSol(alice.address, bob.address, 10n)]);
    expect(meta.err).toEqual({ InsufficientFundsForRent: { account_index: 1n } });
    const least = await chain.rpc.getMinimumBalanceForRentExemption(0n).send();
    expect((await included([transferSol(alice.address, bob.address, least)])).meta.err).toBeNull();
  });

  test('with a lookup table: its addresses follow the static ones', async () => {
    const { meta, transaction } = await included(await throughTable(chain, [transferSol(alice.address, bob.address, sol(1))]));
    expect(meta.err).toBeNull();
    expect(meta.loadedAddresses).toEqual({ writable: [bob.address], readonly: [] });
    expect(transaction.message.accountKeys).not.toContain(bob.address);
    expect(meta.postBalances[transaction.message.accountKeys.length]).toBe(sol(1));
  });

  test('to a program that calls another one: what that does is shown too', async () => {
    const { meta, transaction } = await included([await throughProgram(chain, transferSol(alice.address, bob.address, sol(1)))]);
    expect(meta.err).toBeNull();
    const keys = transaction.message.accountKeys as readonly string[];
    const [from, to, program] = [alice.address, bob.address, programs.system].map((key) => keys.indexOf(key));
    expect(meta.innerInstructions).toMatchObject([
      { index: 0, instructions: [{ programIdIndex: program, accounts: [from, to], stackHeight: 2 }] },
    ]);
    expect(meta.postBalances[to ?? -1]).toBe(sol(1));
  });
});

test('a version that the client does not name is refused, legacy is not', async () => {
  const { id, slot } = await included([transferSol(alice.address, bob.address, sol(1))]);
  const unsupported = { context: { __code: -32015 } };
  await expect(chain.rpc.getTransaction(id, { encoding: 'json' }).send()).rejects.toMatchObject(unsupported);
  await expect(chain.rpc.getBlock(slot).send()).rejects.toMatchObject(unsupported);
  const legacy = await included([transferSol(alice.address, bob.address, sol(1))], 'legacy');
  expect((await chain.rpc.getTransaction(legacy.id, { encoding: 'json' }).send())?.slot).toBe(legacy.slot);
  expect(legacy).toMatchObject({ version: 'legacy' });
});

describe('blocks', () => {
  test('skipped slots are left out and have a code of their own', async () => {
    const first = await chain.rpc.getSlot({ commitment: 'processed' }).send();
    await chain.client.call('skip', { slots: 2 });
    await chain.mine(4);
    const blocks = (commitment: 'confirmed' | 'finalized') => chain.rpc.getBlocks(first, first + 10n, { commitment }).send();
    expect(await blocks('finalized')).toEqual([first, first + 3n, first + 4n]);
    expect(await blocks('confirmed')).toEqual([first, first + 3n, first + 4n, first + 5n]);
    await expect(chain.rpc.getBlock(first + 1n, withVersion).send()).rejects.toMatchObject({ context: { __code: -32007 } });
    await expect(chain.rpc.getBlock(first + 6n, withVersion).send()).rejects.toMatchObject({ context: { __code: -32004 } });
    const begin = await chain.rpc.getFirstAvailableBlock().send();
    await expect(chain.rpc.getBlock(begin - 1n, withVersion).send()).rejects.toMatchObject({ context: { __code: -32001 } });
    const after = await chain.rpc.getBlock(first + 3n, withVersion).send();
    const before = await chain.rpc.getBlock(first, withVersion).send();
    expect(after).toMatchObject({ parentSlot: first, previousBlockhash: before?.blockhash });
    expect(after?.blockHeight).toBe((before?.blockHeight ?? 0n) + 1n);
  });

  test('what is only processed is no block', async () => {
    const request = chain.rpc.getBlock(1n, { ...withVersion, commitment: 'processed' });
    await expect(request.send()).rejects.toMatchObject({ context: { __code: -32602 } });
  });
});

describe('simulation', () => {
  test('tells units, logs and accounts, and changes nothing', async () => {
    const { wire } = await chain.sign(alice, [transferSol(alice.address, bob.address, sol(1))]);
    const config = { encoding: 'base64', commitment: 'processed', innerInstructions: true } as const;
    const accounts = { addresses: [bob.address], encoding: 'base64' } as const;
    const { value } = await chain.rpc.simulateTransaction(wire, { ...config, accounts, sigVerify: true }).send();
    expect(value).toMatchObject({ err: null, unitsConsumed: 150n, innerInstructions: [] });
    expect(value.accounts?.[0]?.lamports).toBe(sol(1));
    expect(await chain.balance(bob.address)).toBe(0n);
  });

  test('is made on the state of the commitment', async () => {
    const { wire } = await chain.sign(alice, [transferSol(alice.address, bob.address, sol(1))]);
    const on = async (commitment: 'processed' | 'finalized') =>
      (await chain.rpc.simulateTransaction(wire, { encoding: 'base64', commitment, replaceRecentBlockhash: true }).send()).value;
    expect((await on('processed')).err).toBeNull();
    await chain.mine(2);
    const carol = await chain.funded(sol(5));
    const early = await chain.sign(carol, [transferSol(carol.address, bob.address, sol(1))]);
    const config = { encoding: 'base64', commitment: 'finalized', replaceRecentBlockhash: true } as const;
    expect((await chain.rpc.simulateTransaction(early.wire, config).send()).value.err).toBe('AccountNotFound');
    await chain.mine(2);
    expect((await chain.rpc.simulateTransaction(early.wire, config).send()).value.err).toBeNull();
  });

  test('refuses what is wrongly signed; without it nothing happens', async () => {
    const { wire } = await chain.sign(alice, [transferSol(alice.address, bob.address, sol(1))]);
    const altered = Buffer.from(wire, 'base64');
    altered[5] = (altered[5] ?? 0) ^ 1;
    const wrong = { wire: altered.toString('base64') as typeof wire };
    await expect(chain.sendChecked(wrong)).rejects.toMatchObject({ context: { __code: -32003 } });
    const unsigned = Buffer.from(wire, 'base64').fill(0, 1, 65);
    await expect(chain.sendChecked({ wire: unsigned.toString('base64') as typeof wire })).rejects.toMatchObject({
      context: { __code: -32003 },
    });
    await chain.send(wrong);
    await chain.mine();
    expect(await chain.balance(bob.address)).toBe(0n);
    await expect(chain.send({ wire: 'AAAA' as typeof wire })).rejects.toMatchObject({ context: { __code: -32602 } });
  });
});

test('fees of a message, while its blockhash is good', async () => {
  const { wire } = await chain.sign(alice, [transferSol(alice.address, bob.address, 1n), unitPrice(1_000_000n)]);
  const message = Buffer.from(wire, 'base64').subarray(65).toString('base64');
  const ask = async () => (await chain.rpc.getFeeForMessage(message as never, { commitment: 'processed' }).send()).value;
  expect(await ask()).toBe(11_000n);
  await chain.mine(151);
  expect(await ask()).toBeNull();
});

test('accounts by their addresses', async () => {
  const associated = await associatedTokenAddress(alice.address, usdc, programs.token);
  const keys = [alice.address, associated, bob.address];
  const config = { encoding: 'base64', commitment: 'processed' } as const;
  const { value } = await chain.rpc.getMultipleAccounts(keys, config).send();
  expect(value.map((account) => account?.owner)).toEqual([programs.system, programs.token, undefined]);
  expect(value[1]).toMatchObject({ space: 165n, lamports: await chain.rpc.getMinimumBalanceForRentExemption(165n).send() });
  expect((await chain.rpc.getAccountInfo(associated, config).send()).value).toEqual(value[1]);
  const parsed = await chain.rpc.getAccountInfo(address(usdc), { ...config, encoding: 'jsonParsed' }).send();
  expect(parsed.value?.data).toMatchObject({ parsed: { type: 'mint', info: { decimals: 6, supply: '50000000' } } });
  expect((await chain.rpc.getTokenAccountBalance(associated, config).send()).value.uiAmountString).toBe('50');
});

test('what is no request, or unknown, is answered with its code', async () => {
  const post = async (body: string) => {
    const response = await fetch(chain.local.url, { method: 'POST', body });
    return await response.json();
  };
  const error = (code: number) => ({ error: expect.objectContaining({ code }) });
  expect(await post('{')).toMatchObject(error(-32_700));
  expect(await post('{}')).toMatchObject(error(-32_600));
  const request = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params });
  const batch = [
    request('getHealth'),
    request('toString'),
    request('getBalance', 'T'),
    request('getSlot', { minContextSlot: 1e12 }),
  ];
  expect(await post(JSON.stringify(batch))).toMatchObject([
    { result: 'ok', id: 1 },
    error(-32_601),
    error(-32_602),
    error(-32_016),
  ]);
});

describe('an endpoint of its own', () => {
  const lie = (name: string) => chain.client.call('endpoint', { name: 'bad', lie: name });
  const bad = () => chain.at('bad');

  test('lies while others do not', async () => {
    const { id, slot } = await included([transferSol(alice.address, bob.address, sol(1))]);
    await lie('absent');
    expect(await chain.status(id, bad())).toBeNull();
    expect(await bad().getTransaction(id, withVersion).send()).toBeNull();
    expect((await bad().getBlock(slot, withVersion).send())?.transactions).toEqual([]);
    await lie('skipped');
    await expect(bad().getBlock(slot, withVersion).send()).rejects.toMatchObject({ context: { __code: -32007 } });
    await lie('failed');
    expect((await chain.status(id, bad()))?.err).toEqual({ InstructionError: [0n, { Custom: 1n }] });
    await lie('amount');
    expect((await bad().getBalance(bob.address).send()).value).toBe(sol(10));
    await lie('height');
    const height = (rpc: typeof chain.rpc) => rpc.getBlockHeight({ commitment: 'finalized' }).send();
    expect(await height(bad())).toBe((await height(chain.rpc)) + 1_000n);
    await lie('finalized');
    expect(await height(bad())).toBe((await height(chain.rpc)) + 2n);
    await lie('hashes');
    expect((await bad().getLatestBlockhash().send()).value).not.toEqual((await chain.rpc.getLatestBlockhash().send()).value);
    expect((await chain.status(id))?.confirmationStatus).toBe('finalized');
    await chain.client.call('heal');
    expect((await chain.status(id, bad()))?.confirmationStatus).toBe('finalized');
  });

  test('stands still, is down or asked too often', async () => {
    await chain.client.call('endpoint', { name: 'bad', stopped: true });
    const before = await bad().getBlockHeight().send();
    await chain.mine(3);
    expect(await bad().getBlockHeight().send()).toBe(before);
    await chain.client.call('endpoint', { name: 'bad', stopped: false, requestsPerSecond: 0 });
    await expect(bad().getBlockHeight().send()).rejects.toMatchObject({ context: { statusCode: 429 } });
    await chain.client.call('endpoint', { name: 'bad', down: true });
    await expect(bad().getBlockHeight().send()).rejects.toThrow();
    expect(await chain.rpc.getHealth().send()).toBe('ok');
  });
});
