import { ed25519 } from '@noble/curves/ed25519.js';
import { address } from '@solana/kit';
import type { EntityManager } from 'typeorm';
import { encodeAbiParameters, parseAbiParameters } from 'viem';
import { evmCodec } from '../../../src/chains/evm/codec';
import { feesIn } from '../../../src/chains/evm/codec/transaction';
import { toPrepared } from '../../../src/chains/evm/details';
import { toSettlementAction } from '../../../src/chains/settlement-action';
import { toBase58 } from '../../../src/chains/solana/codec/base58';
import { encodeSettlement } from '../../../src/chains/solana/codec/settlement';
import type { ChainDefinition, Hex, JsonObject, TransactionDescription } from '../../../src/chains/types';
import { toPaymentKey } from '../../../src/x402/settlement/claimed';
import { rebuildSettlement } from '../../../src/x402/settlement/rebuild';
import { readPaymentRequest } from '../../../src/x402/wire/request';
import { buildSettlement, deploymentPlan, exactPlan } from '../../evm-settlements';
import { solanaChain, solanaCodec, usdcMint } from '../../solana';
import { transferToken } from '../../solana-chain';
import {
  base,
  change,
  type Changes,
  eip3009V1,
  eip3009V2,
  payer,
  paymentOf,
  permit2Exact,
  permit2Upto,
  registry,
  settler,
  signature,
} from './bodies';
import { bodyOf, chainDefinition, type Holder, limit, memo, offer, price, registry as ofSolana, terms } from './solana/scene';

/** A settlement that is rebuilt from its bytes is known again by whoever asks for the same, and by nobody else. */

interface Row {
  hash: Buffer;
  values: unknown[];
}

/** What is stored of bytes. */
async function rowOf(chain: ChainDefinition, described: TransactionDescription): Promise<Row> {
  const stored: unknown[][] = [];
  const manager = { query: (_: string, values: unknown[]) => Promise.resolve(stored.push(values)) } as unknown as EntityManager;
  await rebuildSettlement(manager, { txId: 't', clientId: 'c' }, { chain, described, feeBound: 7n });
  const [values = []] = stored;
  return { hash: values.find((it) => Buffer.isBuffer(it)) as Buffer, values };
}

const termsHashOf = (body: JsonObject, chains = registry): Buffer | null => {
  const read = readPaymentRequest(body, chains, 'settle');
  if ('reason' in read) throw new Error(read.reason);
  return toPaymentKey(read.request)?.termsHash ?? null;
};

/** The bytes of its settlement on an EVM chain. */
function settled(body: JsonObject): TransactionDescription {
  const payment = paymentOf(body);
  const { payTo, token, amount } = payment;
  const outputs = [{ recipient: payTo, tokenContract: token.contract, amount }];
  const fees = { ...feesIn(buildSettlement(exactPlan)), minedNonce: 0 };
  const intent = { from: settler, outputs, action: toSettlementAction(payment) };
  const prepared = toPrepared(fees, 0n);
  return evmCodec.describe(evmCodec.build({ chain: base, intent, kind: 'first', prepared, resources: ['0'] }));
}

const wrapped = (inner: Hex): Hex =>
  `${encodeAbiParameters(parseAbiParameters('address, bytes, bytes'), [settler as Hex, '0x1234', inner])}${'6492'.repeat(16)}`;

