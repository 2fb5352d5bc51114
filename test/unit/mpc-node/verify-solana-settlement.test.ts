import { ed25519 } from '@noble/curves/ed25519.js';
import { AccountRole, address, type Address, type Instruction } from '@solana/kit';
import { programs } from '../../../dev/solana/parameters';
import { getFamily } from '../../../src/chains/families';
import { groupPath } from '../../../src/chains/key-protocols';
import { ChainRegistry } from '../../../src/chains/registry';
import { toBase58 } from '../../../src/chains/solana/codec/base58';
import { encodeSettlement } from '../../../src/chains/solana/codec/settlement';
import type { AttemptKind, Hex, SettlementAction } from '../../../src/chains/types';
import type { SigningClaims } from '../../../src/messages/order';
import { verifyIntent } from '../../../src/mpc/verify-intent';
import { houseClientId } from '../../../src/platform/house';
import { orderHead } from '../../orders';
import { solanaChain, solanaCodec, usdcMint } from '../../solana';
import { createAssociated, transferSol, transferToken, unitPrice } from '../../solana-chain';
import { check, type Holder, limit, memo, offer, type Offer, price, withOneSigner } from '../x402/solana/scene';

/** What a node co-signs on Solana: the transaction of a payer, exactly as the specification of the protocol allows it. */

const registry = new ChainRegistry([solanaChain]);
const holder = (fill: number): Pick<Holder, 'secret' | 'address'> => {
  const secret = new Uint8Array(32).fill(fill);
  return { secret, address: address(toBase58(ed25519.getPublicKey(secret))) };
};
const [settler, payer, seller, stranger] = [7, 8, 9, 10].map(holder) as [Holder, Holder, Holder, Holder];
const blockhash = toBase58(Buffer.alloc(32, 5));
const key = { publicKey: ed25519.getPublicKey(settler.secret), chainCode: new Uint8Array() };
const lastSecond = 2_000_000_000n;
const now = () => 1_999_999_950_000;

const pay = (changes: { from?: Address; to?: string; amount?: bigint; mint?: string } = {}): Promise<Instruction> => {
  const { from = payer.address, to = seller.address, amount = 1_000n, mint = usdcMint } = changes;
  return transferToken(from, to, amount, mint);
};
const wire = async (changes: Partial<Offer> = {}): Promise<Buffer> => {
  const instructions = [limit(), price(), await pay(), memo()];
  return Buffer.from(offer({ settler, payer, blockhash }, { instructions, ...changes }), 'base64');
};
const walletOf = ({ address: text }: Pick<Holder, 'address'>): Buffer =>
  Buffer.from(solanaCodec.parseAddress(text)?.key ?? '', 'hex');
const made = (transaction: Buffer, wallet = walletOf(seller), second = lastSecond): Hex => {
  const head = Buffer.alloc(9);
  head.writeBigUInt64LE(second, 1);
  return `0x${Buffer.concat([head, wallet, transaction]).toString('hex')}`;
};

/** The order of an honest authoriser over a payment of 1,000 atomic units of USDC. */
function orderFor(unsigned: Hex, changes: object = {}): SigningClaims {
  const { settlement, outputs, maxNetworkFee, expiresAt } = solanaCodec.describe(unsigned);
  const { method, payer: of, identity, authorised } = settlement!;
  const digests = solanaCodec.signingPayloads(unsigned, settler.address).map(({ digest }) => digest);
  return {
    ...orderHead(),
    ...{ tx_id: 't1', attempt: 1, client_id: houseClientId, request: null, kind: 'settlement', chain: solanaChain.caip2 },
    from: settler.address,
    signers: [{ key_id: 'k.1', path: groupPath, protocol: 'frost-ed25519', digests }],
    recipients: outputs.map(({ recipient, tokenContract: token, amount }) => ({
      address: recipient,
      token,
      amount: `${amount}`,
    })),
    max_fee: maxNetworkFee.toString(),
    settlement: { client_id: 'tenant', method, payer: of, identity, authorised: `${authorised}`, window_end: expiresAt },
    ...changes,
  } as SigningClaims;
}
const verify = (claims: SigningClaims, unsigned: Hex) =>
  verifyIntent(claims, unsigned, { registry, getFamily, keys: new Map([['k.1', key]]), now });

test('a payment that was ordered: the message of the payer is signed, and it costs the house two signatures and the priority fee', async () => {
  const transaction = await wire();
  const unsigned = made(transaction);
  expect(unsigned).toBe(encodeSettlement(transaction, walletOf(seller), lastSecond));
  const { payloads, resources, spends, messageKey } = verify(orderFor(unsigned), unsigned);
  const message = transaction.subarray(129);
  expect(payloads.map(({ message: signed }) => signed && Buffer.from(signed))).toEqual([message]);
  expect(resources).toEqual([`settles solana/${messageKey}/1000`]);
  expect(spends).toMatchObject({ chain: 'solana', amount: 10_001n, fee: 10_001n });
  const signature: Hex = `0x${Buffer.from(ed25519.sign(message, settler.secret)).toString('hex')}`;
  const { id, bytes } = solanaCodec.assemble(unsigned, [signature], settler.address);
  expect(id).toBe(toBase58(Buffer.from(signature.slice(2), 'hex')));
  expect(bytes).toBe(
    `0x${Buffer.concat([transaction.subarray(0, 1), Buffer.from(signature.slice(2), 'hex'), transaction.subarray(65)]).toString('hex')}`,
  );
});

