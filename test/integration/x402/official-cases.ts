import {
  type Address,
  concat,
  type Hex,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
  toHex,
} from 'viem';
import { exactProxyAddress, permit2Address } from '../../../src/chains/evm/payments/contracts';
import type { JsonObject, JsonValue } from '../../../src/chains/types';
import { change, type Changes, eip3009V1, gone, permitInfo, usdc, usdt } from '../../unit/x402/bodies';
import { approvalInfo, type SignedApproval } from '../../sponsoring';
import { type UncreatedWallet, walletFactory, wrapSignature } from '../../wallet-factory';
import { draft, type Kind, sign, type SignedFor } from '../../x402';
import { account, type WalletMode } from '../dev/payers';

/** Payments in all ways in which they may be good or bad. */

export interface Scene {
  now: number;
  facilitator: Address;
  payer: ReturnType<typeof account>;
  /** A contract wallet that `payer` owns, and one for each mode. */
  wallet: Address;
  walletIn: Record<WalletMode, Address>;
  /** Wallets of `payer` that a factory creates: one that does not exist yet, and two that do. */
  uncreated: UncreatedWallet;
  created: UncreatedWallet;
  createdOnce: UncreatedWallet;
  /** An account that delegates to a contract which asks its key. */
  delegating: ReturnType<typeof account>;
  /** Has nothing; has tokens and no allowance for Permit2. */
  poor: ReturnType<typeof account>;
  newcomer: ReturnType<typeof account>;
  /** That the chain has executed. */
  used: Record<Kind, JsonObject>;
}

export interface Case {
  name: string;
  body: (scene: Scene) => Promise<JsonObject> | JsonObject;
}

const kinds: Kind[] = ['eip3009 V1', 'eip3009', 'permit2', 'upto'];
const isAuthorization = (kind: Kind) => kind === 'eip3009 V1' || kind === 'eip3009';
const stranger = account('stranger');
const nobody = account('nobody').address;
const max = (2n ** 256n - 1n).toString();

/** Names of what all kinds have, in each of them. */
const fieldsOf = (kind: Kind) =>
  isAuthorization(kind)
    ? {
        ...{ from: 'authorization.from', to: 'authorization.to', value: 'authorization.value', nonce: 'authorization.nonce' },
        ...{ after: 'authorization.validAfter', before: 'authorization.validBefore' },
      }
    : {
        ...{ from: 'permit.from', to: 'witness.to', value: 'permitted.amount', nonce: 'permit.nonce' },
        ...{ after: 'witness.validAfter', before: 'permit.deadline' },
      };
const terms = (kind: Kind) => (kind === 'eip3009 V1' ? 'required' : 'terms');
const amountOf = (kind: Kind) => (kind === 'eip3009 V1' ? 'required.maxAmountRequired' : 'terms.amount');

const either = (kind: Kind, v1: Changes, v2: Changes): Changes => (kind === 'eip3009 V1' ? v1 : v2);

interface Made {
  by?: (scene: Scene) => ReturnType<typeof account>;
  from?: (scene: Scene) => Address;
  as?: SignedFor;
  /** Before and after it is signed. */
  first?: Changes | ((scene: Scene) => Changes);
  then?: Changes | ((scene: Scene, signature: Hex) => Changes);
}

async function make(kind: Kind, scene: Scene, { by, from, as, first = {}, then = {} }: Made): Promise<JsonObject> {
  const payer = by ? by(scene) : scene.payer;
  const changes = typeof first === 'function' ? first(scene) : first;
  const own = from && { from: from(scene) };
  const body = await sign(draft({ kind, payer, ...own, facilitator: scene.facilitator, changes }), payer, as);
  const { signature } = (body.paymentPayload as { payload: { signature: Hex } }).payload;
  return change(body, typeof then === 'function' ? then(scene, signature) : then);
}
const one = (kind: Kind, name: string, made: Made): Case => ({
  name: `${kind}: ${name}`,
  body: (scene) => make(kind, scene, made),
});
const all = (name: string, made: (kind: Kind) => Made, of = kinds): Case[] => of.map((kind) => one(kind, name, made(kind)));
const signatures = (name: string, of: (signature: Hex, scene: Scene) => JsonValue): Case[] =>
  all(name, () => ({ then: (scene, signature) => ({ 'payload.signature': of(signature, scene) }) }));

