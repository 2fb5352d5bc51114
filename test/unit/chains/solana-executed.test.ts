import { createHash, randomBytes } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { associatedTokenAddress } from '../../../dev/solana/addresses';
import { type LocalChain, startLocalChain } from '../../../dev/solana/local-chain';
import { programs } from '../../../dev/solana/parameters';
import { LocalChainClient } from '../../../dev/solana/stack';
import type { KnownAttempt } from '../../../src/chains/chain-client';
import { getFamily } from '../../../src/chains/families';
import { getChains } from '../../../src/chains/registry/data';
import { SolanaChainClient } from '../../../src/chains/solana/client';
import type { ChainDefinition, Hex } from '../../../src/chains/types';
import { fromHex, toHex } from '../../../src/platform/hex';

/** What the family builds, executed by a Solana virtual machine. */

const definition = getChains('local').find(({ name }) => name === 'solana') as ChainDefinition;
const family = getFamily(definition.family);
const usdc = definition.tokens.find(({ symbol }) => symbol === 'USDC')?.contract as string;
const sol = 1_000_000_000n;

let local: LocalChain;
let control: LocalChainClient;
let client: SolanaChainClient;

beforeAll(async () => {
  local = await startLocalChain({ isMining: false, confirmed: 2, finalized: 4, skipEvery: 7 });
  control = new LocalChainClient(local.url);
  client = new SolanaChainClient(definition, [`${local.url}?rate=1000`]);
});
afterAll(() => local.stop());

interface Wallet {
  secret: Uint8Array;
  address: string;
}

function newWallet(): Wallet {
  const { secretKey: secret, publicKey } = ed25519.keygen();
  return { secret, address: family.address(publicKey).address };
}

async function funded(): Promise<Wallet> {
  const wallet = newWallet();
  await control.fund(wallet.address, sol);
  await control.fundToken('USDC', wallet.address, 5_000_000n);
  local.chain.mine(5);
  return wallet;
}

/** A signature of RFC 8032 with a nonce of its own, as signers in groups make them: each has another id. */
function sign(message: Uint8Array, secret: Uint8Array): Hex {
  const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(secret);
  const order = ed25519.Point.Fn.ORDER;
  const toNumber = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
  const nonce = (toNumber(randomBytes(64)) % (order - 1n)) + 1n;
  const point = ed25519.Point.BASE.multiply(nonce).toBytes();
  const challenge = toNumber(
    createHash('sha512')
      .update(Buffer.concat([point, pointBytes, message]))
      .digest(),
  );
  const answer = ((nonce + challenge * scalar) % order).toString(16).padStart(64, '0');
  return toHex(Buffer.concat([point, Buffer.from(answer, 'hex').reverse()]));
}

async function prepare(from: Wallet, recipient: string, tokenContract: string | null, amount: bigint, memo?: string) {
  const intent = { from: from.address, outputs: [{ recipient, tokenContract, amount }], ...(memo !== undefined && { memo }) };
  const prepared = await client.prepare({ kind: 'first', intent, previous: [] });
  const unsigned = family.build({ chain: definition, intent, kind: 'first', prepared, resources: [] });
  const signed = () => family.assemble(unsigned, [sign(fromHex(unsigned), from.secret)], from.address);
  const messageKey = family.messageKey(unsigned, from.address);
  const known = (...ids: string[]): KnownAttempt => ({
    ...{ attempt: 1, kind: 'first', intent, unsigned, messageKey, ids },
    ...{ expiry: prepared.expiry, begunAt: new Date() },
  });
  return { prepared, unsigned, signed, known, messageKey };
}

async function pay(...payment: Parameters<typeof prepare>) {
  const made = await prepare(...payment);
  const { id, bytes } = made.signed();
  expect(await client.broadcast(bytes)).toEqual({ outcome: 'accepted' });
  local.chain.mine(5);
  const [status] = await client.status([made.known(id)]);
  return { ...made, id, status };
}