test.each<[string, Partial<Offer>]>([
  ['a legacy message', { version: 'legacy' }],
  ['what a wallet checks', { instructions: [limit(400_000), price(50_000n), memo(), check()] }],
])('%s is signed too', async (_, changes) => {
  const [first, second, ...others] = changes.instructions ?? [limit(), price()];
  const unsigned = made(await wire({ ...changes, instructions: [first!, second!, await pay(), ...others] }));
  expect(() => verify(orderFor(unsigned), unsigned)).not.toThrow();
});

const withInstructions = async (...instructions: Instruction[]) => wire({ instructions });
const flip = (at: number) => (bytes: Buffer) => {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] as number) ^ 1;
  return changed;
};
const withAccount = async (more: Address, role: AccountRole): Promise<Instruction> => {
  const { accounts = [], ...transfer } = await pay();
  return { ...transfer, accounts: [...accounts, { address: more, role }] };
};

test.each<[string, () => Promise<Buffer>]>([
  ['a payer who has not signed', () => wire({ by: [] })],
  [
    'an owner who is no signer',
    async () => {
      const { accounts = [], ...transfer } = await pay();
      const owner = { address: payer.address, role: AccountRole.READONLY };
      return withInstructions(limit(), price(), { ...transfer, accounts: [...accounts.slice(0, 3), owner] });
    },
  ],
  ['the settler as the only signer', () => wire({ changeWire: withOneSigner })],
  ['another signature than the payer’s', () => wire({ by: [{ ...stranger, address: payer.address }] })],
  ['a changed message', () => wire({ changeWire: flip(140) })],
  ['a changed signature', () => wire({ changeWire: flip(70) })],
  ['a signature in the settler’s place', () => wire({ changeWire: flip(1) })],
  [
    'three signers',
    async () =>
      wire({
        instructions: [limit(), price(), await withAccount(stranger.address, AccountRole.READONLY_SIGNER)],
        by: [payer, stranger],
      }),
  ],
  ['money of the settler', async () => withInstructions(limit(), price(), await pay({ from: settler.address }))],
  [
    'the settler among the accounts of the transfer',
    async () => withInstructions(limit(), price(), await withAccount(settler.address, AccountRole.READONLY)),
  ],
  [
    'the settler among the accounts of a memo',
    async () => withInstructions(limit(), price(), await pay(), memo('x', settler.address)),
  ],
  [
    'coins of the settler',
    async () => withInstructions(limit(), price(), await pay(), transferSol(settler.address, stranger.address, 1n)),
  ],
  [
    'coins of the payer',
    async () => withInstructions(limit(), price(), await pay(), transferSol(payer.address, stranger.address, 1n)),
  ],
  ['coins in place of a token', () => withInstructions(limit(), price(), transferSol(payer.address, seller.address, 1_000n))],
  [
    'a token account to be created',
    async () => withInstructions(limit(), price(), await pay(), await createAssociated(payer.address, stranger.address)),
  ],
  ['two transfers', async () => withInstructions(limit(), price(), await pay(), await pay({ to: stranger.address }))],
  ['no transfer', () => withInstructions(limit(), price(), memo())],
  ['too many instructions', async () => withInstructions(limit(), price(), await pay(), memo(), memo(), memo(), memo(), memo())],
  ['more compute units than the cap', async () => withInstructions(limit(400_001), price(), await pay())],
  ['a higher price than the cap', async () => withInstructions(limit(), price(50_001n), await pay())],
  ['a price before the limit', async () => withInstructions(unitPrice(1n), limit(), await pay())],
  ['a transaction without a limit', async () => withInstructions(price(), await pay(), memo())],
  ['a payment of nothing', async () => withInstructions(limit(), price(), await pay({ amount: 0n }))],
  [
    'a payment to another wallet than the bytes name',
    async () => withInstructions(limit(), price(), await pay({ to: stranger.address })),
  ],
  ['a byte behind the transaction', async () => Buffer.concat([await wire(), Buffer.from([0])])],
  ['no transaction', () => Promise.resolve(Buffer.alloc(0))],
])('%s is no settlement', async (_, transaction) => {
  const bytes = await transaction();
  expect(() => solanaCodec.describe(made(bytes))).toThrow();
  expect(() => solanaCodec.signingPayloads(made(bytes), settler.address)).toThrow();
  expect(() => solanaCodec.messageKey(made(bytes), settler.address)).toThrow();
});