const upper = (address: string) => `0x${address.slice(2).toUpperCase()}`;
const good: Case[] = [
  ...all('good', () => ({})),
  ...all('of a contract wallet', () => ({ from: ({ wallet }) => wallet })),
  ...all('of an account that delegates', () => ({ by: ({ delegating }) => delegating })),
  ...all('payer in lower case', (kind) => ({ then: ({ payer }) => ({ [fieldsOf(kind).from]: payer.address.toLowerCase() }) })),
  ...all('payer in upper case', (kind) => ({ then: ({ payer }) => ({ [fieldsOf(kind).from]: upper(payer.address) }) })),
  ...all('asset in upper case', (kind) => ({ then: { [`${terms(kind)}.asset`]: upper(usdc) } })),
  ...all('unknown fields', () => ({
    then: { 'payload.more': { a: 1 }, 'required.more': [null], 'paymentPayload.more': 'x', more: 1, 'required.extra.hint': 'h' },
  })),
  ...all('value in hex', (kind) => ({ then: { [fieldsOf(kind).value]: '0x3e8' } })),
  ...all('value with zeros in front', (kind) => ({ then: { [fieldsOf(kind).value]: '0001000' } })),
  ...all('for ever', (kind) => ({ first: { [fieldsOf(kind).before]: max } })),
  ...all('since ever', (kind) => ({ first: { [fieldsOf(kind).after]: '0' } })),
];

const times: Case[] = ([-1, 0, 5, 6, 7] as const)
  .flatMap((seconds) =>
    all(`until ${seconds} s from now`, (kind) => ({ first: ({ now }) => ({ [fieldsOf(kind).before]: String(now + seconds) }) })),
  )
  .concat(
    ([-1, 0, 1] as const).flatMap((seconds) =>
      all(`from ${seconds} s from now`, (kind) => ({ first: ({ now }) => ({ [fieldsOf(kind).after]: String(now + seconds) }) })),
    ),
  );

const signers: Case[] = [
  ...all('signed by somebody else', () => ({ by: () => stranger, from: ({ payer }) => payer.address })),
  ...all('of a wallet, signed by somebody else', () => ({ by: () => stranger, from: ({ wallet }) => wallet })),
  ...all('signed for another chain', () => ({ as: { chainId: 1 } })),
  ...all('signed for another contract', () => ({ as: { verifyingContract: usdt as Address } })),
  ...all('signed for another name', () => ({ as: { name: 'USDC' } }), ['eip3009 V1', 'eip3009']),
  ...all('signed for another version', () => ({ as: { version: '1' } }), ['eip3009 V1', 'eip3009']),
  ...all('another name, as asked for', (kind) => ({ as: { name: 'USDC' }, first: { [`${terms(kind)}.extra.name`]: 'USDC' } }), [
    'eip3009 V1',
    'eip3009',
  ]),
  ...all(
    'another version, as asked for',
    (kind) => ({ as: { version: '1' }, first: { [`${terms(kind)}.extra.version`]: '1' } }),
    ['eip3009 V1', 'eip3009'],
  ),
  ...all('no name', (kind) => ({ then: { [`${terms(kind)}.extra.name`]: gone } }), ['eip3009 V1', 'eip3009']),
  ...all('no domain', (kind) => ({ then: { [`${terms(kind)}.extra`]: {} } }), ['eip3009 V1', 'eip3009']),
];

const changedAfterwards: Case[] = (['from', 'to', 'value', 'nonce', 'after', 'before'] as const).flatMap((field) =>
  all(`${field} changed after it was signed`, (kind) => ({
    then: ({ now }) => ({
      [fieldsOf(kind)[field]]: {
        ...{ from: nobody, to: nobody, value: '999', nonce: toHex(5, { size: 32 }) },
        ...{ after: String(now - 5), before: String(now + 99) },
      }[field],
    }),
  })),
);

