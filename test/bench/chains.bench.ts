import { BitcoinDevNode } from '../../dev/bitcoin';
import { parseRawTransaction } from '../../src/chains/bitcoin/block';
import { createRpcCall } from '../../src/chains/bitcoin/rpc';
import { fixtures, isInStack } from '../families';
import { bitcoinFixture } from '../families/bitcoin';
import type { FamilyFixture } from '../families/fixture';
import { tronFixture } from '../families/tron';
import { accountWith, balances, call, newAccount, transactionWhen, type Account } from '../e2e/support';
import { stack, waitFor } from '../stack/client';
import { load, percentiles, round } from './load';
import { idleShare, measureProcessor } from './stack-processor';

/** Loads are bounded in count; numbers are printed, not judged: machines are noisy. The baseline is in the same run. */
const count = 12;
const inFlight = 4;

interface Case {
  fixture: FamilyFixture;
  account: Account;
  amount: string;
  /** Of each transaction, on chains that have inputs. */
  inputs?: number;
}

async function measure(
  { fixture: { chain, symbol, newAddress }, account, amount, inputs }: Case,
  idle?: Awaited<ReturnType<typeof idleShare>>,
) {
  const [accept, confirm]: [number[], number[]] = [[], []];
  const hashes: string[] = [];
  const processor = measureProcessor(idle);
  await load(count, inFlight, async () => {
    const body = { from_address: account.address, to_address: newAddress(), chain, token_symbol: symbol, amount };
    const start = performance.now();
    const accepted = await call('POST', '/transfer', { body });
    accept.push(performance.now() - start);
    if (accepted.status !== 202) throw new Error(`${accepted.status} ${JSON.stringify(accepted.body)}`);
    const ended = await transactionWhen(accepted.body.tx_id as string, ['CONFIRMED'], 180_000);
    confirm.push(performance.now() - start);
    hashes.push(ended.tx_hash as string);
  });
  const cpu = processor(count);
  if (inputs !== undefined) for (const hash of hashes) expect(await inputsOf(hash)).toBe(inputs);
  return {
    ...{ chain, ...(inputs !== undefined && { inputs }), transfers: count, in_flight: inFlight },
    ...{ accept_ms: percentiles(accept), confirm_ms: percentiles(confirm) },
    cpu_ms: cpu,
  };
}

const rpc = () => stack().chains[bitcoinFixture.chain]?.rpc ?? '';
const inputsOf = async (id: string): Promise<number> =>
  parseRawTransaction(Buffer.from(await createRpcCall(rpc())<string>('getrawtransaction', [id, 0]), 'hex')).inputs.length;

/** Satoshis of each output of an account whose transfers are to spend several. */
const outputAmount = 100_000n;

/** An account with so many outputs that each transfer of the case spends this many of them, and none of another one's change. */
async function withInputs(inputs: number): Promise<Case> {
  const account = await newAccount(bitcoinFixture.chain);
  const node = new BitcoinDevNode(rpc());
  // the faucet spends a mined output for each
  await node.mine(inputs * count);
  for (let sent = 0; sent < inputs * count; sent += 1) await node.send(account.address, outputAmount);
  const expected = Number(outputAmount) * inputs * count;
  const balance = async () => (await balances(account.account_id, bitcoinFixture.chain)).BTC?.balance ?? '0';
  await waitFor(async () => Math.round(Number(await balance()) * 1e8) === expected, { timeoutMs: 120_000 });
  const amount = Number(outputAmount) * (inputs - 0.5);
  return { fixture: bitcoinFixture, account, amount: (amount / 1e8).toFixed(8), inputs };
}

test('a transfer on every family, accepted and confirmed', async () => {
  const [baseline] = fixtures as [FamilyFixture];
  const cases: Case[] = [{ fixture: baseline, account: await accountWith(baseline, ['5']), amount: '0.001' }];
  if (isInStack(bitcoinFixture)) for (const inputs of [1, 1, 5, 20]) cases.push(await withInputs(inputs));
  if (isInStack(tronFixture))
    cases.push({ fixture: tronFixture, account: await accountWith(tronFixture, ['2']), amount: tronFixture.amount('0.001') });
  // what runs for the first time is slower
  for (const one of [cases[0], ...cases.splice(1, 1)]) if (one) await measure(one);
  const idle = await idleShare();
  let first: Awaited<ReturnType<typeof measure>> | undefined;
  for (const one of cases) {
    const measured = await measure(one, idle);
    first ??= measured;
    const toBaseline = round(measured.cpu_ms.all / first.cpu_ms.all);
    process.stdout.write(
      `${JSON.stringify({ bench: 'chains', ...measured, baseline: first.chain, cpu_to_baseline: toBaseline })}\n`,
    );
  }
}, 1_200_000);
