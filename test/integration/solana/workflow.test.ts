import type { Signature } from '@solana/kit';
import { associatedTokenAddress } from '../../../dev/solana/addresses';
import { programs } from '../../../dev/solana/parameters';
import type { Hex } from '../../../src/chains/types';
import { verifyLedger } from '../../../src/ledger/verify';
import { retryUpdate } from '../../../src/messages/transfer';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { solanaFixture } from '../../families/solana';
import { solanaCodec } from '../../solana';
import { sol, usdc } from '../../solana-chain';
import { type Changes, ServedChain, until } from '../transfers/served';
import { createSolanaFixture, type SolanaFixture } from './fixture';

jest.setTimeout(120_000);

/** What no other family has, from the request to its end on the chain. */

const tokens = 20_000_000n;
/** Lamports that a token account of the Token program has to have. */
const tokenRent = 2_039_280n;
const served = new ServedChain<SolanaFixture>(async () => {
  const created = await createSolanaFixture();
  await created.send(created.alice, sol(2));
  await created.send(created.alice, tokens, 'USDC');
  await created.mine(created.chain.confirmations);
  await created.follow();
  return created;
});
let fixture: SolanaFixture;
let to: string;
beforeEach(() => {
  fixture = served.fixture;
  to = solanaFixture.newAddress();
});

type Request = Parameters<typeof served.submit>[0];
const submit = (changes: Request = {}) => served.submit({ tokenSymbol: 'SOL', amount: '0.5', toAddress: to, ...changes });
const kinds = async (txId: string) => (await fixture.attempts(txId)).map(({ kind }) => kind);
const askChain = (txId: string) =>
  served.client.workflow
    .getHandle(transferWorkflowId(txId))
    .executeUpdate(retryUpdate)
    .catch(() => undefined);
const tokensOf = async (owner: string) => {
  const account = await associatedTokenAddress(owner, usdc, programs.token);
  const { value } = await fixture.solana.rpc.getTokenAccountBalance(account, { commitment: 'processed' }).send();
  return BigInt(value.amount);
};
const booksAgree = async () => {
  const { alice, balance, solana, database } = fixture;
  expect(await balance(alice, 'SOL')).toEqual({ available: await solana.balance(alice.address), locked: 0n });
  expect(await balance(alice, 'USDC')).toEqual({ available: await tokensOf(alice.address), locked: 0n });
  expect(await verifyLedger(database.manager)).toEqual([]);
};
const endsAsked = (txId: string, as: string) =>
  until(`${txId} is ${as}`, async () => {
    await fixture.mine();
    await fixture.follow();
    await askChain(txId);
    return (await served.status(txId)) === as;
  });
/** So many blocks that what was signed can be in none of the later ones, and that this is final. */
const expire = () => fixture.mine(165);
/** The node accepts the first sending, and nobody else hears of it. */
const serveWithLostSending = (more: Changes = {}) => {
  let isFirst = true;
  return served.serve({
    ...more,
    chain: {
      broadcast: async (input) => {
        if (isFirst) await fixture.local.call('drop', { count: 1 });
        isFirst = false;
        return fixture.onChain.broadcast(input);
      },
    },
  });
};
const submitted = (txId: string) => until('SUBMITTED', async () => (await served.status(txId)) === 'SUBMITTED');

test('a token to somebody who has none of it: the account is created, and its rent is in the bound and in the fee', async () => {
  await served.serve();
  const pay = async () => {
    const txId = await submit({ tokenSymbol: 'USDC', amount: '7.5' });
    const bound = (await fixture.transaction(txId)).fee_locked;
    expect(BigInt(String(bound))).toBeGreaterThanOrEqual(tokenRent + 5_000n);
    await endsAsked(txId, 'CONFIRMED');
    return BigInt(String((await fixture.transaction(txId)).fee));
  };
  const [first, second] = [await pay(), await pay()];
  expect(await tokensOf(to)).toBe(15_000_000n);
  expect(first).toBeGreaterThan(tokenRent + 5_000n);
  expect(second).toBeGreaterThan(5_000n);
  expect(second).toBeLessThan(tokenRent);
  await booksAgree();
});

test('lost, and expired: reissued once that is proven, and the money moves once', async () => {
  await serveWithLostSending();
  const txId = await submit();
  await submitted(txId);
  await expire();
  await endsAsked(txId, 'CONFIRMED');
  expect(await kinds(txId)).toEqual(['first', 'reissue']);
  const [first] = await fixture.attempts(txId);
  expect(first?.impossible_proof).toMatchObject({ end_slot: expect.any(Number) });
  expect(await fixture.solana.balance(to)).toBe(sol(0.5));
  await booksAgree();
});

test('lost, and expired a day after it was begun: it fails by that proof, nothing stays locked, and nothing is paid', async () => {
  await serveWithLostSending();
  const txId = await submit();
  await submitted(txId);
  // a day passes, which no process may write
  await fixture.database.query(`set local session_replication_role = replica;
    update transactions set signing_begun_at = signing_begun_at - interval '25 hours'`);
  await expire();
  await endsAsked(txId, 'FAILED');
  expect(await kinds(txId)).toEqual(['first']);
  expect(await fixture.attempts(txId)).toMatchObject([{ impossible_proof: { end_slot: expect.any(Number) as number } }]);
  expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'expired', fee: null });
  expect(await fixture.solana.balance(to)).toBe(0n);
  await booksAgree();
});