const forms: Case[] = [
  ...signatures('compact signature', (signature) =>
    serializeCompactSignature(signatureToCompactSignature(parseSignature(signature))),
  ),
  ...signatures('the other s', malleate),
  ...signatures('v of 0 or 1', (signature) =>
    concat([signature.slice(0, 132 - 2) as Hex, toHex(Number(`0x${signature.slice(130)}`) - 27, { size: 1 })]),
  ),
  ...signatures('v of 29', (signature) => `${signature.slice(0, 130)}1d`),
  ...signatures('a byte too many', (signature) => `${signature}00`),
  ...signatures('a byte too few', (signature) => signature.slice(0, 130)),
  ...signatures('in upper case', (signature) => `0x${signature.slice(2).toUpperCase()}`),
  ...signatures('without 0x', (signature) => signature.slice(2)),
  ...signatures('empty signature', () => '0x'),
  ...signatures('zeros as signature', () => `0x${'00'.repeat(65)}`),
  ...signatures('text as signature', () => 'signed'),
  ...signatures('wrapped, with a factory', (signature) => wrap(nobody, signature)),
  ...signatures('wrapped, without a factory', (signature) => wrap(`0x${'00'.repeat(20)}`, signature)),
  ...signatures('a broken wrapper', () => `0x1234${'6492'.repeat(16)}`),
  ...all('wrapped, of a wallet that exists', () => ({
    from: ({ wallet }) => wallet,
    then: (_, signature) => ({ 'payload.signature': wrap(nobody, signature) }),
  })),
];

/** The second signature of the same key over the same digest. */
function malleate(signature: Hex): Hex {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const [r, s, v] = [signature.slice(2, 66), BigInt(`0x${signature.slice(66, 130)}`), Number(`0x${signature.slice(130)}`)];
  return concat([`0x${r}`, toHex(order - s, { size: 32 }), toHex(v === 27 ? 28 : 27, { size: 1 })]);
}

const wrap = (factory: Address, signature: Hex): Hex => wrapSignature(factory, '0x1234', signature);

/** A factory that is not allowed. */
export const otherFactory: Address = '0x7b5e1d09A4c286F3D0B7e9241c85f36Aa0d4E728'.toLowerCase() as Address;

/** Signed by the key of the wallet's owner unless `made` says otherwise, and wrapped for the factory. */
const wrapped = (
  name: string,
  wallet: (scene: Scene) => UncreatedWallet,
  { factory = walletFactory, data, ...made }: Made & { factory?: Address; data?: Hex } = {},
  of = kinds,
): Case[] =>
  all(
    name,
    () => ({
      from: (scene) => wallet(scene).address,
      ...made,
      then: (scene, signature) => ({ 'payload.signature': wrapSignature(factory, data ?? wallet(scene).data, signature) }),
    }),
    of,
  );
const uncreated = (scene: Scene) => scene.uncreated;
const onlyAuthorizations: Kind[] = ['eip3009 V1', 'eip3009'];

const factories: Case[] = [
  ...wrapped('of a wallet to be created', uncreated),
  ...wrapped('of a wallet to be created by another factory', uncreated, { factory: otherFactory }),
  ...wrapped('of a wallet to be created, signed by somebody else', uncreated, { by: () => stranger }, onlyAuthorizations),
  ...wrapped('of a wallet to be created, signed for another chain', uncreated, { as: { chainId: 1 } }, onlyAuthorizations),
  ...onlyAuthorizations.flatMap((kind) => {
    const dear = { [fieldsOf(kind).value]: '1000001', [amountOf(kind)]: '1000001' };
    return wrapped('of a wallet to be created, more than it has', uncreated, { first: dear }, [kind]);
  }),
  ...wrapped('of a wallet to be created, by a call that reverts', uncreated, { data: '0x12345678' }, onlyAuthorizations),
  ...wrapped('of a wallet to be created, by no call', uncreated, { data: '0x' }, onlyAuthorizations),
  ...all(
    'of a wallet to be created, by a call that creates another one',
    () => ({
      from: (scene) => scene.uncreated.address,
      then: (scene, signature) => ({
        'payload.signature': wrapSignature(walletFactory, scene.created.data, signature),
      }),
    }),
    onlyAuthorizations,
  ),
  ...all(
    'of a wallet to be created, wrapped twice',
    () => ({
      from: (scene) => scene.uncreated.address,
      then: ({ uncreated: { data } }, signature) => ({
        'payload.signature': wrapSignature(walletFactory, data, wrapSignature(walletFactory, data, signature)),
      }),
    }),
    onlyAuthorizations,
  ),
  ...all('of a wallet to be created, not wrapped', () => ({ from: (scene) => scene.uncreated.address }), onlyAuthorizations),
  ...wrapped('of a wallet that was created', ({ created }) => created, {}, onlyAuthorizations),
  ...wrapped('of a wallet that was created once', ({ createdOnce }) => createdOnce, {}, onlyAuthorizations),
  ...wrapped(
    'of a wallet that was created, by another factory',
    ({ created }) => created,
    { factory: otherFactory },
    onlyAuthorizations,
  ),
  ...wrapped(
    'of a wallet that was created, signed by somebody else',
    ({ created }) => created,
    { by: () => stranger },
    onlyAuthorizations,
  ),
  ...wrapped('of a key, wrapped for the factory', ({ payer, uncreated: { data } }) => ({ address: payer.address, data })),
];

