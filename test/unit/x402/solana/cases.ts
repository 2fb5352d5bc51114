import { AccountRole, address, type Instruction } from '@solana/kit';
import { associatedTokenAddress } from '../../../../dev/solana/addresses';
import { defaultTokens, programs } from '../../../../dev/solana/parameters';
import type { JsonObject } from '../../../../src/chains/types';
import { createAssociated, sol, transferSol, transferToken, usdc } from '../../../solana-chain';
import { bodyOf, budget, check, limit, memo, type Offer, offer, pay, price, type Scene, terms, withOneSigner } from './scene';

/** Payments in all ways in which they may be good or bad, each in both versions of the protocol. */

interface Made extends Partial<Offer> {
  /** Beside those of a good payment: of the requirements, and of what the payer states. */
  required?: JsonObject;
  accepted?: JsonObject;
  /** Instead of the signed transaction. */
  payload?: JsonObject;
  /** `extra` of the requirements. */
  extra?: JsonObject;
  /** Atomic units, whatever the version calls them. */
  asked?: string;
}

export interface Case {
  name: string;
  body: (scene: Scene) => Promise<JsonObject>;
}

type Make = (scene: Scene, version: 1 | 2) => Promise<Made> | Made;

async function make(scene: Scene, version: 1 | 2, create: Make): Promise<JsonObject> {
  const { required = {}, accepted, payload, extra, asked, ...offered } = await create(scene, version);
  const asking: JsonObject = asked === undefined ? {} : { [version === 1 ? 'maxAmountRequired' : 'amount']: asked };
  const all: JsonObject = { ...terms(scene, version), ...asking, ...required, ...(extra && { extra }) };
  const good: Offer = { instructions: await standard(scene, version) };
  return bodyOf(version, payload ?? { transaction: offer(scene, { ...good, ...offered }) }, all, accepted);
}

/** As official clients make them: those of version 1 send no memo. */
const standard = async (scene: Scene, version: 1 | 2): Promise<Instruction[]> => [
  ...[limit(), price(), await pay(scene)],
  ...(version === 2 ? [memo()] : []),
];
const paying = async (scene: Scene, ...more: Instruction[]) => ({ instructions: [limit(), price(), await pay(scene), ...more] });
const instead = (transfer: Instruction) => ({ instructions: [limit(), price(), transfer] });
const one = (version: 1 | 2, name: string, create: Make): Case => ({
  name: `V${version}: ${name}`,
  body: (scene) => make(scene, version, create),
});
const both = (name: string, create: Make): Case[] => [one(1, name, create), one(2, name, create)];

const good: Case[] = [
  ...both('good', () => ({})),
  ...both('legacy message', () => ({ version: 'legacy' })),
  ...both('without a memo', (scene) => paying(scene)),
  ...both('with two memos', (scene) => paying(scene, memo('a'), memo('b'))),
  ...both('with a check of the wallet', (scene) => paying(scene, check())),
  ...both('with two checks and a memo', (scene) => paying(scene, check(), check(), memo())),
  ...both('with three checks and a memo', (scene) => paying(scene, check(), check(), check(), memo())),
  ...both('with five more instructions', (scene) => paying(scene, memo('1'), memo('2'), memo('3'), memo('4'), memo('5'))),
  ...both('the dearest that is taken', async (scene) => ({ instructions: [limit(400_000), price(50_000n), await pay(scene)] })),
  ...both('by somebody who is allowed to', async (scene) => ({
    ...instead(await by(scene, scene.delegate.address)),
    by: [scene.delegate],
  })),
  ...both('something in the settler’s place', () => ({ changeWire: (wire) => Buffer.from(wire).fill(7, 1, 65) })),
  ...both('signed by the settler of its own will', ({ settler, payer }) => ({ by: [settler, payer] })),
  ...both('unknown fields', (scene) => ({ extra: { feePayer: scene.settler.address, hint: 'h' }, required: { more: [1] } })),
];

/** Of the payer's tokens, under another authority. */
async function by(scene: Scene, authority: string): Promise<Instruction> {
  const { accounts = [], ...transfer } = await pay(scene);
  return {
    ...transfer,
    accounts: [...accounts.slice(0, 3), { address: address(authority), role: AccountRole.READONLY_SIGNER }],
  };
}