const createsOf = ({ details }: { details: unknown }) => (details as { token: { creates: boolean } | null }).token?.creates;

test('SOL with a memo, and what it cost', async () => {
  const [from, to] = [await funded(), newWallet().address];
  const { status, prepared } = await pay(from, to, null, 10_000_000n, 'invoice 7');
  expect(status).toMatchObject({ state: 'included', effect: { success: true, debited: 10_000_000n, received: 10_000_000n } });
  const fee = status?.state === 'included' ? status.effect.fee : -1n;
  expect(fee).toBe(BigInt(prepared.feeBound));
});

describe.each(['Token', 'Token-2022'])('a token of %s', (program) => {
  let mint = usdc;
  beforeAll(async () => {
    if (program === 'Token') return;
    // the registered token as it is, owned by the other program
    mint = newWallet().address;
    const { lamports, data } = local.chain.svm.get(usdc) as { lamports: bigint; data: Buffer };
    const account = { lamports: String(lamports), data: data.toString('base64'), owner: programs.token2022 };
    await control.call('account', { address: mint, ...account });
  });

  test('to a wallet with a token account: it is named behind the owner; to one without: the account is made', async () => {
    const [from, to] = [await funded(), newWallet().address];
    await control.fundToken(mint, from.address, 5_000_000n);
    local.chain.mine(5);
    const first = await pay(from, to, mint, 1_000_000n, 'first');
    expect(createsOf(first.prepared)).toBe(true);
    expect(first.status).toMatchObject({
      state: 'included',
      effect: { success: true, debited: 1_000_000n, received: 1_000_000n },
    });
    const second = await pay(from, to, mint, 2_000_000n);
    expect(createsOf(second.prepared)).toBe(false);
    expect(second.status).toMatchObject({
      state: 'included',
      effect: { success: true, debited: 2_000_000n, received: 2_000_000n },
    });
    expect(family.describe(second.unsigned).outputs).toEqual([{ recipient: to, tokenContract: mint, amount: 2_000_000n }]);
  });
});

test('lamports where the account of a recipient is to be, from whomever, do not stop a payment: the account is made all the same', async () => {
  const [from, to] = [await funded(), newWallet().address];
  await control.fund(await associatedTokenAddress(to, usdc, programs.token), 1_000_000n);
  local.chain.mine(5);
  const { prepared, status } = await pay(from, to, usdc, 1_000_000n);
  expect(createsOf(prepared)).toBe(true);
  expect(status).toMatchObject({ state: 'included', effect: { success: true, debited: 1_000_000n, received: 1_000_000n } });
  // the rest of the rent
  const fee = status?.state === 'included' ? status.effect.fee : 0n;
  expect(fee).toBeGreaterThan(1_039_280n + 5_000n);
  expect(fee).toBeLessThan(2_039_280n);
});

test('a token account that its wallet has given away, as thieves have their victims do, is not paid', async () => {
  const [from, to, thief] = [await funded(), newWallet(), newWallet()];
  await control.fundToken('USDC', to.address, 1n);
  local.chain.mine(5);
  const account = await associatedTokenAddress(to.address, usdc, programs.token);
  const { data, lamports } = local.chain.svm.get(account) as { data: Buffer; lamports: bigint };
  const given = Buffer.from(data);
  given.set(Buffer.from(family.parseAddress(thief.address)?.key ?? '', 'hex'), 32);
  const changes = { lamports: String(lamports), data: given.toString('base64'), owner: programs.token };
  await control.call('account', { address: account, ...changes });
  local.chain.mine(5);
  await expect(prepare(from, to.address, usdc, 1n)).rejects.toMatchObject({
    ...{ code: 'would_revert', message: expect.stringContaining('belongs to somebody else') as string },
  });
});