const wallets: Case[] = (['Refuse', 'OtherAnswer', 'Revert', 'ShortAnswer', 'InvalidOpcode'] as const).flatMap((mode) =>
  all(`of a wallet in mode ${mode}`, () => ({ from: ({ walletIn }) => walletIn[mode] })),
);

const amounts: Case[] = [
  ...(['999', '1001', '0', max] as const).flatMap((value) => [
    ...all(`signed ${value.slice(0, 5)}, asked for 1000`, (kind) => ({ first: { [fieldsOf(kind).value]: value } })),
    ...all(`signed and asked for ${value.slice(0, 5)}`, (kind) => ({
      first: { [fieldsOf(kind).value]: value, [amountOf(kind)]: value },
    })),
  ]),
  ...(['-1', '1.5', '1e3', '', 'ten', (2n ** 256n).toString(), '9'.repeat(300)] as const).flatMap((value) =>
    all(`value of ${JSON.stringify(value.slice(0, 9))}`, (kind) => ({ then: { [fieldsOf(kind).value]: value } })),
  ),
  ...all('of somebody without tokens', () => ({ by: ({ poor }) => poor })),
  ...all('of somebody without an allowance', () => ({ by: ({ newcomer }) => newcomer })),
  ...kinds.map((kind): Case => ({ name: `${kind}: executed before`, body: ({ used }) => used[kind] })),
];

const places: Case[] = [
  ...all('another recipient asked for', (kind) => ({ then: { [`${terms(kind)}.payTo`]: nobody } })),
  ...all('to itself', (kind) => ({
    first: ({ payer }) => ({ [fieldsOf(kind).to]: payer.address, [`${terms(kind)}.payTo`]: payer.address }),
  })),
  ...all('to nobody', (kind) => ({
    first: { [fieldsOf(kind).to]: `0x${'00'.repeat(20)}`, [`${terms(kind)}.payTo`]: `0x${'00'.repeat(20)}` },
  })),
  ...all('recipient is no address', (kind) => ({ then: { [`${terms(kind)}.payTo`]: 'somebody' } })),
  ...all('another token asked for', (kind) => ({ then: { [`${terms(kind)}.asset`]: usdt } })),
  ...all('a token that is no contract', (kind) => ({
    first: { [`${terms(kind)}.asset`]: nobody, ...(!isAuthorization(kind) && { 'permitted.token': nobody }) },
  })),
  ...all('a token that is no address', (kind) => ({ then: { [`${terms(kind)}.asset`]: 'USDC' } })),
  ...all(
    'a token without EIP-3009',
    () => ({
      as: { verifyingContract: usdt as Address },
      first: { 'terms.asset': usdt },
    }),
    ['eip3009'],
  ),
  ...all('a token without EIP-3009', () => ({ first: { 'terms.asset': usdt, 'permitted.token': usdt } }), ['permit2', 'upto']),
  ...all('payer on another network', (kind) => ({
    then: either(kind, { 'paymentPayload.network': 'ethereum' }, { 'accepted.network': 'eip155:1' }),
  })),
  ...all('payer in another scheme', (kind) => ({
    then: { [kind === 'eip3009 V1' ? 'paymentPayload.scheme' : 'accepted.scheme']: kind === 'upto' ? 'exact' : 'upto' },
  })),
  ...all('accepted another amount', () => ({ then: { 'accepted.amount': '999' } }), ['eip3009', 'permit2', 'upto']),
  ...all('accepted another recipient', () => ({ then: { 'accepted.payTo': nobody } }), ['eip3009', 'permit2', 'upto']),
  ...all('accepted another token', () => ({ then: { 'accepted.asset': usdt } }), ['eip3009', 'permit2', 'upto']),
  ...all('no requirements', () => ({ then: { paymentRequirements: gone } })),
  ...all('a network that is not there', (kind) => ({
    then: either(kind, { 'paymentPayload.network': 'mars', 'required.network': 'mars' }, { 'terms.network': 'eip155:999' }),
  })),
  ...all('a scheme that is not there', (kind) => ({
    then: either(kind, { 'paymentPayload.scheme': 'later', 'required.scheme': 'later' }, { 'terms.scheme': 'later' }),
  })),
];

