import { ed25519 } from '@noble/curves/ed25519.js';
import { getCompiledTransactionMessageDecoder, getTransactionDecoder, verifySignature } from '@solana/kit';
import type { Address, SignatureBytes } from '@solana/kit';
import { programs } from '../../../dev/solana/parameters';
import { getFamily } from '../../../src/chains/families';
import { ChainRegistry } from '../../../src/chains/registry';
import { solanaAuthoriser } from '../../../src/chains/solana/authorise/payload';
import { toBase58 } from '../../../src/chains/solana/codec/base58';
import { SolanaChainClient } from '../../../src/chains/solana/client';
import { associatedTokenAccount } from '../../../src/chains/solana/codec/token-account';
import { toBytes } from '../../../src/chains/solana/codec/address';
import type { Hex, TokenDefinition } from '../../../src/chains/types';
import { parsePayment } from '../../../src/x402/sign/request';
import { signMessage, solanaChain, solanaCodec, usdcMint } from '../../solana';
import {
  authorisedOnSolana,
  type AuthorisedOnSolana,
  authorisedPlan,
  buildAuthorisedOnSolana,
  payerSecret,
  secretOf,
} from '../../solana-authorisations';
import { StubNode, systemProgram, tokenAccount } from '../../solana-node';

/** Payments that an account signs for somebody else to pay the fee of, as bytes, and what a resource server and a chain say before. */

const { from, feePayer, payTo } = authorisedOnSolana;
const signed = (unsigned: Hex, secret = payerSecret): Hex =>
  signMessage(solanaCodec.signingPayloads(unsigned, from)[0]?.message as Hex, secret);