describe.each<[string, () => JsonObject]>([
  ['an authorisation, version 1', eip3009V1],
  ['an authorisation', eip3009V2],
  ['an authorisation whose signature is wrapped', () => change(eip3009V2(), { 'payload.signature': wrapped(signature as Hex) })],
  ['a permit', permit2Exact],
  ['a permit of which everything is taken', permit2Upto],
])('%s', (what, body) => {
  test('is known by its bytes, however it is written and whatever is said beside it', async () => {
    const { hash } = await rowOf(base, settled(body()));
    expect(termsHashOf(body())).toEqual(hash);
    const upper = `0x${payer.slice(2).toUpperCase()}`;
    const isPermit = /permit/.test(what);
    expect(termsHashOf(change(body(), { [isPermit ? 'permit.from' : 'authorization.from']: upper }))).toEqual(hash);
  });

  test('is another one with another field', async () => {
    const { hash } = await rowOf(base, settled(body()));
    const other = `0x${'17'.repeat(20)}`;
    const isPermit = /permit/.test(what);
    const terms = /version 1/.test(what) ? 'required' : 'terms';
    const changes: Changes[] = [
      { [`${terms}.payTo`]: other },
      { 'payload.signature': `0x${'1c'.repeat(65)}` },
      ...(isPermit
        ? [{ 'permit.deadline': '77' }, { 'permit.nonce': '77' }, { 'witness.validAfter': '77' }, { 'permit.spender': other }]
        : [{ 'authorization.validBefore': '77' }, { 'authorization.value': '77' }]),
    ];
    for (const changed of changes) expect({ changed, hash: termsHashOf(change(body(), changed)) }).not.toEqual({ changed, hash });
  });
});

test('what its bytes say beside the payment is stored: a wallet to be created, an allowance, and the highest fee', async () => {
  const [chain] = [{ ...base, caip2: 'eip155:1' }];
  const stored = async (plan: Parameters<typeof buildSettlement>[0]) =>
    (await rowOf(chain, evmCodec.describe(buildSettlement(plan)))).values.slice(-2);
  expect(await stored(exactPlan)).toEqual(['none', '7']);
  expect(await stored(deploymentPlan)).toEqual(['deployment', '7']);
  const permit = { value: '1000', deadline: '1800000060', v: 28, r: `0x${'01'.repeat(32)}`, s: `0x${'02'.repeat(32)}` } as const;
  expect(await stored({ ...exactPlan, permit })).toEqual(['eip2612', '7']);
});

test('bytes that are no settlement are refused with a reason, which gateway reconcile shows', async () => {
  const described = evmCodec.describe(buildSettlement(exactPlan));
  delete described.settlement;
  await expect(rowOf(base, described)).rejects.toMatchObject({ code: 'business_error', message: 'its bytes settle nothing' });
});

test('a transaction of its payer is known by its bytes, and not by who asks for the memo of another order', async () => {
  const holder = (fill: number): Pick<Holder, 'secret' | 'address'> => {
    const secret = new Uint8Array(32).fill(fill);
    return { secret, address: address(toBase58(ed25519.getPublicKey(secret))) };
  };
  const [house, buyer, seller] = [7, 8, 9].map(holder) as [Holder, Holder, Holder];
  const scene = { settler: house, payer: buyer, blockhash: toBase58(Buffer.alloc(32, 5)) };
  const pay = await transferToken(buyer.address, seller.address, 1_000n, usdcMint);
  const transaction = offer(scene, { instructions: [limit(), price(), pay, memo('order-1')] });
  const wallet = Buffer.from(solanaCodec.parseAddress(seller.address)?.key ?? '', 'hex');
  const unsigned = encodeSettlement(Buffer.from(transaction, 'base64'), wallet, 2_000_000_000n);
  const described = solanaCodec.describe(unsigned);
  const { hash } = await rowOf(solanaChain, described);
  const asked = (extra: JsonObject) => {
    const wanted = terms({ seller: seller.address, settler: house }, 2);
    return termsHashOf(bodyOf(2, { transaction }, { ...wanted, extra: { feePayer: house.address, ...extra } }), ofSolana);
  };
  expect([asked({}), asked({ memo: 'order-1' })]).toEqual([hash, hash]);
  expect(asked({ memo: 'order-2' })).toBeNull();

  // built again from what is stored
  const { outputs, settlement } = described;
  const intent = { from: house.address as string, outputs, action: settlement!.action };
  const prepared = solanaCodec.recover(unsigned, 20_000n);
  expect(solanaCodec.build({ chain: chainDefinition, intent, kind: 'first', prepared, resources: [] })).toBe(unsigned);
});