const permits: Case[] = [
  ...all('another spender', () => ({ first: { 'permit.spender': nobody } }), ['permit2', 'upto']),
  one('upto', 'the spender of exact', { first: { 'permit.spender': exactProxyAddress } }),
  one('upto', 'another facilitator', { first: { 'witness.facilitator': nobody } }),
  one('upto', 'facilitator in lower case', {
    first: ({ facilitator }) => ({ 'witness.facilitator': facilitator.toLowerCase() }),
  }),
  one('upto', 'no facilitator', { first: { 'witness.facilitator': gone } }),
  one('upto', 'a part to be paid', { then: { 'terms.extra.settlementAmount': '400' } }),
  one('upto', 'more than all to be paid', { then: { 'terms.extra.settlementAmount': '1001' } }),
  one('upto', 'the payer alone says what is to be paid', { then: { 'accepted.extra.settlementAmount': '1' } }),
  one('permit2', 'a facilitator in an exact witness', { then: { 'witness.facilitator': nobody } }),
  ...all('nonce in hex', () => ({ first: { 'permit.nonce': '0xabcdef' } }), ['permit2', 'upto']),
  ...all('token permitted is another', () => ({ first: { 'permitted.token': usdt } }), ['permit2', 'upto']),
];

const missing: Case[] = (['from', 'to', 'value', 'nonce', 'after', 'before'] as const).flatMap((field) =>
  all(`no ${field}`, (kind) => ({ then: { [fieldsOf(kind)[field]]: gone } })),
);

const clothes: Case[] = [
  one('eip3009', 'as version 1', { then: { x402Version: 1, 'paymentPayload.x402Version': 1 } }),
  one('eip3009 V1', 'as version 2', { then: { x402Version: 2, 'paymentPayload.x402Version': 2 } }),
  one('permit2', 'as version 1', {
    then: { ...versionOneClothes(), x402Version: 1, 'paymentPayload.x402Version': 1 },
  }),
  one('eip3009 V1', 'requirements of version 2', {
    then: { 'required.maxAmountRequired': gone, 'required.amount': '1000' },
  }),
  one('eip3009', 'requirements of version 1', { then: { 'required.amount': gone, 'required.maxAmountRequired': '1000' } }),
  one('eip3009 V1', 'CAIP-2', { then: { 'paymentPayload.network': 'eip155:8453', 'required.network': 'eip155:8453' } }),
  one('eip3009', 'name of version 1', { then: { 'terms.network': 'base' } }),
  one('eip3009', 'version 3', { then: { x402Version: 3, 'paymentPayload.x402Version': 3 } }),
  one('permit2', 'in the scheme upto', { then: { 'terms.scheme': 'upto' } }),
  one('upto', 'in the scheme exact', { then: { 'terms.scheme': 'exact' } }),
  one('eip3009', 'in the scheme upto', { then: { 'terms.scheme': 'upto' } }),
];

function versionOneClothes(): Changes {
  const { scheme, network } = eip3009V1().paymentPayload as JsonObject;
  return {
    'paymentPayload.scheme': scheme as string,
    'paymentPayload.network': network as string,
    paymentRequirements: eip3009V1().paymentRequirements as JsonValue,
  };
}