const payers: Case[] = [
  ...both('no fee payer asked for', () => ({ extra: {} })),
  ...both('fee payer is no text', () => ({ extra: { feePayer: 1 } })),
  ...both('fee payer is no address', () => ({ extra: { feePayer: 'settler' } })),
  ...both('fee payer asked for is no settler', ({ stranger }) => ({ extra: { feePayer: stranger.address } })),
  ...both('another fee payer', ({ stranger }) => ({ feePayer: stranger.address })),
  ...both('the payer is the fee payer', ({ payer }) => ({ feePayer: payer.address })),
  ...both('of the settler’s tokens', async (scene) => instead(await transferToken(scene.settler.address, scene.seller, 1_000n))),
  ...both('the settler in a memo', (scene) => paying(scene, memo('m', scene.settler.address))),
  ...both('the settler in a check', (scene) =>
    paying(scene, { ...check(), accounts: [{ address: scene.settler.address, role: AccountRole.READONLY }] }),
  ),
  ...both('the settler behind the authority', async (scene) => {
    const { accounts = [], ...transfer } = await pay(scene);
    return instead({ ...transfer, accounts: [...accounts, { address: scene.settler.address, role: AccountRole.READONLY }] });
  }),
];

const signatures: Case[] = [
  ...both('not signed', () => ({ by: [] })),
  ...both('signed by somebody else', ({ payer, stranger }) => ({ by: [{ ...stranger, address: payer.address }] })),
  ...both('signature changed', () => ({ changeWire: (wire) => flip(wire, 70) })),
  ...both('message changed after it was signed', () => ({ changeWire: (wire) => flip(wire, wire.length - 3) })),
  ...both('a third signer', (scene) => signedByThree(scene, [scene.payer, scene.stranger])),
  ...both('a third signer who has not signed', (scene) => signedByThree(scene, [scene.payer])),
  ...both('the payer is no signer', async (scene) => {
    const { accounts = [], ...transfer } = await pay(scene);
    const [source, mint, to] = accounts;
    const owner = { address: scene.payer.address, role: AccountRole.READONLY };
    return instead({ ...transfer, accounts: [source, mint, to, owner] as NonNullable<Instruction['accounts']> });
  }),
  ...both('the settler is the only signer', () => ({ changeWire: withOneSigner })),
];

const flip = (bytes: Buffer, at: number): Buffer => {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] as number) ^ 1;
  return changed;
};
const signedByThree = async (scene: Scene, signers: Scene['payer'][]): Promise<Made> => {
  const third = { address: scene.stranger.address, role: AccountRole.READONLY_SIGNER };
  return { ...(await paying(scene, { ...memo(), accounts: [third] })), by: signers };
};

const bytes: Case[] = [
  ...both('no transaction', () => ({ payload: { transaction: '' } })),
  ...both('no Base64', () => ({ payload: { transaction: '***' } })),
  ...both('a few bytes', () => ({ payload: { transaction: 'AQAB' } })),
  ...both('a byte behind', () => ({ changeWire: (wire) => Buffer.concat([wire, Buffer.from([0])]) })),
  ...both('a byte too few', () => ({ changeWire: (wire) => wire.subarray(0, -1) })),
  ...both('a signature too many', () => ({
    changeWire: (wire) => Buffer.concat([Buffer.from([3]), wire.subarray(1, 129), Buffer.alloc(64), wire.subarray(129)]),
  })),
  ...both('version 1 of messages', () => ({
    changeMessage: (message) => Buffer.concat([Buffer.from([0x81]), message.subarray(1)]),
  })),
  ...both('a lookup table', () => ({
    changeMessage: (message) =>
      Buffer.concat([message.subarray(0, -1), Buffer.from([1]), Buffer.alloc(32, 9), Buffer.from([1, 0, 0])]),
  })),
  ...both('an account that is not there', () => ({
    changeMessage: (message) => {
      const changed = Buffer.from(message);
      // the last account of the transfer stands before its ten bytes of data
      changed[changed.indexOf(Buffer.from([10, 12])) - 1] = 99;
      return changed;
    },
  })),
  ...both('a byte behind, signed', () => ({ changeMessage: (message) => Buffer.concat([message, Buffer.from([0])]) })),
  ...both('an old block', ({ oldBlockhash }) => ({ blockhash: oldBlockhash })),
  ...both('an unknown block', ({ stranger }) => ({ blockhash: stranger.address })),
];