test('bytes have one form, and name a wallet and a time that there are', async () => {
  const transaction = await wire();
  const good = made(transaction);
  const bad: Hex[] = [
    good.toUpperCase().replace('0X', '0x') as Hex,
    `0x01${good.slice(4)}`,
    `${good}00`,
    good.slice(0, 80) as Hex,
  ];
  for (const bytes of [...bad, made(transaction, walletOf(stranger)), made(transaction, walletOf(seller), 2n ** 63n)])
    expect(() => solanaCodec.describe(bytes)).toThrow();
  const toSettler = await withInstructions(limit(), price(), await pay({ to: settler.address }));
  expect(() => solanaCodec.describe(made(toSettler, walletOf(settler)))).toThrow(/settler/);
  const toPayer = await withInstructions(limit(), price(), await pay({ to: payer.address }));
  expect(() => solanaCodec.describe(made(toPayer, walletOf(payer)))).toThrow(/payer/);
  const toProgram = Buffer.from(solanaCodec.parseAddress(usdcMint)?.key ?? '', 'hex');
  expect(() => solanaCodec.describe(made(transaction, toProgram))).toThrow();
});

test.each<[string, object | ((claims: SigningClaims) => object)]>([
  ['another recipient', { recipients: [{ address: stranger.address, token: usdcMint, amount: '1000' }] }],
  ['another amount', { recipients: [{ address: seller.address, token: usdcMint, amount: '1001' }] }],
  ['another token', { recipients: [{ address: seller.address, token: stranger.address, amount: '1000' }] }],
  ['another settler', { from: stranger.address }],
  ['a lower fee', { max_fee: '10000' }],
  ['another cluster', { chain: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' }],
  ['a key of a client', { client_id: 'tenant' }],
  ['a transfer', { kind: 'transfer' }],
  ['a reissue', { kind: 'reissue' }],
  ['a gas order', { kind: 'gas' }],
  ...(['payer', 'identity', 'method', 'authorised', 'window_end'] as const).map(
    (field): [string, (claims: SigningClaims) => object] => [
      `another ${field}`,
      (claims) => {
        const value = {
          payer: stranger.address,
          identity: 'aa',
          method: 'eip3009',
          authorised: '999',
          window_end: 1_999_999_999,
        }[field];
        return { settlement: { ...('settlement' in claims ? claims.settlement : {}), [field]: value } };
      },
    ],
  ),
])('an order for %s is not what the bytes do', async (_, changes) => {
  const unsigned = made(await wire());
  const good = orderFor(unsigned);
  expect(() => verify(good, unsigned)).not.toThrow();
  expect(() =>
    verify({ ...good, ...(typeof changes === 'function' ? changes(good) : changes) } as SigningClaims, unsigned),
  ).toThrow();
});

test('a payment that is over, of a token that the registry does not have, or under Token-2022 of another mint is not signed', async () => {
  const over = made(await wire(), walletOf(seller), 1_999_999_949n);
  expect(() => verify(orderFor(over), over)).toThrow(/over/);
  const unknown = made(await withInstructions(limit(), price(), await pay({ mint: stranger.address })));
  expect(() => verify(orderFor(unknown), unknown)).toThrow(/registry/);
  const other = await transferToken(payer.address, seller.address, 1_000n, usdcMint, programs.token2022);
  const swapped = { ...other, programAddress: address(programs.token) };
  expect(() => solanaCodec.describe(made(Buffer.from(Uint8Array.from([]))))).toThrow();
  const mixed = made(await withInstructions(limit(), price(), swapped));
  expect(() => solanaCodec.describe(mixed)).toThrow(/token account/);
});

test('bytes are built from what the payer has signed alone', async () => {
  const transaction = await wire();
  const unsigned = made(transaction);
  const { settlement, outputs } = solanaCodec.describe(unsigned);
  const { identity: nonce, authorised, method, payer: of } = settlement!;
  const action: SettlementAction = {
    ...{ type: 'settlement', method, payer: of, nonce, authorised: `${authorised}`, validAfter: '0' },
    ...{ validBefore: `${lastSecond}`, signature: `0x${transaction.toString('hex')}` },
  };
  const prepared = solanaCodec.recover(unsigned, 10_001n);
  const build = (changes: Partial<SettlementAction> = {}, output = {}, kind: AttemptKind = 'first', from = settler.address) =>
    solanaCodec.build({
      intent: { from, outputs: outputs.map((it) => ({ ...it, ...output })), action: { ...action, ...changes } },
      ...{ chain: solanaChain, kind, prepared, resources: [] },
    });
  expect(build()).toBe(unsigned);
  expect(prepared).toEqual({ feeBound: '10001', expiry: { blockhash }, details: null });
  const changes = { method: 'eip3009', payer: stranger.address, nonce: 'aa', authorised: '999', signature: '0x00' as Hex };
  for (const [field, value] of Object.entries(changes)) expect(() => build({ [field]: value })).toThrow();
  for (const output of [
    { amount: 999n },
    { recipient: stranger.address },
    { tokenContract: stranger.address },
    { tokenContract: null },
  ])
    expect(() => build({}, output)).toThrow();
  for (const kind of ['reissue', 'replacement', 'cancellation'] as const) expect(() => build({}, {}, kind)).toThrow();
  expect(() => build({}, {}, 'first', stranger.address)).toThrow();
});