test('what a sender may keep, by the fee that is paid, and what somebody new has to get: explained', async () => {
  const from = await funded();
  const to = newWallet().address;
  // the fee is 5,000, and 1,000 units at 14,999 millionths at most
  const [least, highestFee] = [890_880n, 5_015n];
  await prepare(from, to, null, sol - least - highestFee);
  const refused = (text: string) => ({ code: 'would_revert', message: expect.stringContaining(text) });
  await expect(prepare(from, to, null, sol - least)).rejects.toMatchObject(refused('890880 lamports would be left'));
  await prepare(from, to, null, least);
  await expect(prepare(from, to, null, least - 1n)).rejects.toMatchObject(refused('has to get 890880 lamports'));
});

test('a token with other decimals than the registry has is not moved', async () => {
  const from = await funded();
  const tokens = definition.tokens.map((token) => ({ ...token, decimals: 9 }));
  const other = new SolanaChainClient({ ...definition, tokens }, [`${local.url}?rate=1000`]);
  const intent = { from: from.address, outputs: [{ recipient: newWallet().address, tokenContract: usdc, amount: 1n }] };
  await expect(other.prepare({ kind: 'first', intent, previous: [] })).rejects.toMatchObject({ code: 'would_revert' });
});

test('what was dropped is impossible once its life is over, in whatever later block', async () => {
  const from = await funded();
  const made = await prepare(from, newWallet().address, null, 10_000_000n);
  const { id } = made.signed();
  local.chain.mine(150);
  expect((await client.status([made.known(id)]))[0]).toMatchObject({ state: 'absent' });
  expect(await client.proveImpossible(made.unsigned, null)).toBeNull();
  local.chain.mine(40);
  expect((await client.status([made.known(id)]))[0]).toMatchObject({ state: 'impossible' });
  expect(await client.proveImpossible(made.unsigned, null)).toMatchObject({ block: { number: expect.any(Number) as number } });
});

test('a withheld signature that somebody else sends is found by the scan at once, and by the proof', async () => {
  const [from, to] = [await funded(), newWallet().address];
  const made = await prepare(from, to, null, 10_000_000n);
  const [own, other] = [made.signed(), made.signed()];
  expect(own.id).not.toBe(other.id);
  const start = (await client.head()).number;
  await client.broadcast(other.bytes);
  local.chain.mine(1);
  // the same message once more: in no second block
  await client.broadcast(own.bytes);
  local.chain.mine(10);
  const keys = new Set([from.address, to].map((it) => family.parseAddress(it)?.key));
  const { blocks } = await client.scan(start + 1, start + 12, (asked) =>
    Promise.resolve(new Set(asked.filter((key) => keys.has(key)))),
  );
  const found = blocks.flatMap(({ transactions }) => transactions.filter(({ messageKey }) => messageKey === made.messageKey));
  expect(found).toEqual([{ id: other.id, messageKey: made.messageKey }]);
  expect(blocks.flatMap(({ deposits }) => deposits)).toMatchObject([{ txHash: other.id, toAddress: to, amount: 10_000_000n }]);
  expect((await client.status([made.known(own.id, other.id)]))[0]).toMatchObject({ state: 'included', id: other.id });
  local.chain.mine(200);
  expect((await client.status([made.known(own.id)]))[0]).toMatchObject({ state: 'included', id: other.id });
  expect(await client.proveImpossible(made.unsigned, null)).toBeNull();
  expect(createHash('sha256').update(fromHex(made.unsigned)).digest('hex')).toBe(made.messageKey);
});

test('tokens are deposits of their owner', async () => {
  const to = newWallet();
  const start = (await client.head()).number;
  const id = await control.fundToken('USDC', to.address, 7n);
  local.chain.mine(8);
  const { key } = family.parseAddress(to.address) ?? { key: '' };
  const { blocks } = await client.scan(start + 1, start + 20, (asked) =>
    Promise.resolve(new Set(asked.filter((it) => it === key))),
  );
  expect(blocks.flatMap(({ deposits }) => deposits)).toMatchObject([
    { txHash: id, toAddress: to.address, tokenContract: usdc, amount: 7n },
  ]);
});