const layouts: Case[] = [
  ...both('no instructions', () => ({ instructions: [] })),
  ...both('a transfer alone', async (scene) => ({ instructions: [await pay(scene)] })),
  ...both('price before limit', async (scene) => ({ instructions: [price(), limit(), await pay(scene)] })),
  ...both('two limits', async (scene) => ({ instructions: [limit(), limit(), await pay(scene)] })),
  ...both('two prices', async (scene) => ({ instructions: [price(), price(), await pay(scene)] })),
  ...both('a limit without its number', async (scene) => ({ instructions: [budget(2), price(), await pay(scene)] })),
  ...both('a price without its number', async (scene) => ({ instructions: [limit(), budget(3, 1, 0), await pay(scene)] })),
  ...both('a limit with more behind', async (scene) => ({
    instructions: [budget(2, Buffer.from([0x20, 0x4e, 0, 0, 9])), price(), await pay(scene)],
  })),
  ...both('a unit too many', async (scene) => ({ instructions: [limit(400_001), price(), await pay(scene)] })),
  ...both('a price too high', async (scene) => ({ instructions: [limit(), price(50_001n), await pay(scene)] })),
  ...both('a price far too high', async (scene) => ({ instructions: [limit(), price(5_000_001n), await pay(scene)] })),
  ...both('too few units', async (scene) => ({ instructions: [limit(100), price(), await pay(scene)] })),
  ...both('SOL instead of a token', ({ payer, seller }) => instead(transferSol(payer.address, seller, sol(0.1)))),
  ...both('Transfer instead of TransferChecked', async (scene) => {
    const { data = new Uint8Array(), ...transfer } = await pay(scene);
    return instead({ ...transfer, data: new Uint8Array([3, ...data.slice(1, 9)]) });
  }),
  ...both('ApproveChecked instead of TransferChecked', async (scene) => {
    const { data = new Uint8Array(), ...transfer } = await pay(scene);
    return instead({ ...transfer, data: new Uint8Array([13, ...data.slice(1)]) });
  }),
  ...both('a transfer that ends too early', async (scene) => {
    const { data = new Uint8Array(), ...transfer } = await pay(scene);
    return instead({ ...transfer, data: data.slice(0, 9) });
  }),
  ...both('a transfer without its authority', async (scene) => {
    const { accounts = [], ...transfer } = await pay(scene);
    return instead({ ...transfer, accounts: accounts.slice(0, 3) });
  }),
  ...both('a memo before the transfer', async (scene) => ({ instructions: [limit(), price(), memo(), await pay(scene)] })),
  ...both('an account is created', async (scene) => ({
    instructions: [limit(40_000), price(), await createAssociated(scene.payer.address, scene.newcomer), await pay(scene)],
  })),
  ...both('something else is fourth', async (scene) => paying(scene, transferSol(scene.payer.address, scene.seller, 1n))),
  ...both('something else is fifth', async (scene) => paying(scene, memo(), await pay(scene))),
  ...both('something else is sixth', async (scene) => paying(scene, memo(), memo('2'), await pay(scene))),
  ...both('something else is seventh', async (scene) => paying(scene, memo(), memo('2'), memo('3'), await pay(scene))),
];

const places: Case[] = [
  ...both('another recipient asked for', ({ stranger }) => ({ required: { payTo: stranger.address } })),
  ...both('to somebody without a token account', async (scene) => ({
    ...instead(await transferToken(scene.payer.address, scene.newcomer, 1_000n)),
    required: { payTo: scene.newcomer },
  })),
  ...both('to the payer himself', async (scene) => ({
    ...instead(await transferToken(scene.payer.address, scene.payer.address, 1_000n)),
    required: { payTo: scene.payer.address },
  })),
  ...both('to whom it is taken by', async (scene) => {
    const { accounts = [], ...transfer } = await by(scene, scene.delegate.address);
    const [source, mint, , authority] = accounts;
    const own = await associatedTokenAddress(scene.delegate.address, usdc, programs.token);
    const to = { address: own, role: AccountRole.WRITABLE };
    return {
      ...instead({ ...transfer, accounts: [source, mint, to, authority] as NonNullable<Instruction['accounts']> }),
      required: { payTo: scene.delegate.address },
      by: [scene.delegate],
    };
  }),
  ...both('from an account to itself, by somebody who is allowed to', async (scene) => {
    const own = await associatedTokenAddress(scene.payer.address, usdc, programs.token);
    const { accounts = [], ...transfer } = await by(scene, scene.delegate.address);
    const [source, mint, , authority] = accounts;
    const to = { address: own, role: AccountRole.WRITABLE };
    return {
      ...instead({ ...transfer, accounts: [source, mint, to, authority] as NonNullable<Instruction['accounts']> }),
      required: { payTo: scene.payer.address },
      by: [scene.delegate],
    };
  }),
  ...both('to the settler', async (scene) => ({
    ...instead(await transferToken(scene.payer.address, scene.settler.address, 1_000n)),
    required: { payTo: scene.settler.address },
  })),
  ...both('recipient is no address', () => ({ required: { payTo: 'somebody' } })),
  ...both('another token asked for', () => ({ required: { asset: defaultTokens.USDT as string } })),
  ...both('a token that is not registered asked for', ({ unknownMint }) => ({ required: { asset: unknownMint } })),
  ...both('a token that is not registered', async (scene) => ({
    ...instead(await transferToken(scene.payer.address, scene.seller, 1_000n, scene.unknownMint)),
    required: { asset: scene.unknownMint },
  })),
  ...both('a token of the other program', async (scene) => ({
    ...instead(await transferToken(scene.payer.address, scene.seller, 1_000n, scene.mint2022, programs.token2022)),
    required: { asset: scene.mint2022 },
  })),
  ...both('under the wrong token program', async (scene) =>
    instead(await transferToken(scene.payer.address, scene.seller, 1_000n, usdc, programs.token2022)),
  ),
  ...both('token in other letters', () => ({ required: { asset: usdc.toLowerCase() } })),
];