test.each(['SOL', 'USDC'])(
  'a payment of %s has its memo on the chain only where the client asks for that',
  async (tokenSymbol) => {
    await served.serve();
    const memo = 'Rechnung 42 ✓';
    const pay = async (memoOnChain: boolean): Promise<string[]> => {
      const txId = await submit({ tokenSymbol, memo, memoOnChain });
      await endsAsked(txId, 'CONFIRMED');
      const { tx_hash: id } = await fixture.transaction(txId);
      const options = { commitment: 'finalized', encoding: 'json', maxSupportedTransactionVersion: 0 } as const;
      const shown = await fixture.solana.rpc.getTransaction(id as Signature, options).send();
      return (shown?.meta?.logMessages ?? []).filter((line) => line.includes(memo));
    };
    expect(await pay(true)).toHaveLength(1);
    expect(await pay(false)).toEqual([]);
    await booksAgree();
  },
);

test('a peer sends the same message with a signature that the gateway has never seen: found, and settled once', async () => {
  await serveWithLostSending();
  const txId = await submit();
  await submitted(txId);
  const { alice, solana, signatures } = fixture;
  const [attempt] = await fixture.attempts(txId);
  const unsigned = attempt?.unsigned as Hex;
  const other = solanaCodec.assemble(unsigned, signatures(unsigned, alice.address, { isRandom: true }), alice.address);
  expect(other.id).not.toBe(attempt?.tx_hash);
  const wire = Buffer.from(other.bytes.slice(2), 'hex').toString('base64') as Parameters<typeof solana.send>[0]['wire'];
  await solana.send({ wire });
  await fixture.mine();
  // whoever looks for the gateway's own id finds nothing
  await expire();
  await endsAsked(txId, 'CONFIRMED');
  expect(await kinds(txId)).toEqual(['first']);
  expect(await fixture.transaction(txId)).toMatchObject({ tx_hash: other.id });
  expect(await solana.balance(to)).toBe(sol(0.5));
  await booksAgree();
});

describe('refused by what the chain says before anything is signed: FAILED, and nothing stays locked', () => {
  const fails = async (changes: Request, message: RegExp) => {
    await served.serve();
    const txId = await submit(changes);
    await until('FAILED', async () => (await served.status(txId)) === 'FAILED');
    const { failure_code: code, failure_message: text } = await fixture.transaction(txId);
    expect([code, text]).toEqual(['would_revert', expect.stringMatching(message)]);
    expect(await kinds(txId)).toEqual([]);
    await booksAgree();
  };

  test('what would leave less than an account has to have', () => fails({ amount: '1.9995' }, /890880 lamports would be left/));

  test('less than an account has to have, for a recipient that is new to the chain', () =>
    fails({ amount: '0.00089087' }, /has to get 890880 lamports/));

  test('a token account as the recipient, even where programs are allowed: its owner is to be named', async () => {
    const owner = solanaFixture.newAddress();
    await fixture.send({ address: owner }, 1_000_000n, 'USDC');
    await fixture.mine();
    const toAddress = await associatedTokenAddress(owner, usdc, programs.token);
    await fails({ toAddress, allowsProgram: true }, /a token account or a token: name the wallet that owns it/);
  });

  test('an account of a program whose address has a key', async () => {
    await fixture.local.call('account', { address: to, lamports: String(sol(1)), data: 'AAAA', owner: programs.associatedToken });
    await fixture.mine();
    await fails({}, /an account of a program/);
  });
});

describe('an address of a program, which no key belongs to', () => {
  const derived = () => associatedTokenAddress(to, to, programs.associatedToken);

  test('is refused at once, with nothing locked', async () => {
    const toAddress = await derived();
    for (const tokenSymbol of ['SOL', 'USDC'])
      await expect(submit({ toAddress, tokenSymbol })).rejects.toMatchObject({
        code: 'business_error',
        message: expect.stringContaining('allow_program_address'),
      });
    await booksAgree();
  });

  test('is paid where the client says so', async () => {
    const toAddress = await derived();
    await served.serve();
    const [coins, token] = [
      await submit({ toAddress, allowsProgram: true }),
      await submit({ toAddress, tokenSymbol: 'USDC', amount: '3', allowsProgram: true }),
    ];
    await endsAsked(coins, 'CONFIRMED');
    await endsAsked(token, 'CONFIRMED');
    expect(await fixture.solana.balance(toAddress)).toBe(sol(0.5));
    expect(await tokensOf(toAddress)).toBe(3_000_000n);
    await booksAgree();
  });

  test('cannot be allowed later', async () => {
    const txId = await submit();
    await expect(
      fixture.database.query('update transactions set allow_program_address = true where tx_id = $1', [txId]),
    ).rejects.toThrow('cannot change');
  });
});