/** With a permit that gives Permit2 its allowance; the payer of the case has none without it. */
const sponsored = (kind: Kind, name: string, info: Changes = {}, value = 1000n): Case => ({
  name: `${kind}: with a permit, ${name}`,
  body: async (scene) => {
    const { newcomer, now } = scene;
    const deadline = BigInt(now + 600);
    const signature = await newcomer.signTypedData({
      domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: usdc as Address },
      types: {
        Permit: ['owner', 'spender', 'value', 'nonce', 'deadline'].map((field, index) => ({
          name: field,
          type: index < 2 ? 'address' : 'uint256',
        })),
      },
      primaryType: 'Permit',
      message: { owner: newcomer.address, spender: permit2Address, value, nonce: 0n, deadline },
    });
    const signedInfo = { ...permitInfo(), from: newcomer.address, amount: String(value), deadline: String(deadline), signature };
    const { given } = change(
      { given: signedInfo },
      Object.fromEntries(Object.entries(info).map(([field, to]) => [`given.${field}`, to])),
    );
    const extensions = { eip2612GasSponsoring: { info: given as JsonValue } };
    return make(kind, scene, { by: () => newcomer, first: { 'paymentPayload.extensions': extensions } });
  },
});
const sponsoring: Case[] = (['permit2', 'upto'] as const).flatMap((kind) => [
  sponsored(kind, 'good'),
  sponsored(kind, 'of another payer', { from: nobody }),
  sponsored(kind, 'of another token', { asset: usdt }),
  sponsored(kind, 'for another spender', { spender: nobody }),
  sponsored(kind, 'that has expired', { deadline: '5' }),
  sponsored(kind, 'without a version', { version: gone }),
  sponsored(kind, 'of a strange version', { version: 'one' }),
  sponsored(kind, 'with a broken signature', { signature: '0x12' }),
  sponsored(kind, 'of somebody else', { signature: `0x${'1b'.repeat(65)}` }),
  sponsored(kind, 'over less', {}, 999n),
]);

/** With a signed transaction that gives Permit2 its allowance; the payer of the case has none without it. */
const approved = (
  kind: Kind,
  name: string,
  {
    by,
    changes = {},
    ...transaction
  }: Partial<SignedApproval> & { by?: (scene: Scene) => Scene['newcomer']; changes?: Changes } = {},
): Case => ({
  name: `${kind}: with an approval, ${name}`,
  body: async (scene) => {
    const payer = by?.(scene) ?? scene.newcomer;
    const info = { ...(await approvalInfo({ payer, token: usdc as Address, ...transaction })), from: scene.newcomer.address };
    const extensions = { erc20ApprovalGasSponsoring: { info: change(info, changes) as JsonValue } };
    return make(kind, scene, { by: () => scene.newcomer, first: { 'paymentPayload.extensions': extensions } });
  },
});
const approving: Case[] = (['permit2', 'upto'] as const).flatMap((kind) => [
  approved(kind, 'good'),
  approved(kind, 'of another payer', { changes: { from: nobody } }),
  approved(kind, 'signed by somebody else', { by: () => stranger }),
  approved(kind, 'of another token', { changes: { asset: usdt } }),
  approved(kind, 'whose transaction is for another token', { token: usdt as Address }),
  approved(kind, 'for another spender', { changes: { spender: nobody } }),
  approved(kind, 'whose transaction is for another chain', { chainId: 1 }),
  approved(kind, 'of a nonce that is not the next', { nonce: 7 }),
  approved(kind, 'with more gas than an approval takes', { gas: 5_000_000n }),
  approved(kind, 'of a strange version', { changes: { version: 'one' } }),
  approved(kind, 'without a transaction', { changes: { signedTransaction: gone } }),
  approved(kind, 'with a broken transaction', { changes: { signedTransaction: '0x12' } }),
]);

export const cases: Case[] = [
  ...[
    good,
    times,
    signers,
    changedAfterwards,
    forms,
    wallets,
    factories,
    amounts,
    places,
    permits,
    missing,
    clothes,
    sponsoring,
    approving,
  ].flat(),
];