test('what is signed is one transfer between the wallets’ own accounts, and somebody else pays for it', async () => {
  const unsigned = buildAuthorisedOnSolana();
  const { id, bytes } = solanaCodec.assemble(unsigned, [signed(unsigned)], from);
  const { messageBytes, signatures } = getTransactionDecoder().decode(Buffer.from(bytes.slice(2), 'hex'));
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
  if (message.version !== 0) throw new Error('the message is of another version');
  const { header, staticAccounts, instructions, lifetimeToken } = message;
  expect(header).toMatchObject({ numSignerAccounts: 2, numReadonlySignerAccounts: 1 });
  expect(lifetimeToken).toBe(authorisedOnSolana.blockhash);
  // the fee payer has not signed, the account has
  expect(Object.entries(signatures).map(([address, it]) => [address, it === null])).toEqual([
    [feePayer, true],
    [from, false],
  ]);
  const key = await crypto.subtle.importKey('raw', Buffer.from(ed25519.getPublicKey(payerSecret)), 'Ed25519', true, ['verify']);
  expect(await verifySignature(key, signatures[from as Address] as SignatureBytes, messageBytes)).toBe(true);
  expect(instructions?.map(({ programAddressIndex }) => staticAccounts[programAddressIndex])).toEqual([
    ...[programs.computeBudget, programs.computeBudget, programs.token],
    'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  ]);
  const account = (owner: string) => toBase58(associatedTokenAccount(toBytes(owner), toBytes(usdcMint), 'token'));
  expect(instructions?.[2]?.accountIndices?.map((index) => staticAccounts[index])).toEqual([
    ...[account(from), usdcMint, account(payTo), from],
  ]);
  const digest = solanaCodec.signingPayloads(unsigned, from)[0]?.digest;
  expect(id).toBe(digest);
  expect(solanaCodec.messageKey(unsigned, from)).toBe(`authorisation:${digest?.slice(2)}`);
});

test('the bytes say all that they were built from', () => {
  const unsigned = buildAuthorisedOnSolana();
  expect(solanaCodec.describe(unsigned)).toEqual({
    ...{ chain: solanaChain.caip2, action: 'authorisation', maxNetworkFee: 0n, expiresAt: 1_800_000_090, resources: [] },
    outputs: [{ recipient: payTo, tokenContract: usdcMint, amount: 1_000n }],
    authorisation: {
      ...{ method: 'transaction', identity: expect.stringMatching(/^[0-9a-f]{64}$/) as string, facilitator: feePayer },
      contract: programs.token,
      action: expect.objectContaining({
        seconds: 90,
        memo: authorisedOnSolana.memo,
        withAllowance: false,
        domain: null,
      }) as object,
    },
  });
  const plan = authorisedPlan(authorisedOnSolana);
  const { action } = solanaCodec.describe(unsigned).authorisation!;
  const rebuilt = { ...plan, intent: { ...plan.intent, action }, prepared: solanaCodec.recover(unsigned, 0n) };
  expect(solanaCodec.build(rebuilt)).toBe(unsigned);
});

test.each<[string, Partial<AuthorisedOnSolana>]>([
  ['the account as who pays the fee', { feePayer: from }],
  ['a fee payer without a key', { feePayer: usdcAccountOf(payTo) }],
  ['a payment to itself', { payTo: from }],
  ['nothing', { amount: 0n }],
  ['more units than a facilitator takes', { units: 400_001 }],
  ['a higher price than a facilitator takes', { price: 50_001n }],
  ['a long memo', { memo: 'x'.repeat(257) }],
  ['an empty memo', { memo: '' }],
  ['no time', { validBefore: 2n ** 62n }],
])('%s is not built', (_, changes) => {
  expect(() => buildAuthorisedOnSolana(changes)).toThrow();
});

function usdcAccountOf(owner: string): string {
  return toBase58(associatedTokenAccount(toBytes(owner), toBytes(usdcMint), 'token'));
}

test('no changed byte gives other bytes of the same payment: they are refused, or another payment', () => {
  const unsigned = buildAuthorisedOnSolana();
  const known = solanaCodec.describe(unsigned);
  for (let at = 2; at < unsigned.length; at += 2) {
    for (const bit of [1, 0x80]) {
      const value = (parseInt(unsigned.slice(at, at + 2), 16) ^ bit).toString(16).padStart(2, '0');
      const changed: Hex = `0x${unsigned.slice(2, at)}${value}${unsigned.slice(at + 2)}`;
      let described: ReturnType<typeof solanaCodec.describe> | null = null;
      try {
        described = solanaCodec.describe(changed);
      } catch {
        continue;
      }
      expect(described).not.toEqual(known);
    }
  }
});

test('another account’s signature is refused, and other accounts do not sign it', () => {
  const unsigned = buildAuthorisedOnSolana();
  expect(() => solanaCodec.assemble(unsigned, [signed(unsigned, secretOf(7))], from)).toThrow(
    'the signature is not of the sender',
  );
  expect(() => solanaCodec.signingPayloads(unsigned, feePayer)).toThrow('of another sender');
});

describe('a resource server asks for it', () => {
  const token: TokenDefinition = { symbol: 'USDC', name: 'USD Coin', decimals: 6, assetType: 'SPL', contract: usdcMint };
  const terms = { scheme: 'exact', payer: from, token, extra: { feePayer }, seconds: 60, takesPermit: false } as const;

  test('with a memo of its own, or a random one; in version 1 with none', () => {
    const memoOf = (version: 1 | 2, extra = {}) => {
      const plan = solanaAuthoriser.plan({ ...terms, version, extra: { feePayer, ...extra } });
      return 'action' in plan ? plan.action.memo : plan;
    };
    expect(memoOf(2, { memo: 'order 7' })).toBe('order 7');
    expect(memoOf(1, { memo: 'order 7' })).toBe('order 7');
    expect(memoOf(2)).toMatch(/^[0-9a-f]{32}$/);
    expect(memoOf(2)).not.toBe(memoOf(2));
    expect(memoOf(1)).toBeUndefined();
  });

  test.each([
    ['scheme', { ...terms, scheme: 'upto' }],
    ['extra.feePayer', { ...terms, extra: {} }],
    ['extra.feePayer', { ...terms, extra: { feePayer: 7 } }],
    ['extra.feePayer', { ...terms, extra: { feePayer: from } }],
    ['extra.feePayer', { ...terms, extra: { feePayer: usdcAccountOf(payTo) } }],
    ['extra.memo', { ...terms, extra: { feePayer, memo: 7 } }],
    ['extra.memo', { ...terms, extra: { feePayer, memo: 'é'.repeat(129) } }],
    ['extra.memo', { ...terms, extra: { feePayer, memo: 'a\0b' } }],
    ['extra.memo', { ...terms, extra: { feePayer, memo: '\ud800' } }],
    ['extra.assetTransferMethod', { ...terms, extra: { feePayer, assetTransferMethod: 'permit2' } }],
  ] as const)('%s is refused', (field, asked) => {
    expect(solanaAuthoriser.plan({ ...asked, version: 2 })).toMatchObject({ field });
  });
});

describe('a request for it', () => {
  const registry = new ChainRegistry([solanaChain]);
  const asked = { txId: 't', clientId: 'c', userId: 'u', requestId: 'r', idempotencyKey: null };
  const requirements = {
    ...{ scheme: 'exact', network: solanaChain.caip2, asset: usdcMint, amount: '1000', payTo, maxTimeoutSeconds: 60 },
    extra: { feePayer },
  };
  const parse = (changes: object, version: 1 | 2 = 2) => {
    const paymentRequirements = { ...requirements, ...changes };
    return parsePayment({ registry, getFamily }, asked, { x402Version: version, payer: from, paymentRequirements });
  };

  test('is for a registered token, in version 1 by the name of the network', () => {
    const parsed = { from: { address: from }, to: { address: payTo }, amount: 1_000n, token: { symbol: 'USDC' } };
    expect(parse({})).toMatchObject({ parsed, action: { facilitator: feePayer } });
    expect(parse({ network: 'solana', maxAmountRequired: '1000' }, 1)).toMatchObject({ parsed, version: 1 });
  });

  test.each([
    ['asset', { asset: usdcMint.toLowerCase() }],
    ['payTo', { payTo: from }],
    ['payTo', { payTo: 'x' }],
    ['extra.feePayer', { extra: { feePayer: from } }],
    ['scheme', { scheme: 'upto' }],
  ])('with another %s is refused', (field, changes) => {
    expect(() => parse(changes)).toThrow(new RegExp(`^paymentRequirements\\.${field.replace('.', '\\.')}:? `));
  });
});

describe('before it is signed, the chain is asked', () => {
  let node: StubNode;
  const mint = (extension: number | null = null): Buffer => {
    const data = Buffer.alloc(extension === null ? 82 : 174);
    [data[44], data[45]] = [6, 1];
    if (extension !== null) data.writeUInt16LE(extension, 166);
    return data;
  };
  const { intent } = authorisedPlan(authorisedOnSolana);
  const prepare = () => new SolanaChainClient(solanaChain, [node.url]).prepare({ kind: 'first', intent, previous: [] });
  beforeEach(async () => {
    node = await StubNode.start();
    node.accounts.set(usdcMint, { lamports: 1, owner: programs.token, data: mint() });
    for (const owner of [from, payTo]) node.accounts.set(usdcAccountOf(owner), tokenAccount(owner));
  });
  afterEach(() => node.stop());

  test('it refers to a final block, costs the account nothing, and has a price of its own', async () => {
    const [one, other] = [await prepare(), await prepare()];
    const { blockhash, slot } = node.head;
    expect(one).toMatchObject({ feeBound: '0', expiry: { blockhash, slot }, details: { units: 20_000 } });
    const left = Number(one.expiry?.valid_before) - Date.now() / 1_000;
    expect(left).toBeGreaterThan(85);
    expect(left).toBeLessThanOrEqual(90);
    const prices = [one, other, await prepare()].map(({ details }) => (details as { price: string }).price);
    expect(new Set(prices).size).toBeGreaterThan(1);
    for (const price of prices) expect(Number(price)).toBeLessThanOrEqual(5_000);
  });

  test('what takes more units has a higher limit', async () => {
    node.simulation = { err: null, unitsConsumed: 30_000 };
    expect(await prepare()).toMatchObject({ details: { units: 36_000 } });
  });

  test.each<[string, (it: StubNode) => void]>([
    ['a recipient without an account for the token', (it) => it.accounts.delete(usdcAccountOf(payTo))],
    [
      'a recipient whose account for the token has lamports alone',
      (it) => it.accounts.set(usdcAccountOf(payTo), { lamports: 1, owner: systemProgram }),
    ],
    [
      'a recipient who has given the account for the token away',
      (it) => it.accounts.set(usdcAccountOf(payTo), tokenAccount(feePayer)),
    ],
    ['an account with nothing of the token', (it) => it.accounts.delete(usdcAccountOf(from))],
    ['a token that keeps a fee', (it) => it.accounts.set(usdcMint, { lamports: 1, owner: programs.token2022, data: mint(1) })],
    ['a token with a hook', (it) => it.accounts.set(usdcMint, { lamports: 1, owner: programs.token2022, data: mint(14) })],
    ['what is no token', (it) => it.accounts.set(usdcMint, { lamports: 1, owner: systemProgram })],
    ['too little of it', (it) => (it.simulation = { err: { InstructionError: [2, { Custom: 1 }] }, unitsConsumed: 5_000 })],
    ['a fee payer without SOL', (it) => (it.simulation = { err: 'AccountNotFound', unitsConsumed: 0 })],
  ])('%s: nobody could carry it out', async (_, change) => {
    change(node);
    await expect(prepare()).rejects.toMatchObject({ code: 'would_revert' });
  });
});