const amounts: Case[] = [
  ...both('less than asked for', async (scene) => instead(await pay(scene, 999n))),
  ...both('more than asked for', async (scene) => instead(await pay(scene, 1_001n))),
  ...both('nothing', async (scene) => ({ ...instead(await pay(scene, 0n)), asked: '0' })),
  ...both('more than the payer has', async (scene) => ({ ...instead(await pay(scene, 1_000_001n)), asked: '1000001' })),
  ...both('of somebody without tokens', async (scene) => ({
    ...instead(await transferToken(scene.poor.address, scene.seller, 1_000n)),
    by: [scene.poor],
  })),
  ...both('of somebody without a token account', async (scene) => ({
    ...instead(await transferToken(scene.stranger.address, scene.seller, 1_000n)),
    by: [scene.stranger],
  })),
  ...both('more than is allowed', async (scene) => {
    const transfer = await by(scene, scene.delegate.address);
    const { data } = await pay(scene, 500_001n);
    return { ...instead({ ...transfer, ...(data && { data }) }), asked: '500001', by: [scene.delegate] };
  }),
  ...both('other decimals', async (scene) => {
    const { data = new Uint8Array(), ...transfer } = await pay(scene);
    return instead({ ...transfer, data: new Uint8Array([...data.slice(0, 9), 9]) });
  }),
];

const memos: Case[] = [
  ...both('the memo asked for', async (scene) => ({
    ...(await paying(scene, memo('order 7'))),
    extra: extraWith(scene, 'order 7'),
  })),
  ...both('another memo', async (scene) => ({ ...(await paying(scene, memo('order 8'))), extra: extraWith(scene, 'order 7') })),
  ...both('no memo, one asked for', async (scene) => ({ ...(await paying(scene)), extra: extraWith(scene, 'order 7') })),
  ...both('two memos, one asked for', async (scene) => ({
    ...(await paying(scene, memo('order 7'), memo('order 7'))),
    extra: extraWith(scene, 'order 7'),
  })),
  ...both('an empty memo asked for', (scene) => ({ extra: extraWith(scene, '') })),
  ...both('a memo in other letters', async (scene) => ({
    ...(await paying(scene, memo('Straße 7'))),
    extra: extraWith(scene, 'Straße 7'),
  })),
];
const extraWith = ({ settler }: Scene, text: string): JsonObject => ({ feePayer: settler.address, memo: text });

const agreements: Case[] = [
  ...both('payer on another network', (_, version) => ({
    accepted: { network: version === 1 ? 'solana-devnet' : 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' },
  })),
  ...both('payer in another scheme', () => ({ accepted: { scheme: 'upto' } })),
  one(2, 'accepted another amount', () => ({ accepted: { amount: '999' } })),
  one(2, 'accepted another recipient', ({ stranger }) => ({ accepted: { payTo: stranger.address } })),
  one(2, 'accepted another token', () => ({ accepted: { asset: defaultTokens.USDT as string } })),
  one(2, 'accepted another fee payer', ({ stranger }) => ({ accepted: { extra: { feePayer: stranger.address } } })),
  ...both('in the scheme upto', () => ({ required: { scheme: 'upto' } })),
];

export const cases: Case[] = [good, payers, signatures, bytes, layouts, places, amounts, memos, agreements].flat();
